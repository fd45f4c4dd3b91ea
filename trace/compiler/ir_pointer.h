/* Where a pointer in LLVM IR comes from. */
#ifndef UM_IR_POINTER_H
#define UM_IR_POINTER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <stdbool.h>
#include <stdint.h>

/* `base` plus a constant; `offset` counts only constant steps, `exact` tells whether all were. */
struct um_ir_address {
	LLVMValueRef base;
	uint64_t offset;
	bool exact;
};
/* Follows casts and getelementptr to the value that they start from. */
struct um_ir_address um_ir_address(LLVMValueRef pointer, LLVMTargetDataRef);

#endif
