/*
 * Lanes that part within a turn of a loop meet again before its next turn, as hardware has it that
 * runs both arms of a branch one after the other. Here the wave operation at the lowest address goes
 * first (ir_order.c), so that a lane that skips an arm would come round to the start of the loop,
 * which lies lower, and leave those in the arm behind. So the wave meets (um_wave_sync()) where a
 * loop goes back, if a lane may go back without having been at every wave operation of the turn:
 * some are in an arm, or in a loop within the loop, which has other turns for other lanes.
 *
 * All ways back then lead through one block, the last of the loop.
 */
#include "ir_device.h"

#include "ir_loops.h"
#include "ir_names.h"

#include <stdlib.h>
#include <string.h>

/* How deep calls are followed. */
enum { DEPTH_MAX = 16 };

struct loop {
	const struct um_ir_loops *all;
	unsigned head, end;
};

static bool meets(LLVMBasicBlockRef block, int depth);

static bool function_meets(LLVMValueRef function, int depth)
{
	if (depth > DEPTH_MAX)
		return false;
	UM_IR_FOR_EACH_BLOCK(b, function)
	if (meets(b, depth))
		return true;
	return false;
}

/* Barriers do not count: see has_wave_operations() of ir_order.c. */
static bool meets(LLVMBasicBlockRef block, int depth)
{
	UM_IR_FOR_EACH_INSTRUCTION(i, block)
	{
		LLVMValueRef callee;

		if (um_ir_starts_with(um_ir_callee(i), "um_wave_"))
			return true;
		if (!LLVMIsACallInst(i))
			continue;
		callee = LLVMGetCalledValue(i);
		if (LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee) &&
		    function_meets(callee, depth + 1))
			return true;
	}
	return false;
}

/* Is there a way through a turn that leaves block `out` out? `seen`: a flag for each block. */
static bool goes_back_without(const struct loop *loop, unsigned out, bool *seen)
{
	memset(seen, 0, loop->all->block_count * sizeof *seen);
	seen[loop->head] = loop->head != out;
	for (bool grows = true; grows;) {
		grows = false;
		for (unsigned b = loop->head; b <= loop->end; b++) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->all->blocks[b]);

			for (unsigned s = 0; seen[b] && s < LLVMGetNumSuccessors(end); s++) {
				unsigned to =
					um_ir_loops_block(loop->all, LLVMGetSuccessor(end, s));

				if (to == loop->head)
					return true;
				if (to < loop->head || to > loop->end || to == out || seen[to])
					continue;
				seen[to] = true;
				grows |= to < b;
			}
		}
	}
	return false;
}

static bool is_in_inner_loop(const struct loop *loop, unsigned b)
{
	for (unsigned head = loop->head + 1; head <= b; head++) {
		unsigned end = um_ir_loop_end(loop->all, head);

		if (end + 1u != head && b <= end)
			return true;
	}
	return false;
}

static bool may_part(const struct loop *loop, const bool *meeting, bool *seen)
{
	for (unsigned b = loop->head; b <= loop->end; b++)
		if (meeting[b] && (is_in_inner_loop(loop, b) || goes_back_without(loop, b, seen)))
			return true;
	return false;
}

static bool is_in(const struct loop *loop, LLVMBasicBlockRef block)
{
	unsigned b = um_ir_loops_block(loop->all, block);

	return loop->head <= b && b <= loop->end;
}

/* What `phi` hears from within the loop it hears from `latch`, where a phi of its own gathers it. */
static void gather(const struct loop *loop, LLVMValueRef phi, LLVMBasicBlockRef latch)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(latch)));
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef outer, inner;

	LLVMPositionBuilderBefore(builder, phi);
	outer = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
	LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(latch));
	inner = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
	for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, k);
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);

		LLVMAddIncoming(is_in(loop, from) ? inner : outer, &value, &from, 1);
	}
	LLVMAddIncoming(outer, &inner, &latch, 1);
	LLVMReplaceAllUsesWith(phi, outer);
	LLVMInstructionEraseFromParent(phi);
	LLVMDisposeBuilder(builder);
}

static void redirect(const struct loop *loop, LLVMBasicBlockRef head, LLVMBasicBlockRef latch)
{
	for (unsigned b = loop->head; b <= loop->end; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->all->blocks[b]);

		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
			if (LLVMGetSuccessor(end, s) == head)
				LLVMSetSuccessor(end, s, latch);
	}
}

static void meet_at_end(LLVMModuleRef module, const struct loop *loop)
{
	LLVMBasicBlockRef head = loop->all->blocks[loop->head], last = loop->all->blocks[loop->end];
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMBasicBlockRef latch =
		LLVMAppendBasicBlockInContext(context, LLVMGetBasicBlockParent(head), "");
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef back;

	LLVMMoveBasicBlockAfter(latch, last);
	LLVMPositionBuilderAtEnd(builder, latch);
	LLVMSetCurrentDebugLocation2(builder,
				     LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(last)));
	back = LLVMBuildBr(builder, head);
	LLVMDisposeBuilder(builder);
	UM_IR_FOR_EACH_INSTRUCTION(i, head)
	{
		if (!LLVMIsAPHINode(i))
			break;
		gather(loop, i, latch);
	}
	redirect(loop, head, latch);
	um_ir_wait_before(module, back);
}

/*
 * Outer loops first: the block that ends an inner one is put behind the same last block, and so
 * before that of the outer.
 */
static void reconverge(LLVMModuleRef module, const struct um_ir_loops *loops)
{
	bool *meeting = calloc(loops->block_count, sizeof *meeting);
	bool *seen = calloc(loops->block_count, sizeof *seen);
	struct loop *parting = calloc(loops->block_count, sizeof *parting);
	unsigned count = 0;

	for (unsigned b = 0; meeting && b < loops->block_count; b++)
		meeting[b] = meets(loops->blocks[b], 0);
	for (unsigned b = 0; meeting && seen && parting && b < loops->block_count; b++) {
		struct loop loop = {loops, b, um_ir_loop_end(loops, b)};

		if (loop.end + 1u != b && may_part(&loop, meeting, seen))
			parting[count++] = loop;
	}
	for (unsigned n = 0; n < count; n++)
		meet_at_end(module, &parting[n]);
	free(meeting);
	free(seen);
	free(parting);
}

void um_ir_reconverge(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	{
		struct um_ir_loops loops;

		if (um_ir_loops_find(&loops, f) && loops.edge_count)
			reconverge(module, &loops);
		um_ir_loops_free(&loops);
	}
}
