#include "ir_loops.h"

#include "ir_names.h"

#include <stdlib.h>

unsigned um_ir_loops_block(const struct um_ir_loops *loops, LLVMBasicBlockRef block)
{
	unsigned b = 0;

	while (loops->blocks[b] != block)
		b++;
	return b;
}

static void add_edges(struct um_ir_loops *loops, unsigned b)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[b]);

	for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
		unsigned to = um_ir_loops_block(loops, LLVMGetSuccessor(end, s));

		if (to <= b)
			loops->edges[loops->edge_count++] = (struct um_ir_back_edge){b, to};
	}
}

bool um_ir_loops_find(struct um_ir_loops *out, LLVMValueRef function)
{
	unsigned edges = 0;

	*out = (struct um_ir_loops){.block_count = LLVMCountBasicBlocks(function)};
	UM_IR_FOR_EACH_BLOCK(b, function)
	edges += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(b));
	out->blocks = calloc(out->block_count + 1u, sizeof(LLVMBasicBlockRef));
	out->edges = calloc(edges + 1u, sizeof *out->edges);
	if (!out->blocks || !out->edges)
		return false;
	LLVMGetBasicBlocks(function, out->blocks);
	for (unsigned b = 0; b < out->block_count; b++)
		add_edges(out, b);
	return true;
}

void um_ir_loops_free(struct um_ir_loops *loops)
{
	free(loops->blocks);
	free(loops->edges);
}

/* A loop within it may end behind the block that goes back to `head`. */
unsigned um_ir_loop_end(const struct um_ir_loops *loops, unsigned head)
{
	unsigned end = head - 1u;

	for (unsigned e = 0; e < loops->edge_count; e++)
		if (loops->edges[e].to == head && loops->edges[e].from + 1u > end + 1u)
			end = loops->edges[e].from;
	if (end + 1u == head)
		return end;
	for (bool grows = true; grows;) {
		grows = false;
		for (unsigned e = 0; e < loops->edge_count; e++) {
			const struct um_ir_back_edge *edge = &loops->edges[e];

			if (edge->to < head || edge->to > end || edge->from <= end)
				continue;
			end = edge->from;
			grows = true;
		}
	}
	return end;
}
