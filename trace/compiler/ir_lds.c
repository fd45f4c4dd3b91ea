/* What a code object says about its LDS: the bounds of all of it, and how much each kernel has. */
#include "ir_device.h"

#include "device/device_abi.h"
#include "ir_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set of functions and variables, in the order in which they were met. */
struct reached {
	LLVMValueRef *items;
	size_t count, capacity;
};

static void reach(struct reached *reached, LLVMValueRef value)
{
	for (size_t i = 0; i < reached->count; i++)
		if (reached->items[i] == value)
			return;
	if (reached->count == reached->capacity) {
		size_t capacity = reached->capacity * 2 + 16;
		LLVMValueRef *items = realloc(reached->items, capacity * sizeof *items);

		if (!items)
			return;
		reached->items = items;
		reached->capacity = capacity;
	}
	reached->items[reached->count++] = value;
}

bool um_ir_is_static_lds(LLVMValueRef value)
{
	const char *section;

	if (!LLVMIsAGlobalVariable(value))
		return false;
	section = LLVMGetSection(value);
	return section && !strcmp(section, UM_LDS_SECTION);
}

bool um_ir_is_lds(LLVMValueRef base)
{
	return um_ir_is_static_lds(base) ||
	       (LLVMIsAGlobalVariable(base) && !strcmp(um_ir_name(base), "um_lds_dynamic"));
}

static void reach_constant(struct reached *reached, LLVMValueRef value, int depth)
{
	if (LLVMIsAFunction(value) || um_ir_is_static_lds(value))
		reach(reached, value);
	else if (depth < 8 && LLVMIsAConstantExpr(value))
		for (int i = 0; i < LLVMGetNumOperands(value); i++)
			reach_constant(reached, LLVMGetOperand(value, (unsigned)i), depth + 1);
}

static void reach_body(struct reached *reached, LLVMValueRef function)
{
	UM_IR_FOR_EACH_BLOCK(b, function)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	for (int n = 0; n < LLVMGetNumOperands(i); n++)
		reach_constant(reached, LLVMGetOperand(i, (unsigned)n), 0);
}

/* The variables that `entry` and what it calls mention, one behind the other. */
static uint64_t lds_of(LLVMValueRef entry, LLVMTargetDataRef layout)
{
	struct reached reached = {0};
	uint64_t bytes = 0;

	reach(&reached, entry);
	for (size_t i = 0; i < reached.count; i++) {
		LLVMValueRef value = reached.items[i];

		if (LLVMIsAFunction(value)) {
			reach_body(&reached, value);
			continue;
		}
		unsigned align = LLVMGetAlignment(value);

		if (align > 1)
			bytes = (bytes + align - 1) / align * align;
		bytes += LLVMABISizeOfType(layout, LLVMGlobalGetValueType(value));
	}
	free(reached.items);
	return bytes;
}

static void say_lds_of(LLVMModuleRef module, LLVMValueRef entry)
{
	LLVMTypeRef type = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	uint64_t bytes = lds_of(entry, LLVMGetModuleDataLayout(module));
	LLVMValueRef figure;
	char *name = NULL;

	if (asprintf(&name, "um_lds_bytes.%s", um_ir_name(entry) + strlen("um_hooked.")) < 0)
		return;
	figure = LLVMAddGlobal(module, type, name);
	LLVMSetInitializer(figure, LLVMConstInt(type, bytes, false));
	LLVMSetGlobalConstant(figure, true);
	LLVMSetVisibility(figure, LLVMProtectedVisibility);
	free(name);
}

/*
 * The runtime asks for the bounds of the section by name, and a linker defines them only where
 * something mentions them. Weak: there may be no such section.
 */
static void mention_bounds(LLVMModuleRef module)
{
	static const char *const names[] = {"__start_" UM_LDS_SECTION, "__stop_" UM_LDS_SECTION};
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef pointer = um_ir_pointer_type(context);
	LLVMValueRef bounds[2], mention;

	for (unsigned i = 0; i < 2; i++) {
		bounds[i] = LLVMAddGlobal(module, LLVMInt8TypeInContext(context), names[i]);
		LLVMSetLinkage(bounds[i], LLVMExternalWeakLinkage);
	}
	mention = LLVMAddGlobal(module, LLVMArrayType(pointer, 2), "um_lds_bounds");
	LLVMSetInitializer(mention, LLVMConstArray(pointer, bounds, 2));
	LLVMSetGlobalConstant(mention, true);
	LLVMSetVisibility(mention, LLVMHiddenVisibility);
}

/*
 * A GPU gives a group LDS in granules, and code that oversteps its last array within the granule
 * works there. Here it must not find the code object's own data behind it.
 */
static void pad(LLVMModuleRef module)
{
	LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
	LLVMTypeRef type = LLVMArrayType(byte, UM_LDS_GRANULE_BYTES);
	LLVMValueRef padding = LLVMAddGlobal(module, type, "um_lds_padding");

	LLVMSetInitializer(padding, LLVMConstNull(type));
	LLVMSetSection(padding, UM_LDS_SECTION);
	LLVMSetVisibility(padding, LLVMHiddenVisibility);
}

static bool has_static_lds(LLVMModuleRef module)
{
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
		if (um_ir_is_static_lds(g))
			return true;
	return false;
}

void um_ir_lds(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	if (um_ir_starts_with(um_ir_name(f), "um_hooked."))
		say_lds_of(module, f);
	if (has_static_lds(module))
		pad(module);
	mention_bounds(module);
}
