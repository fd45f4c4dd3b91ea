/* Before optimisation: what AMD's device code says in ways that x86-64 code cannot. */
#include "ir_device.h"

#include "device/device_abi.h"
#include "ir_builtin.h"
#include "ir_names.h"
#include "ir_pointer.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Every `extern __shared__` array starts at the runtime's one block. */
static LLVMValueRef dynamic_lds(LLVMModuleRef module)
{
	LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
	LLVMValueRef lds = LLVMGetNamedGlobal(module, "um_lds_dynamic");

	if (lds)
		return lds;
	lds = LLVMAddGlobal(module, LLVMArrayType(byte, UM_LDS_BYTES), "um_lds_dynamic");
	LLVMSetAlignment(lds, 64);
	return lds;
}

static LLVMValueRef generic_copy(LLVMModuleRef module, LLVMValueRef old)
{
	LLVMValueRef new = LLVMAddGlobal(module, LLVMGlobalGetValueType(old), "");
	LLVMValueRef initial = LLVMGetInitializer(old);
	bool shared = LLVMGetPointerAddressSpace(LLVMTypeOf(old)) == UM_IR_SPACE_SHARED;

	if (initial)
		LLVMSetInitializer(new, shared ? LLVMConstNull(LLVMTypeOf(initial)) : initial);
	LLVMSetLinkage(new, LLVMGetLinkage(old));
	LLVMSetGlobalConstant(new, LLVMIsGlobalConstant(old));
	LLVMSetExternallyInitialized(new, LLVMIsExternallyInitialized(old));
	LLVMSetUnnamedAddress(new, LLVMGetUnnamedAddress(old));
	LLVMSetAlignment(new, LLVMGetAlignment(old));
	if (shared)
		LLVMSetSection(new, UM_LDS_SECTION);
	return new;
}

static void make_generic(LLVMModuleRef module, LLVMValueRef old)
{
	unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(old));
	bool dynamic = space == UM_IR_SPACE_SHARED && LLVMIsDeclaration(old);
	LLVMValueRef new = dynamic ? dynamic_lds(module) : generic_copy(module, old);
	char *name = strdup(um_ir_name(old));

	LLVMReplaceAllUsesWith(old, LLVMConstAddrSpaceCast(new, LLVMTypeOf(old)));
	LLVMDeleteGlobal(old);
	if (!dynamic && name)
		LLVMSetValueName2(new, name, strlen(name));
	free(name);
}

static void make_variables_generic(LLVMModuleRef module)
{
	LLVMValueRef next;

	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = next) {
		next = LLVMGetNextGlobal(g);
		if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != UM_IR_SPACE_GENERIC)
			make_generic(module, g);
	}
}

static int check_asm(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	char text[256], *printed;
	size_t length;

	if (!LLVMIsAInlineAsm(callee))
		return 0;
	printed = LLVMPrintValueToString(callee);
	/* asm [sideeffect] "text", "constraints": an empty text is a compiler barrier. */
	length = strcspn(printed, "\"");
	strncpy(text, printed + length, sizeof text - 1);
	text[sizeof text - 1] = 0;
	LLVMDisposeMessage(printed);
	if (um_ir_starts_with(text, "\"\""))
		return 0;
	text[1 + strcspn(text + 1, "\"\\")] = 0;
	return um_ir_fail(
		UM_ENOTSUP, call,
		"inline assembly in device code (%.60s) cannot run without a GPU; give the "
		"code another way under #ifndef __AMDGCN__",
		text + 1);
}

/* The identity of a lane never changes, so that its fields need to be read once. */
static void mark_identity_load(LLVMValueRef load, LLVMTargetDataRef layout)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(load));

	if (strcmp(um_ir_callee(um_ir_address(LLVMGetOperand(load, 0), layout).base), "um_self"))
		return;
	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(context, "invariant.load", 14),
			LLVMMDNodeInContext(context, NULL, 0));
}

static void declare_identity(LLVMModuleRef module)
{
	static const char *const attributes[] = {"nounwind", "readnone", "speculatable",
						 "willreturn", "nonlazybind"};
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef self = LLVMGetNamedFunction(module, "um_self");

	if (!self)
		return;
	/* The front end calls every function of device code convergent. */
	LLVMRemoveEnumAttributeAtIndex(self, LLVMAttributeFunctionIndex,
				       LLVMGetEnumAttributeKindForName("convergent", 10));
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		um_ir_add_function_attribute(self, attributes[i]);
	LLVMAddAttributeAtIndex(
		self, LLVMAttributeReturnIndex,
		um_ir_attribute(context, "dereferenceable", sizeof(struct um_lane)));
}

int um_ir_prepare(LLVMModuleRef module)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
	int error = 0;

	make_variables_generic(module);
	declare_identity(module);
	um_ir_mark_hardware_atomics(module);
	UM_IR_FOR_EACH_FUNCTION(f, module)
	UM_IR_FOR_EACH_BLOCK(b, f)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	{
		if (LLVMIsALoadInst(i))
			mark_identity_load(i, layout);
		else if (LLVMIsACallInst(i) && (error = check_asm(i)))
			return error;
	}
	return um_ir_builtins(module);
}
