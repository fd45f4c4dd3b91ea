#include "ir_pointer.h"

static bool is_step(LLVMValueRef v, LLVMOpcode *opcode)
{
	if (LLVMIsAInstruction(v))
		*opcode = LLVMGetInstructionOpcode(v);
	else if (LLVMIsAConstantExpr(v))
		*opcode = LLVMGetConstOpcode(v);
	else
		return false;
	return *opcode == LLVMGetElementPtr || *opcode == LLVMBitCast ||
	       *opcode == LLVMAddrSpaceCast;
}

/* One index of a getelementptr into `*type`, which becomes the type of the part. */
static uint64_t index_bytes(LLVMTypeRef *type, int64_t index, LLVMTargetDataRef layout)
{
	if (LLVMGetTypeKind(*type) == LLVMStructTypeKind) {
		uint64_t bytes = LLVMOffsetOfElement(layout, *type, (unsigned)index);

		*type = LLVMStructGetTypeAtIndex(*type, (unsigned)index);
		return bytes;
	}
	*type = LLVMGetElementType(*type);
	return (uint64_t)index * LLVMABISizeOfType(layout, *type);
}

static void add_indices(struct um_ir_address *a, LLVMValueRef gep, LLVMTargetDataRef layout)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);

		if (!LLVMIsAConstantInt(index)) {
			a->exact = false;
			return;
		}
		if (i == 1)
			a->offset += (uint64_t)LLVMConstIntGetSExtValue(index) *
				     LLVMABISizeOfType(layout, type);
		else
			a->offset += index_bytes(&type, LLVMConstIntGetSExtValue(index), layout);
	}
}

struct um_ir_address um_ir_address(LLVMValueRef pointer, LLVMTargetDataRef layout)
{
	struct um_ir_address a = {pointer, 0, true};
	LLVMOpcode opcode;

	while (is_step(a.base, &opcode)) {
		if (opcode == LLVMGetElementPtr)
			add_indices(&a, a.base, layout);
		a.base = LLVMGetOperand(a.base, 0);
	}
	return a;
}
