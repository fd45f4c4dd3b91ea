/* The loops of a function, found in the order of um_ir_order(): each lies in one piece. */
#ifndef UM_IR_LOOPS_H
#define UM_IR_LOOPS_H

#include <llvm-c/Core.h>

#include <stdbool.h>

/* An edge that goes back in that order: the blocks of its loop lie between, see um_ir_loop_end(). */
struct um_ir_back_edge {
	unsigned from, to;
};

struct um_ir_loops {
	LLVMBasicBlockRef *blocks; /* in order */
	unsigned block_count;
	struct um_ir_back_edge *edges; /* a block may go back by several */
	unsigned edge_count;
};

/* False when out of memory; um_ir_loops_free() in any case. */
bool um_ir_loops_find(struct um_ir_loops *out, LLVMValueRef function);
void um_ir_loops_free(struct um_ir_loops *);
/* The number of a block of the function. */
unsigned um_ir_loops_block(const struct um_ir_loops *, LLVMBasicBlockRef);
/* The last block of the loop that begins with block `head`; `head` - 1 where none does. */
unsigned um_ir_loop_end(const struct um_ir_loops *, unsigned head);

#endif
