/* Addresses as sums: a base, a constant, and values times constants. */
#ifndef UM_IR_LINEAR_H
#define UM_IR_LINEAR_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <stdbool.h>
#include <stdint.h>

#define UM_IR_TERMS_MAX 8u

struct um_ir_term {
	LLVMValueRef value;
	int64_t scale_bytes;
};

/* base + offset_bytes + sum of term.value * term.scale_bytes; each value once, no scale is 0. */
struct um_ir_linear {
	LLVMValueRef base;
	int64_t offset_bytes;
	unsigned count;
	struct um_ir_term terms[UM_IR_TERMS_MAX];
	bool exact; /* false: more terms than there is room for, and these say nothing */
};

struct um_ir_linear um_ir_linear(LLVMValueRef pointer, LLVMTargetDataRef);
/* Do both have the same terms, whatever their base and offset? False where one is not exact. */
bool um_ir_linear_same_terms(const struct um_ir_linear *, const struct um_ir_linear *);

#endif
