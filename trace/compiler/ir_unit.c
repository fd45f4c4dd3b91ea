/* Device code of one source that is linked with that of others (-fgpu-rdc). */
#include "ir_device.h"

#include "ir_names.h"

static bool is_table(LLVMValueRef variable)
{
	return um_ir_starts_with(um_ir_name(variable), "um_arguments.");
}

static bool is_entry(LLVMValueRef function)
{
	return um_ir_starts_with(um_ir_name(function), "um_hooked.");
}

bool um_ir_is_unit(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	if (!LLVMIsDeclaration(f))
		return true;
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
		if (!LLVMIsDeclaration(g))
			return true;
	return false;
}

static void set_linkage(LLVMModuleRef module, LLVMLinkage linkage)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	if (is_entry(f))
		LLVMSetLinkage(f, linkage);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
		if (is_table(g))
			LLVMSetLinkage(g, linkage);
}

void um_ir_share_entries(LLVMModuleRef unit)
{
	set_linkage(unit, LLVMWeakODRLinkage);
}

void um_ir_export_entries(LLVMModuleRef linked)
{
	set_linkage(linked, LLVMExternalLinkage);
}
