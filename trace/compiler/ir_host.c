#include "ir_host.h"

#include <stdbool.h>

enum { PAGE_BYTES = 4096 }; /* alignment of a bundle, as clang-offload-bundler -bundle-align */

int um_ir_has_device_code(LLVMModuleRef host)
{
	return LLVMGetNamedGlobal(host, "__hip_fatbin") != NULL;
}

void um_ir_embed(LLVMModuleRef host, const void *bundle, size_t bytes)
{
	LLVMContextRef context = LLVMGetModuleContext(host);
	LLVMValueRef old = LLVMGetNamedGlobal(host, "__hip_fatbin"), new, data;

	if (!old)
		return;
	data = LLVMConstStringInContext(context, bundle, (unsigned)bytes, true);
	new = LLVMAddGlobal(host, LLVMTypeOf(data), "");
	LLVMSetInitializer(new, data);
	LLVMSetGlobalConstant(new, true);
	LLVMSetLinkage(new, LLVMInternalLinkage);
	LLVMSetAlignment(new, PAGE_BYTES);
	LLVMSetSection(new, ".hip_fatbin");
	LLVMReplaceAllUsesWith(old, new);
	LLVMDeleteGlobal(old);
	LLVMSetValueName2(new, "__hip_fatbin", 12);
}
