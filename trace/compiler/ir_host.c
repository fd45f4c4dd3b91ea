#include "ir_host.h"

#include "ir_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 }; /* alignment of a bundle, as clang-offload-bundler -bundle-align */

#define FAT_BINARY "__hip_fatbin" /* CGCUDANV.cpp, makeModuleCtorFunction */

int um_ir_has_device_code(LLVMModuleRef host)
{
	return LLVMGetNamedGlobal(host, FAT_BINARY) != NULL;
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

/* Against optimisation: nothing mentions the variable. */
static void keep(LLVMModuleRef host, LLVMValueRef variable)
{
	static const char name[] = "llvm.compiler.used";
	LLVMContextRef context = LLVMGetModuleContext(host);
	LLVMTypeRef pointer = um_ir_pointer_type(context);
	LLVMValueRef old = LLVMGetNamedGlobal(host, name), list, used;
	LLVMValueRef *items;
	unsigned count = 0;

	list = old ? LLVMGetInitializer(old) : NULL;
	items = calloc((list ? (size_t)LLVMGetNumOperands(list) : 0) + 1, sizeof *items);
	if (!items)
		return;
	for (; list && count < (unsigned)LLVMGetNumOperands(list); count++)
		items[count] = LLVMGetOperand(list, count);
	items[count++] = variable;
	if (old)
		LLVMDeleteGlobal(old);
	used = LLVMAddGlobal(host, LLVMArrayType(pointer, count), name);
	LLVMSetInitializer(used, LLVMConstArray(pointer, items, count));
	LLVMSetLinkage(used, LLVMAppendingLinkage);
	LLVMSetSection(used, "llvm.metadata");
	free(items);
}

static LLVMValueRef add_bundle(LLVMModuleRef host, const void *bundle, size_t bytes)
{
	LLVMValueRef data =
		LLVMConstStringInContext(LLVMGetModuleContext(host), bundle, (unsigned)bytes, true);
	LLVMValueRef variable = LLVMAddGlobal(host, LLVMTypeOf(data), "");

	LLVMSetInitializer(variable, data);
	LLVMSetGlobalConstant(variable, true);
	LLVMSetAlignment(variable, PAGE_BYTES);
	LLVMSetSection(variable, ".hip_fatbin");
	return variable;
}

void um_ir_embed(LLVMModuleRef host, const void *bundle, size_t bytes)
{
	LLVMValueRef old = LLVMGetNamedGlobal(host, FAT_BINARY), new;

	if (!old)
		return;
	new = add_bundle(host, bundle, bytes);
	LLVMSetLinkage(new, LLVMInternalLinkage);
	LLVMReplaceAllUsesWith(old, new);
	LLVMDeleteGlobal(old);
	LLVMSetValueName2(new, FAT_BINARY, strlen(FAT_BINARY));
	own_handle(host);
}

void um_ir_define_fat_binary(LLVMModuleRef host, const void *bundle, size_t bytes)
{
	LLVMValueRef variable = add_bundle(host, bundle, bytes);

	LLVMSetVisibility(variable, LLVMHiddenVisibility);
	LLVMSetValueName2(variable, FAT_BINARY, strlen(FAT_BINARY));
}

void um_ir_embed_unit(LLVMModuleRef host, const void *unit, size_t bytes)
{
	const struct um_unit_head head = {UM_UNIT_MAGIC, bytes};
	LLVMContextRef context = LLVMGetModuleContext(host);
	LLVMTypeRef byte = LLVMInt8TypeInContext(context);
	size_t padding = -bytes % sizeof head;
	LLVMValueRef parts[] = {
		LLVMConstStringInContext(context, (const char *)&head, sizeof head, true),
		LLVMConstStringInContext(context, unit, (unsigned)bytes, true),
		LLVMConstNull(LLVMArrayType(byte, (unsigned)padding)),
	};
	LLVMValueRef data = LLVMConstStructInContext(context, parts, 3, true), variable;

	variable = LLVMAddGlobal(host, LLVMTypeOf(data), "um_device_unit");
	LLVMSetInitializer(variable, data);
	LLVMSetGlobalConstant(variable, true);
	LLVMSetLinkage(variable, LLVMPrivateLinkage);
	LLVMSetAlignment(variable, sizeof head);
	LLVMSetSection(variable, UM_UNIT_SECTION);
	/* Not loaded, and not in what the host's linker makes ("exclude" in LLVM's LangRef). */
	LLVMGlobalSetMetadata(variable, LLVMGetMDKindIDInContext(context, "exclude", 7),
			      LLVMMDNodeInContext2(context, NULL, 0));
	keep(host, variable);
}
