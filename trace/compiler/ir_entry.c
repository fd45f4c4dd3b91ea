/* um_hooked.K(args): takes a kernel's parameters out of `args` and calls it. */
#include "ir_device.h"

#include "ir_names.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	LLVMBuilderRef builder;
	LLVMContextRef context;
	LLVMValueRef args;
};

/* `args` and what it points to never change while a lane runs. */
static LLVMValueRef load_constant(const struct entry *e, LLVMTypeRef type, LLVMValueRef from,
				  unsigned align)
{
	LLVMValueRef load = LLVMBuildLoad2(e->builder, type, from, "");

	LLVMSetAlignment(load, align);
	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->context, "invariant.load", 14),
			LLVMMDNodeInContext(e->context, NULL, 0));
	return load;
}

static LLVMValueRef load_parameter(const struct entry *e, LLVMTypeRef type,
				   const struct um_stub_slot *slot)
{
	LLVMTypeRef byte = LLVMInt8TypeInContext(e->context);
	LLVMTypeRef pointer = um_ir_pointer_type(e->context);
	LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(e->context), slot->argument, 0);
	LLVMValueRef where = LLVMBuildGEP2(e->builder, pointer, e->args, &index, 1, "");
	LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(e->context), slot->offset, 0);

	where = load_constant(e, pointer, where, 8);
	if (slot->is_address)
		return where;
	where = LLVMBuildGEP2(e->builder, byte, where, &offset, 1, "");
	if (type == LLVMInt1TypeInContext(e->context))
		return LLVMBuildTrunc(e->builder, load_constant(e, byte, where, 1), type, "");
	return load_constant(e, type, where, 1);
}

/* The call must lower as the kernel does: byval, zeroext and the like are part of that. */
static void copy_parameter_attributes(LLVMValueRef call, LLVMValueRef kernel, unsigned parameter)
{
	unsigned index = parameter + 1;
	unsigned count = LLVMGetAttributeCountAtIndex(kernel, index);
	LLVMAttributeRef *attributes = calloc(count + 1u, sizeof *attributes);

	if (!attributes)
		return;
	LLVMGetAttributesAtIndex(kernel, index, attributes);
	for (unsigned i = 0; i < count; i++)
		LLVMAddCallSiteAttribute(call, index, attributes[i]);
	free(attributes);
}

static int build_entry(LLVMModuleRef module, LLVMValueRef kernel, const struct um_stub *stub)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef type = um_ir_function_type(LLVMVoidTypeInContext(context), 1,
					       um_ir_pointer_type(context), NULL, NULL);
	size_t length = strlen(stub->kernel) + sizeof "um_hooked.";
	char *name = malloc(length);
	LLVMValueRef entry, call, *values = calloc(stub->slot_count + 1u, sizeof *values);
	struct entry e = {LLVMCreateBuilderInContext(context), context, NULL};

	if (!name || !values)
		return um_fail(UM_ENOMEM, "out of memory");
	strcpy(name, "um_hooked.");
	strcat(name, stub->kernel);
	entry = LLVMAddFunction(module, name, type);
	free(name);
	um_ir_add_function_attribute(entry, "nounwind");
	LLVMPositionBuilderAtEnd(e.builder, LLVMAppendBasicBlockInContext(context, entry, ""));
	e.args = LLVMGetParam(entry, 0);
	for (unsigned i = 0; i < stub->slot_count; i++)
		values[i] =
			load_parameter(&e, LLVMTypeOf(LLVMGetParam(kernel, i)), &stub->slots[i]);
	call = LLVMBuildCall2(e.builder, LLVMGlobalGetValueType(kernel), kernel, values,
			      stub->slot_count, "");
	for (unsigned i = 0; i < stub->slot_count; i++)
		copy_parameter_attributes(call, kernel, i);
	LLVMBuildRetVoid(e.builder);
	LLVMDisposeBuilder(e.builder);
	free(values);
	return 0;
}

static void add_text_attribute(LLVMValueRef function, const char *name, const char *value)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));

	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(context, name, (unsigned)strlen(name),
							  value, (unsigned)strlen(value)));
}

/*
 * Everything that is not an entry is private to the code object. A wave operation or a barrier is
 * known by its return address, which a tail call would take from it; and without a memset() to
 * call, LLVM leaves the stores of a kernel one by one.
 */
static void make_private(LLVMValueRef function)
{
	if (LLVMIsDeclaration(function))
		return;
	add_text_attribute(function, "disable-tail-calls", "true");
	add_text_attribute(function, "no-builtin-memset", "");
	if (um_ir_starts_with(um_ir_name(function), "um_hooked."))
		return;
	LLVMSetComdat(function, NULL);
	LLVMSetVisibility(function, LLVMDefaultVisibility);
	LLVMSetLinkage(function, LLVMInternalLinkage);
}

int um_ir_entries(LLVMModuleRef module, const struct um_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++) {
		const struct um_stub *stub = &stubs->items[i];
		LLVMValueRef kernel = LLVMGetNamedFunction(module, stub->kernel);

		if (!kernel || LLVMIsDeclaration(kernel))
			return um_fail(UM_EFORMAT, "kernel %s has no device code", stub->kernel);
		if (LLVMCountParams(kernel) != stub->slot_count)
			return um_fail(
				UM_EFORMAT,
				"kernel %s is not passed as its host stub is (%u parameters, "
				"%u): does its signature depend on __HIP_DEVICE_COMPILE__?",
				stub->kernel, LLVMCountParams(kernel), stub->slot_count);
		if (build_entry(module, kernel, stub))
			return UM_ENOMEM;
	}
	return 0;
}

void um_ir_private(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	make_private(f);
	/* Constructors that are equal are one, under two names. */
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(module); a; a = LLVMGetNextGlobalAlias(a)) {
		LLVMSetVisibility(a, LLVMDefaultVisibility);
		LLVMSetLinkage(a, LLVMInternalLinkage);
	}
}
