/*
 * Old code lets the lanes of a wave talk through volatile LDS without a word of synchronisation,
 * since hardware runs them in step: s[t] += s[t + 32]; s[t] += s[t + 16]; ... Here lanes run one
 * after another, so each such access waits for the others of its wave.
 */
#include "ir_device.h"

#include "ir_names.h"
#include "ir_pointer.h"

static bool is_volatile_lds(LLVMValueRef i, LLVMTargetDataRef layout)
{
	LLVMValueRef pointer;

	if (LLVMIsALoadInst(i))
		pointer = LLVMGetOperand(i, 0);
	else if (LLVMIsAStoreInst(i))
		pointer = LLVMGetOperand(i, 1);
	else
		return false;
	return LLVMGetVolatile(i) && um_ir_is_lds(um_ir_address(pointer, layout).base);
}

void um_ir_wait_before(LLVMModuleRef module, LLVMValueRef i)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef call;

	LLVMPositionBuilderBefore(builder, i);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(i));
	call = LLVMBuildCall2(builder, type, um_ir_function(module, "um_wave_sync", type), NULL, 0,
			      "");
	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
				 um_ir_attribute(context, "nomerge", 0));
	LLVMDisposeBuilder(builder);
}

void um_ir_lockstep(LLVMModuleRef module)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);

	UM_IR_FOR_EACH_FUNCTION(f, module)
	UM_IR_FOR_EACH_BLOCK(b, f)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	if (is_volatile_lds(i, layout))
		um_ir_wait_before(module, i);
}
