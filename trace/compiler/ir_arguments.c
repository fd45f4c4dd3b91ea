/*
 * Where each argument of a kernel begins when a program passes all of them in one buffer, where the
 * last one ends, and how large each is.
 */
#include "ir_device.h"

#include "ir_names.h"

#include <stdio.h>
#include <stdlib.h>

/* As members of a struct, which is how such buffers are filled. False where a size is not known. */
static bool lay_out(LLVMValueRef *table, const struct um_stub *stub, LLVMTypeRef type)
{
	unsigned count = stub->argument_count, end = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct um_stub_argument *a = &stub->arguments[i];

		if (!a->bytes || !a->align)
			return false;
		end = (end + a->align - 1) / a->align * a->align;
		table[i] = LLVMConstInt(type, end, false);
		table[count + 1 + i] = LLVMConstInt(type, a->bytes, false);
		end += a->bytes;
	}
	table[count] = LLVMConstInt(type, end, false);
	return true;
}

static void say_arguments_of(LLVMModuleRef module, const struct um_stub *stub)
{
	LLVMTypeRef type = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	unsigned count = 2 * stub->argument_count + 1;
	LLVMValueRef *elements = calloc(count, sizeof *elements), table;
	char *name = NULL;

	if (elements && lay_out(elements, stub, type) &&
	    asprintf(&name, "um_arguments.%s", stub->kernel) >= 0) {
		table = LLVMAddGlobal(module, LLVMArrayType(type, count), name);
		LLVMSetInitializer(table, LLVMConstArray(type, elements, count));
		LLVMSetGlobalConstant(table, true);
		LLVMSetVisibility(table, LLVMProtectedVisibility);
		free(name);
	}
	free(elements);
}

void um_ir_arguments(LLVMModuleRef module, const struct um_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++)
		say_arguments_of(module, &stubs->items[i]);
}
