/* Where each argument of a kernel begins when a program passes all of them in one buffer. */
#include "ir_device.h"

#include "ir_names.h"

#include <stdio.h>
#include <stdlib.h>

/* As members of a struct, which is how such buffers are filled. False where a size is not known. */
static bool lay_out(LLVMValueRef *offsets, const struct um_stub *stub, LLVMTypeRef type)
{
	unsigned end = 0;

	for (unsigned i = 0; i < stub->argument_count; i++) {
		const struct um_stub_argument *a = &stub->arguments[i];

		if (!a->bytes || !a->align)
			return false;
		end = (end + a->align - 1) / a->align * a->align;
		offsets[i] = LLVMConstInt(type, end, false);
		end += a->bytes;
	}
	offsets[stub->argument_count] = LLVMConstInt(type, end, false);
	return true;
}

static void say_arguments_of(LLVMModuleRef module, const struct um_stub *stub)
{
	LLVMTypeRef type = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	unsigned count = stub->argument_count + 1;
	LLVMValueRef *offsets = calloc(count, sizeof *offsets), table;
	char *name = NULL;

	if (offsets && lay_out(offsets, stub, type) &&
	    asprintf(&name, "um_arguments.%s", stub->kernel) >= 0) {
		table = LLVMAddGlobal(module, LLVMArrayType(type, count), name);
		LLVMSetInitializer(table, LLVMConstArray(type, offsets, count));
		LLVMSetGlobalConstant(table, true);
		LLVMSetVisibility(table, LLVMProtectedVisibility);
		free(name);
	}
	free(offsets);
}

void um_ir_arguments(LLVMModuleRef module, const struct um_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++)
		say_arguments_of(module, &stubs->items[i]);
}
