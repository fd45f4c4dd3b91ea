#include "ir_builtin.h"

#include "ir_names.h"
#include "trace/base/error.h"

#include <string.h>

/* Calls of `from` become calls of `to`, which has the same type; `keep` drops later parameters. */
static const struct renamed {
	const char *from, *to;
	unsigned keep;
} renamed[] = {
	{"llvm.amdgcn.atomic.inc.", "um_atomic_inc", 2},
	{"llvm.amdgcn.atomic.dec.", "um_atomic_dec", 2},
	{"llvm.amdgcn.groupstaticsize", "um_static_lds_bytes", 0},
	{"llvm.amdgcn.cos.f32", "__ocml_native_cos_f32", 1},
	{"llvm.amdgcn.sin.f32", "__ocml_native_sin_f32", 1},
	{"llvm.readcyclecounter", "um_clock", 0},
};

/* Bodies: a call of one LLVM function with the same parameters. */
static const struct direct {
	const char *name, *intrinsic;
} direct[] = {
	{"__ocml_fabs_f32", "llvm.fabs"},	  {"__ocml_fabs_f64", "llvm.fabs"},
	{"__ocml_sqrt_f32", "llvm.sqrt"},	  {"__ocml_sqrt_f64", "llvm.sqrt"},
	{"__ocml_native_sqrt_f32", "llvm.sqrt"},  {"__ocml_floor_f32", "llvm.floor"},
	{"__ocml_floor_f64", "llvm.floor"},	  {"__ocml_ceil_f32", "llvm.ceil"},
	{"__ocml_ceil_f64", "llvm.ceil"},	  {"__ocml_trunc_f32", "llvm.trunc"},
	{"__ocml_trunc_f64", "llvm.trunc"},	  {"__ocml_rint_f32", "llvm.rint"},
	{"__ocml_rint_f64", "llvm.rint"},	  {"__ocml_fma_f32", "llvm.fma"},
	{"__ocml_fma_f64", "llvm.fma"},		  {"__ocml_fmin_f32", "llvm.minnum"},
	{"__ocml_fmin_f64", "llvm.minnum"},	  {"__ocml_fmax_f32", "llvm.maxnum"},
	{"__ocml_fmax_f64", "llvm.maxnum"},	  {"__ocml_copysign_f32", "llvm.copysign"},
	{"__ocml_copysign_f64", "llvm.copysign"},
};

/*
 * Their place is their identity: never merged, moved over control flow or thought free of effects.
 */
static const char *const wave_operations[] = {"um_wave_ballot", "um_wave_read", "um_wave_active",
					      "um_wave_sync", "um_barrier"};

static void replace_call(LLVMModuleRef module, LLVMValueRef call, const struct renamed *r)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef operands[4], new, function;
	LLVMTypeRef types[4];

	for (unsigned i = 0; i < r->keep; i++) {
		operands[i] = LLVMGetOperand(call, i);
		types[i] = LLVMTypeOf(operands[i]);
	}
	function = um_ir_function(module, r->to,
				  LLVMFunctionType(LLVMTypeOf(call), types, r->keep, false));
	LLVMPositionBuilderBefore(builder, call);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
	new = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, operands, r->keep,
			     "");
	LLVMReplaceAllUsesWith(call, new);
	LLVMInstructionEraseFromParent(call);
	LLVMDisposeBuilder(builder);
}

static int check_call(LLVMModuleRef module, LLVMValueRef call)
{
	const char *callee = um_ir_callee(call);

	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (um_ir_starts_with(callee, renamed[i].from)) {
			replace_call(module, call, &renamed[i]);
			return 0;
		}
	if (um_ir_starts_with(callee, "llvm.amdgcn."))
		return um_ir_fail(UM_ENOTSUP, call, "%s has no meaning without an AMD GPU", callee);
	return 0;
}

/* llvm.trap and llvm.debugtrap would kill the program; a kernel that fails ends its launch. */
static void replace_trap(LLVMModuleRef module, LLVMValueRef call)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
	LLVMValueRef trap = um_ir_function(module, "um_trap", type);

	LLVMPositionBuilderBefore(builder, call);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
	LLVMBuildCall2(builder, type, trap, NULL, 0, "");
	LLVMInstructionEraseFromParent(call);
	LLVMDisposeBuilder(builder);
}

/* `name` without its body; what it was goes with the next dead-code elimination. */
static LLVMValueRef replace_function(LLVMModuleRef module, const char *name)
{
	LLVMValueRef old = LLVMGetNamedFunction(module, name), new;

	if (!old)
		return NULL;
	LLVMSetValueName2(old, "um_replaced", 11);
	LLVMSetComdat(old, NULL);
	LLVMSetLinkage(old, LLVMInternalLinkage);
	new = LLVMAddFunction(module, name, LLVMGlobalGetValueType(old));
	LLVMReplaceAllUsesWith(old, new);
	return new;
}

/* Starts a body that is inlined everywhere. */
static LLVMBuilderRef start_body(LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

	LLVMSetLinkage(function, LLVMInternalLinkage);
	um_ir_add_function_attribute(function, "alwaysinline");
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
	return builder;
}

static void end_body(LLVMBuilderRef builder, LLVMValueRef result)
{
	LLVMBuildRet(builder, result);
	LLVMDisposeBuilder(builder);
}

static void define_direct(LLVMModuleRef module, const struct direct *d)
{
	LLVMValueRef function = LLVMGetNamedFunction(module, d->name), operands[4];
	LLVMValueRef intrinsic;
	LLVMBuilderRef builder;
	LLVMTypeRef type;

	if (!function || !LLVMIsDeclaration(function))
		return;
	type = LLVMTypeOf(LLVMGetParam(function, 0));
	intrinsic = LLVMGetIntrinsicDeclaration(
		module, LLVMLookupIntrinsicID(d->intrinsic, strlen(d->intrinsic)), &type, 1);
	builder = start_body(function);
	LLVMGetParams(function, operands);
	end_body(builder, LLVMBuildCall2(builder, LLVMGlobalGetValueType(intrinsic), intrinsic,
					 operands, LLVMCountParams(function), ""));
}

/* AMD's header copies byte by byte; as one operation it gets one hook and runs at full speed. */
static void define_memory_functions(LLVMModuleRef module)
{
	LLVMValueRef copy = replace_function(module, "_ZL6memcpyPvPKvm");
	LLVMValueRef set = replace_function(module, "_ZL6memsetPvim");
	LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
	LLVMBuilderRef builder;

	if (copy) {
		builder = start_body(copy);
		LLVMBuildMemCpy(builder, LLVMGetParam(copy, 0), 1, LLVMGetParam(copy, 1), 1,
				LLVMGetParam(copy, 2));
		end_body(builder, LLVMGetParam(copy, 0));
	}
	if (set) {
		builder = start_body(set);
		LLVMBuildMemSet(builder, LLVMGetParam(set, 0),
				LLVMBuildTrunc(builder, LLVMGetParam(set, 1), byte, ""),
				LLVMGetParam(set, 2), 1);
		end_body(builder, LLVMGetParam(set, 0));
	}
}

/* The header's own body answers -1 where the target is not amdgcn. */
static void define_wall_clock(LLVMModuleRef module)
{
	LLVMValueRef function = replace_function(module, "_Z12wall_clock64v"), clock;
	LLVMBuilderRef builder;

	if (!function)
		return;
	clock = um_ir_function(module, "um_clock", LLVMGlobalGetValueType(function));
	builder = start_body(function);
	end_body(builder,
		 LLVMBuildCall2(builder, LLVMGlobalGetValueType(clock), clock, NULL, 0, ""));
}

static void remove_attributes(LLVMValueRef call_or_function, bool is_call)
{
	/* AMD's header declares votes const, which lets one in a branch serve for another. */
	static const char *const wrong[] = {"readnone", "readonly", "willreturn", "speculatable"};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(wrong[i], strlen(wrong[i]));

		if (is_call)
			LLVMRemoveCallSiteEnumAttribute(call_or_function,
							LLVMAttributeFunctionIndex, kind);
		else
			LLVMRemoveEnumAttributeAtIndex(call_or_function, LLVMAttributeFunctionIndex,
						       kind);
	}
}

static bool is_vote(const char *name)
{
	return um_ir_starts_with(name, "__ockl_wf") || !strcmp(name, "__ockl_activelane_u32");
}

static bool is_wave_operation(const char *name)
{
	for (size_t i = 0; i < sizeof wave_operations / sizeof *wave_operations; i++)
		if (!strcmp(name, wave_operations[i]))
			return true;
	return false;
}

static void pin_call(LLVMValueRef call)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));

	if (is_vote(um_ir_callee(call)))
		remove_attributes(call, true);
	if (!is_wave_operation(um_ir_callee(call)))
		return;
	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
				 um_ir_attribute(context, "nomerge", 0));
	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
				 um_ir_attribute(context, "convergent", 0));
}

static void declare_functions(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	{
		const char *name = um_ir_name(f);

		if (is_vote(name))
			remove_attributes(f, false);
		if (is_wave_operation(name)) {
			um_ir_add_function_attribute(f, "convergent");
			um_ir_add_function_attribute(f, "nomerge");
			um_ir_add_function_attribute(f, "nounwind");
		}
		if (um_ir_starts_with(name, "um_") && LLVMIsDeclaration(f))
			um_ir_add_function_attribute(f, "nonlazybind");
	}
}

int um_ir_builtins(LLVMModuleRef module)
{
	int error;

	replace_function(module, "__assert_fail");
	replace_function(module, "__assertfail");
	replace_function(module, "__cxa_pure_virtual");
	replace_function(module, "__cxa_deleted_virtual");
	define_memory_functions(module);
	define_wall_clock(module);
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
		define_direct(module, &direct[i]);
	UM_IR_FOR_EACH_FUNCTION(f, module)
	UM_IR_FOR_EACH_BLOCK(b, f)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	{
		pin_call(i);
		if (!strcmp(um_ir_callee(i), "llvm.trap") ||
		    !strcmp(um_ir_callee(i), "llvm.debugtrap"))
			replace_trap(module, i);
		else if ((error = check_call(module, i)))
			return error;
	}
	declare_functions(module);
	return 0;
}
