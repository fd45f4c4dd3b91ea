/*
 * Atomics on floating-point values that an instruction is to do: those of HIP's unsafeAtomicAdd(), which
 * atomicAdd() is with -munsafe-fp-atomics (amd_hip_unsafe_atomics.h, amd_hip_atomic.h, HIP 5.2). Which
 * function one comes from is lost with inlining, so it is written to the instruction before.
 */
#include "ir_device.h"

#include "ir_names.h"

#include <string.h>

#define MARK "um.hardware"

static LLVMContextRef context_of(LLVMValueRef i)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));

	return LLVMGetModuleContext(LLVMGetGlobalParent(function));
}

static unsigned mark_kind(LLVMValueRef i)
{
	return LLVMGetMDKindIDInContext(context_of(i), MARK, sizeof MARK - 1);
}

static void mark(LLVMValueRef i)
{
	LLVMContextRef context = context_of(i);
	LLVMMetadataRef empty = LLVMMDNodeInContext2(context, NULL, 0);

	LLVMSetMetadata(i, mark_kind(i), LLVMMetadataAsValue(context, empty));
}

void um_ir_mark_hardware_atomics(LLVMModuleRef device)
{
	UM_IR_FOR_EACH_FUNCTION(f, device)
	{
		/* f and d: of a float, of a double */
		if (!um_ir_starts_with(um_ir_name(f), "_Z15unsafeAtomicAddP"))
			continue;
		UM_IR_FOR_EACH_BLOCK(b, f)
		UM_IR_FOR_EACH_INSTRUCTION(i, b)
		if (LLVMIsAAtomicRMWInst(i))
			mark(i);
	}
}

bool um_ir_is_hardware_atomic(LLVMValueRef i)
{
	return LLVMGetMetadata(i, mark_kind(i)) != NULL;
}
