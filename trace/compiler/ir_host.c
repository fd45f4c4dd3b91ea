#include "ir_host.h"

#include <llvm-c/Comdat.h>
#include <stdbool.h>

enum { PAGE_BYTES = 4096 }; /* alignment of a bundle, as clang-offload-bundler -bundle-align */

int um_ir_has_device_code(LLVMModuleRef host)
{
	return LLVMGetNamedGlobal(host, "__hip_fatbin") != NULL;
}

/*
 * Where clang has not seen the bundle it takes the program for one with relocatable device code,
 * whose units share one handle: the second unit's kernels would never be registered.
 */
static void own_handle(LLVMModuleRef host)
{
	LLVMValueRef handle = LLVMGetNamedGlobal(host, "__hip_gpubin_handle");

	if (!handle)
		return;
	LLVMSetLinkage(handle, LLVMInternalLinkage);
	LLVMSetVisibility(handle, LLVMDefaultVisibility);
	LLVMSetComdat(handle, NULL);
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
	own_handle(host);
}
