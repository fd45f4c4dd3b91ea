/*
 * A loop that waits for another lane, group or the host would wait for ever where lanes run one
 * after another. Where a loop whose end hangs on a volatile or atomic access goes back to its
 * start, the lane calls um_yield(). A loop that ends in its first turn, as most that compare and
 * swap, calls nothing.
 */
#include "ir_device.h"

#include "ir_loops.h"
#include "ir_names.h"

#include <stdlib.h>

/* How far the uses of an access are followed to a branch: accumulators use themselves for ever. */
enum { DEPTH_MAX = 8, USES_MAX = 256 };

/* Could another lane change what this reads? */
static bool may_wait(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return true;
	case LLVMCall:
		return um_ir_starts_with(um_ir_callee(i), "um_atomic_");
	default:
		return false;
	}
}

static bool decides_branch(LLVMValueRef value, int depth, unsigned *looked)
{
	if (depth > DEPTH_MAX || ++*looked > USES_MAX)
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user))
			continue;
		if (LLVMIsABranchInst(user) || LLVMIsASwitchInst(user))
			return true;
		if (LLVMGetInstructionOpcode(user) != LLVMCall && !LLVMIsAStoreInst(user) &&
		    decides_branch(user, depth + 1, looked))
			return true;
	}
	return false;
}

static bool waits(LLVMBasicBlockRef block)
{
	UM_IR_FOR_EACH_INSTRUCTION(i, block)
	{
		unsigned looked = 0;

		if (may_wait(i) && decides_branch(i, 0, &looked))
			return true;
	}
	return false;
}

/* The phi nodes of `block` hear from `now` what they heard from `before`. */
static void redirect_phis(LLVMBasicBlockRef block, LLVMBasicBlockRef before, LLVMBasicBlockRef now)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

	UM_IR_FOR_EACH_INSTRUCTION(i, block)
	{
		LLVMValueRef phi;

		if (!LLVMIsAPHINode(i))
			break;
		LLVMPositionBuilderBefore(builder, i);
		phi = LLVMBuildPhi(builder, LLVMTypeOf(i), "");
		for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
			LLVMValueRef value = LLVMGetIncomingValue(i, k);
			LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);

			from = from == before ? now : from;
			LLVMAddIncoming(phi, &value, &from, 1);
		}
		LLVMReplaceAllUsesWith(i, phi);
		LLVMInstructionEraseFromParent(i);
	}
	LLVMDisposeBuilder(builder);
}

static void yield_on(LLVMModuleRef module, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
	LLVMBasicBlockRef between =
		LLVMAppendBasicBlockInContext(context, LLVMGetBasicBlockParent(from), "");

	LLVMMoveBasicBlockAfter(between, from);
	LLVMPositionBuilderAtEnd(builder, between);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(end));
	LLVMBuildCall2(builder, type, um_ir_function(module, "um_yield", type), NULL, 0, "");
	LLVMBuildBr(builder, to);
	LLVMDisposeBuilder(builder);
	for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
		if (LLVMGetSuccessor(end, s) == to)
			LLVMSetSuccessor(end, s, between);
	redirect_phis(to, from, between);
}

/* The ways back of the innermost loop around block `b`. */
static void mark_ways_back(const struct um_ir_loops *loops, unsigned b, bool *marked)
{
	unsigned inner = 0;
	bool found = false;

	for (unsigned e = 0; e < loops->edge_count; e++)
		if (loops->edges[e].to <= b && b <= loops->edges[e].from &&
		    (!found || loops->edges[e].to > inner)) {
			inner = loops->edges[e].to;
			found = true;
		}
	for (unsigned e = 0; e < loops->edge_count; e++)
		if (found && loops->edges[e].to == inner)
			marked[e] = true;
}

static void add_yields(LLVMModuleRef module, const struct um_ir_loops *loops)
{
	bool *marked = calloc(loops->edge_count + 1u, sizeof *marked);

	if (!marked)
		return;
	for (unsigned b = 0; b < loops->block_count; b++)
		if (waits(loops->blocks[b]))
			mark_ways_back(loops, b, marked);
	for (unsigned e = 0; e < loops->edge_count; e++)
		if (marked[e])
			yield_on(module, loops->blocks[loops->edges[e].from],
				 loops->blocks[loops->edges[e].to]);
	free(marked);
}

void um_ir_yields(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	{
		struct um_ir_loops loops;

		if (um_ir_loops_find(&loops, f) && loops.edge_count)
			add_yields(module, &loops);
		um_ir_loops_free(&loops);
	}
}
