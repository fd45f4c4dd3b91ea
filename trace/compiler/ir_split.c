/* Two modules from one: entries with hooks and all variables, and entries without. */
#include "ir_device.h"

#include "ir_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A constant whose address means nothing may as well exist twice. */
static bool is_shared(LLVMValueRef variable)
{
	return !LLVMIsDeclaration(variable) &&
	       !(LLVMIsGlobalConstant(variable) &&
		 LLVMGetUnnamedAddress(variable) == LLVMGlobalUnnamedAddr &&
		 LLVMGetLinkage(variable) == LLVMPrivateLinkage);
}

static bool is_local(LLVMValueRef variable)
{
	LLVMLinkage linkage = LLVMGetLinkage(variable);

	return linkage == LLVMPrivateLinkage || linkage == LLVMInternalLinkage;
}

/* By the runtime: a variable of the user's, or a table of um_ir_arguments(). */
static bool is_looked_up(LLVMValueRef variable, bool local)
{
	return (LLVMIsExternallyInitialized(variable) && !local) ||
	       um_ir_starts_with(um_ir_name(variable), "um_arguments.");
}

static void share_variables(LLVMModuleRef module)
{
	unsigned number = 0;

	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		bool local = is_local(g);
		char name[32];

		if (!is_shared(g))
			continue;
		if (local) {
			snprintf(name, sizeof name, "um_variable.%u", number++);
			LLVMSetValueName2(g, name, strlen(name));
		}
		LLVMSetComdat(g, NULL);
		LLVMSetLinkage(g, LLVMExternalLinkage);
		/*
		 * Protected: found by dlsym for hipGetSymbolAddress, reached directly by the code.
		 */
		LLVMSetVisibility(g, is_looked_up(g, local) ? LLVMProtectedVisibility
							    : LLVMHiddenVisibility);
	}
}

static void delete_variable(LLVMModuleRef module, const char *name)
{
	LLVMValueRef variable = LLVMGetNamedGlobal(module, name);

	if (variable)
		LLVMDeleteGlobal(variable);
}

static void rename_plain(LLVMValueRef entry)
{
	char *name = NULL;

	if (asprintf(&name, "um_plain.%s", um_ir_name(entry) + strlen("um_hooked.")) < 0)
		return;
	LLVMSetValueName2(entry, name, strlen(name));
	free(name);
}

static void make_plain(LLVMModuleRef plain)
{
	for (LLVMValueRef g = LLVMGetFirstGlobal(plain); g; g = LLVMGetNextGlobal(g)) {
		if (!is_shared(g))
			continue;
		LLVMSetInitializer(g, NULL);
		LLVMSetExternallyInitialized(g, false);
		LLVMSetSection(g, "");
	}
	UM_IR_FOR_EACH_FUNCTION(f, plain)
	if (um_ir_starts_with(um_ir_name(f), "um_hooked."))
		rename_plain(f);
}

LLVMModuleRef um_ir_split(LLVMModuleRef module)
{
	LLVMModuleRef plain;

	delete_variable(module, "llvm.used");
	delete_variable(module, "llvm.compiler.used");
	share_variables(module);
	plain = LLVMCloneModule(module);
	make_plain(plain);
	return plain;
}
