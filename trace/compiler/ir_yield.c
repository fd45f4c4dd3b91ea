/*
 * A loop that waits for another lane, group or the host would wait for ever where lanes run one
 * after another. In every turn of a loop whose end hangs on a volatile or atomic access, the lane
 * calls um_yield().
 */
#include "ir_device.h"

#include "ir_names.h"

#include <stdlib.h>

enum { BLOCKS_MAX = 4096 };

/* Could another lane change what this reads? */
static bool may_wait(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return true;
	default:
		return false;
	}
}

static bool decides_branch(LLVMValueRef value, int depth)
{
	if (depth > 8)
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user))
			continue;
		if (LLVMIsABranchInst(user) || LLVMIsASwitchInst(user))
			return true;
		if (LLVMGetInstructionOpcode(user) != LLVMCall && !LLVMIsAPHINode(user) &&
		    !LLVMIsAStoreInst(user) && decides_branch(user, depth + 1))
			return true;
	}
	return false;
}

/* Can control come back to `block`? */
static bool in_loop(LLVMBasicBlockRef block)
{
	LLVMBasicBlockRef *seen = calloc(BLOCKS_MAX, sizeof *seen);
	size_t count = 0, done = 0;
	bool found = false;

	if (!seen)
		return false;
	seen[count++] = block;
	while (done < count && !found) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(seen[done++]);

		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
			LLVMBasicBlockRef next = LLVMGetSuccessor(end, s);
			size_t known = 0;

			found |= next == block;
			while (known < count && seen[known] != next)
				known++;
			if (known == count && count < BLOCKS_MAX)
				seen[count++] = next;
		}
	}
	free(seen);
	return found;
}

static void yield_before(LLVMModuleRef module, LLVMValueRef instruction)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

	LLVMPositionBuilderBefore(builder, instruction);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(instruction));
	LLVMBuildCall2(builder, type, um_ir_function(module, "um_yield", type), NULL, 0, "");
	LLVMDisposeBuilder(builder);
}

void um_ir_yields(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	UM_IR_FOR_EACH_BLOCK(b, f)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	if (may_wait(i) && decides_branch(i, 0) && in_loop(b))
		yield_before(module, i);
}
