#include "ir_stub.h"

#include "ir_names.h"
#include "ir_pointer.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* While a stub is read: which bytes of which alloca hold a parameter. */
struct placed {
	LLVMValueRef home; /* alloca */
	uint64_t offset;
	unsigned parameter;
};

struct reader {
	LLVMValueRef function, args; /* args: the alloca given to hipLaunchKernel */
	LLVMTargetDataRef layout;
	struct placed *placed;
	size_t placed_count;
};

static int parameter_index(LLVMValueRef function, LLVMValueRef value)
{
	/* A bool is widened before it is stored. */
	if (LLVMIsAZExtInst(value))
		value = LLVMGetOperand(value, 0);
	if (!LLVMIsAArgument(value))
		return -1;
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (LLVMGetParam(function, i) == value)
			return (int)i;
	return -1;
}

/* The call that launches, if `function` is a stub. */
static LLVMValueRef launch_call(LLVMValueRef function)
{
	LLVMBasicBlockRef block;
	LLVMValueRef i;

	for (block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
		for (i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
			size_t length;
			LLVMValueRef callee;

			if (!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i))
				continue;
			callee = LLVMGetCalledValue(i);
			if (LLVMIsAFunction(callee) &&
			    !strncmp(LLVMGetValueName2(callee, &length), "hipLaunchKernel", 15))
				return i;
		}
	return NULL;
}

static void copy_placed(struct reader *r, struct um_ir_address from, struct um_ir_address to,
			uint64_t bytes)
{
	size_t count = r->placed_count;

	for (size_t i = 0; i < count; i++) {
		const struct placed *p = &r->placed[i];

		if (p->home != from.base || p->offset < from.offset ||
		    p->offset >= from.offset + bytes)
			continue;
		r->placed[r->placed_count++] =
			(struct placed){to.base, p->offset - from.offset + to.offset, p->parameter};
	}
}

/* Passed on the stack. Its alignment there is 8 at least, which says nothing of the type's. */
static struct um_stub_argument byval_argument(const struct reader *r, unsigned parameter)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
	LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(r->function, parameter + 1, kind);
	LLVMAttributeRef align;
	LLVMTypeRef type;
	uint64_t stated;

	if (!byval)
		return (struct um_stub_argument){0};
	type = LLVMGetTypeAttributeValue(byval);
	align = LLVMGetEnumAttributeAtIndex(r->function, parameter + 1,
					    LLVMGetEnumAttributeKindForName("align", 5));
	stated = align ? LLVMGetEnumAttributeValue(align) : 0;
	return (struct um_stub_argument){
		(unsigned)LLVMABISizeOfType(r->layout, type),
		stated > 8 ? (unsigned)stated : LLVMABIAlignmentOfType(r->layout, type),
	};
}

static struct um_stub_argument argument_of(const struct reader *r, LLVMValueRef value,
					   int parameter)
{
	if (parameter >= 0)
		return byval_argument(r, (unsigned)parameter);
	if (!LLVMIsAAllocaInst(value))
		return (struct um_stub_argument){0};
	return (struct um_stub_argument){
		(unsigned)LLVMABISizeOfType(r->layout, LLVMGetAllocatedType(value)),
		LLVMGetAlignment(value),
	};
}

static void note_argument(struct um_stub *stub, uint64_t number, struct um_stub_argument argument)
{
	if (number >= UM_STUB_ARGUMENTS_MAX)
		return;
	stub->arguments[number] = argument;
	if (stub->argument_count <= number)
		stub->argument_count = (unsigned)number + 1;
}

static int note_store(struct reader *r, LLVMValueRef store, struct um_stub *stub)
{
	LLVMValueRef value = LLVMGetOperand(store, 0);
	struct um_ir_address to = um_ir_address(LLVMGetOperand(store, 1), r->layout);
	int parameter = parameter_index(r->function, value);

	if (to.base != r->args) {
		if (parameter >= 0 && r->placed_count < LLVMCountParams(r->function) * 4u)
			r->placed[r->placed_count++] =
				(struct placed){to.base, to.offset, (unsigned)parameter};
		return 0;
	}
	note_argument(stub, to.offset / sizeof(void *), argument_of(r, value, parameter));
	if (parameter >= 0) {
		stub->slots[parameter] =
			(struct um_stub_slot){(unsigned)(to.offset / sizeof(void *)), 0, 1};
		return 0;
	}
	for (size_t i = 0; i < r->placed_count; i++)
		if (r->placed[i].home == um_ir_address(value, r->layout).base)
			stub->slots[r->placed[i].parameter] =
				(struct um_stub_slot){(unsigned)(to.offset / sizeof(void *)),
						      (unsigned)r->placed[i].offset, 0};
	return 0;
}

static void read_stub(struct reader *r, struct um_stub *stub)
{
	LLVMBasicBlockRef block;
	LLVMValueRef i;

	for (block = LLVMGetFirstBasicBlock(r->function); block;
	     block = LLVMGetNextBasicBlock(block))
		for (i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
			if (LLVMIsAStoreInst(i))
				note_store(r, i, stub);
			else if (LLVMIsAMemCpyInst(i) &&
				 r->placed_count < LLVMCountParams(r->function) * 2u)
				copy_placed(r, um_ir_address(LLVMGetOperand(i, 1), r->layout),
					    um_ir_address(LLVMGetOperand(i, 0), r->layout),
					    LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2)));
		}
}

/*
 * The name under which the host registers the kernel: with -fgpu-rdc not the handle's where units
 * may have kernels of the same name. NULL where it does not.
 */
static const char *registered_name(LLVMValueRef handle)
{
	size_t length;

	for (LLVMUseRef use = LLVMGetFirstUse(handle); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef call = LLVMGetUser(use), name;

		if (strcmp(um_ir_callee(call), "__hipRegisterFunction"))
			continue;
		name = LLVMIsAGlobalVariable(LLVMGetOperand(call, 2));
		name = name ? LLVMGetInitializer(name) : NULL;
		if (name && LLVMIsConstantString(name))
			return LLVMGetAsString(name, &length);
	}
	return NULL;
}

static int add_stub(struct um_stubs *out, LLVMValueRef handle, LLVMValueRef function,
		    LLVMTargetDataRef layout)
{
	LLVMValueRef launch = launch_call(function);
	struct reader r = {.function = function, .layout = layout};
	unsigned parameters = LLVMCountParams(function);
	struct um_stub *stub = &out->items[out->count];
	size_t length;

	if (!launch)
		return 0;
	stub->kernel = registered_name(handle);
	if (!stub->kernel)
		stub->kernel = LLVMGetValueName2(handle, &length);
	stub->slot_count = parameters;
	stub->slots = calloc(parameters + 1u, sizeof *stub->slots);
	stub->arguments = calloc(UM_STUB_ARGUMENTS_MAX, sizeof *stub->arguments);
	r.placed = calloc(parameters * 4u + 1u, sizeof *r.placed);
	out->count++;
	if (!stub->slots || !stub->arguments || !r.placed) {
		free(r.placed);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	for (unsigned i = 0; i < parameters; i++)
		stub->slots[i].argument = ~0u;
	/*
	 * hipLaunchKernel(f, dim3 grid, dim3 block, args, shared, stream): a dim3 is two operands.
	 */
	r.args = um_ir_address(LLVMGetOperand(launch, 5), layout).base;
	read_stub(&r, stub);
	free(r.placed);
	for (unsigned i = 0; i < parameters; i++)
		if (stub->slots[i].argument == ~0u)
			return um_fail(UM_EFORMAT,
				       "cannot tell how parameter %u of kernel %s is passed", i,
				       stub->kernel);
	return 0;
}

int um_stubs_find(struct um_stubs *out, LLVMModuleRef host)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(host);
	size_t globals = 0;
	LLVMValueRef g;
	int error = 0;

	for (g = LLVMGetFirstGlobal(host); g; g = LLVMGetNextGlobal(g))
		globals++;
	*out = (struct um_stubs){.items = calloc(globals + 1, sizeof *out->items)};
	if (!out->items)
		return um_fail(UM_ENOMEM, "out of memory");
	for (g = LLVMGetFirstGlobal(host); g && !error; g = LLVMGetNextGlobal(g)) {
		LLVMValueRef initial = LLVMGetInitializer(g);

		if (LLVMIsGlobalConstant(g) && initial && LLVMIsAFunction(initial))
			error = add_stub(out, g, initial, layout);
	}
	if (error)
		um_stubs_fini(out);
	return error;
}

const struct um_stub *um_stubs_get(const struct um_stubs *stubs, const char *kernel)
{
	for (size_t i = 0; i < stubs->count; i++)
		if (!strcmp(stubs->items[i].kernel, kernel))
			return &stubs->items[i];
	return NULL;
}

void um_stubs_fini(struct um_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++) {
		free(stubs->items[i].slots);
		free(stubs->items[i].arguments);
	}
	free(stubs->items);
	*stubs = (struct um_stubs){0};
}
