/*
 * um_group.K(args, first, number): every lane of a group in one call, in order. Lanes that never
 * wait need no stacks of their own: the kernel becomes the body of a loop over them, in which what
 * all lanes have in common is computed once. Only in the plain module; a kernel that may wait, or
 * whose functions ask who they are, has no such entry.
 */
#include "ir_device.h"

#include "ir_names.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/InstCombine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm-c/Transforms/Scalar.h>
#include <llvm-c/Transforms/Utils.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How deep calls are followed; recursion ends here. */
enum { DEPTH_MAX = 16 };

/* struct um_lane, as 32-bit words. */
enum { THREAD = 0, GROUP = 3, BLOCK = 6, GRID = 9, LANE = 12, WAVE = 13, WORDS = 14 };

/* What returns without letting another lane run, though it touches memory; a '.' or '_' at the end
 * stands for all that begin so. */
static const char *const returns_at_once[] = {
	"llvm.",	  "um_atomic_", "um_clock", "um_fault", "um_device_malloc",
	"um_device_free", "sincos",	"sincosf",  "frexp",	"frexpf",
	"modf",		  "modff",	"remquo",   "remquof",	"memcpy",
	"memmove",	  "memset",
};

static bool is_listed(const char *name)
{
	for (unsigned i = 0; i < sizeof returns_at_once / sizeof *returns_at_once; i++) {
		const char *known = returns_at_once[i];
		char last = known[strlen(known) - 1];

		if (last == '.' || last == '_' ? um_ir_starts_with(name, known)
					       : !strcmp(name, known))
			return true;
	}
	return false;
}

static bool has_attribute(LLVMValueRef call, LLVMValueRef callee, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
	       LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind);
}

/* A function that waits for other lanes reads what they write. */
static bool is_pure(LLVMValueRef call, LLVMValueRef callee)
{
	return has_attribute(call, callee, "readnone") || has_attribute(call, callee, "readonly") ||
	       has_attribute(call, callee, "argmemonly");
}

static bool never_waits(LLVMValueRef function, int depth);

static bool call_never_waits(LLVMValueRef call, int depth)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const char *name = um_ir_callee(call);

	if (!*name || !LLVMIsAFunction(callee))
		return false;
	if (!strcmp(name, "um_self"))
		return !depth; /* deeper it would be asked of the runtime */
	if (!LLVMIsDeclaration(callee))
		return never_waits(callee, depth + 1);
	return is_listed(name) || is_pure(call, callee);
}

static bool never_waits(LLVMValueRef function, int depth)
{
	if (depth > DEPTH_MAX)
		return false;
	UM_IR_FOR_EACH_BLOCK(block, function)
	UM_IR_FOR_EACH_INSTRUCTION(i, block)
	{
		if (LLVMGetInstructionOpcode(i) == LLVMInvoke ||
		    LLVMGetInstructionOpcode(i) == LLVMCallBr)
			return false;
		if (LLVMIsACallInst(i) && !call_never_waits(i, depth))
			return false;
	}
	return true;
}

/* --- the loop --- */

struct loop {
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTypeRef word;
	LLVMValueRef function;
	LLVMValueRef self;   /* struct um_lane of the lane that runs */
	LLVMValueRef number; /* alloca: of the lane that runs */
};

static LLVMValueRef constant(const struct loop *l, unsigned value)
{
	return LLVMConstInt(l->word, value, false);
}

static LLVMValueRef word_at(const struct loop *l, LLVMValueRef base, unsigned word)
{
	LLVMValueRef index = constant(l, word);

	return LLVMBuildGEP2(l->builder, l->word, base, &index, 1, "");
}

static LLVMValueRef load(const struct loop *l, LLVMValueRef from)
{
	return LLVMBuildLoad2(l->builder, l->word, from, "");
}

static LLVMBasicBlockRef block(const struct loop *l)
{
	return LLVMAppendBasicBlockInContext(l->context, l->function, "");
}

static void begin(struct loop *l)
{
	LLVMValueRef first = LLVMGetParam(l->function, 1);

	LLVMPositionBuilderAtEnd(l->builder, block(l));
	l->self = LLVMBuildAlloca(l->builder, LLVMArrayType(l->word, WORDS), "");
	LLVMSetAlignment(l->self, 8);
	l->number = LLVMBuildAlloca(l->builder, l->word, "");
	for (unsigned word = GROUP; word < GRID + 3; word++)
		LLVMBuildStore(l->builder, load(l, word_at(l, first, word)),
			       word_at(l, l->self, word));
	LLVMBuildStore(l->builder, constant(l, 0), l->number);
}

static void run_lane(const struct loop *l, LLVMValueRef plain)
{
	LLVMValueRef call, args = LLVMGetParam(l->function, 0);
	LLVMValueRef number = load(l, l->number);

	LLVMBuildStore(l->builder, LLVMBuildAnd(l->builder, number, constant(l, 63), ""),
		       word_at(l, l->self, LANE));
	LLVMBuildStore(l->builder, LLVMBuildLShr(l->builder, number, constant(l, 6), ""),
		       word_at(l, l->self, WAVE));
	LLVMBuildStore(l->builder, number, LLVMGetParam(l->function, 2));
	call = LLVMBuildCall2(l->builder, LLVMGlobalGetValueType(plain), plain, &args, 1, "");
	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
				 um_ir_attribute(l->context, "alwaysinline", 0));
	LLVMBuildStore(l->builder, LLVMBuildAdd(l->builder, number, constant(l, 1), ""), l->number);
}

/* For each index of dimension `d`, and of those below. */
static void build_dimension(const struct loop *l, unsigned d, LLVMValueRef plain)
{
	LLVMBasicBlockRef turn = block(l), after = block(l);
	LLVMValueRef index = word_at(l, l->self, THREAD + d), next, more;

	LLVMBuildStore(l->builder, constant(l, 0), index);
	LLVMBuildBr(l->builder, turn);
	LLVMPositionBuilderAtEnd(l->builder, turn);
	if (d)
		build_dimension(l, d - 1, plain);
	else
		run_lane(l, plain);
	next = LLVMBuildAdd(l->builder, load(l, index), constant(l, 1), "");
	LLVMBuildStore(l->builder, next, index);
	more = LLVMBuildICmp(l->builder, LLVMIntULT, next, load(l, word_at(l, l->self, BLOCK + d)),
			     "");
	LLVMBuildCondBr(l->builder, more, turn, after);
	LLVMPositionBuilderAtEnd(l->builder, after);
}

static void copy_attributes(LLVMValueRef to, LLVMValueRef from)
{
	unsigned count = LLVMGetAttributeCountAtIndex(from, LLVMAttributeFunctionIndex);
	LLVMAttributeRef *attributes = calloc(count + 1u, sizeof *attributes);

	if (!attributes)
		return;
	LLVMGetAttributesAtIndex(from, LLVMAttributeFunctionIndex, attributes);
	for (unsigned i = 0; i < count; i++)
		LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, attributes[i]);
	free(attributes);
}

static LLVMValueRef declare_group(LLVMModuleRef module, LLVMValueRef plain)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef pointer = um_ir_pointer_type(context);
	LLVMTypeRef type =
		um_ir_function_type(LLVMVoidTypeInContext(context), 3, pointer, pointer, pointer);
	LLVMValueRef function;
	char *name = NULL;

	if (asprintf(&name, "um_group.%s", um_ir_name(plain) + strlen("um_plain.")) < 0)
		return NULL;
	function = LLVMAddFunction(module, name, type);
	free(name);
	copy_attributes(function, plain);
	for (unsigned parameter = 1; parameter <= 3; parameter++)
		LLVMAddAttributeAtIndex(function, parameter,
					um_ir_attribute(context, "noalias", 0));
	return function;
}

static bool build_group(LLVMModuleRef module, LLVMValueRef plain)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	struct loop l = {.context = context,
			 .builder = LLVMCreateBuilderInContext(context),
			 .word = LLVMInt32TypeInContext(context),
			 .function = declare_group(module, plain)};

	if (l.function) {
		begin(&l);
		build_dimension(&l, 2, plain);
		LLVMBuildRetVoid(l.builder);
	}
	LLVMDisposeBuilder(l.builder);
	return l.function;
}

/* --- the kernel in it --- */

static bool is_group(LLVMValueRef function)
{
	return um_ir_starts_with(um_ir_name(function), "um_group.");
}

/* False: the kernel could not become part of the loop. */
static bool tell_self(LLVMValueRef function)
{
	LLVMValueRef self = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));

	while (!LLVMIsAAllocaInst(self) || LLVMGetAlignment(self) != 8 ||
	       LLVMGetTypeKind(LLVMGetAllocatedType(self)) != LLVMArrayTypeKind ||
	       LLVMGetArrayLength(LLVMGetAllocatedType(self)) != WORDS)
		self = LLVMGetNextInstruction(self);
	UM_IR_FOR_EACH_BLOCK(b, function)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	{
		if (!LLVMIsACallInst(i))
			continue;
		if (um_ir_starts_with(um_ir_callee(i), "um_plain."))
			return false;
		if (strcmp(um_ir_callee(i), "um_self"))
			continue;
		LLVMReplaceAllUsesWith(i, self);
		LLVMInstructionEraseFromParent(i);
	}
	return true;
}

static void inline_kernels(LLVMModuleRef module)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(module, "always-inline", NULL, options);

	LLVMDisposePassBuilderOptions(options);
	LLVMConsumeError(error); /* a loop without its kernel is dropped */
}

/* Of these functions alone: others rely on the order of their blocks. */
static LLVMPassManagerRef loop_passes(LLVMModuleRef module)
{
	LLVMPassManagerRef passes = LLVMCreateFunctionPassManagerForModule(module);

	LLVMAddScalarReplAggregatesPass(passes);
	LLVMAddEarlyCSEPass(passes);
	LLVMAddInstructionCombiningPass(passes);
	LLVMAddCFGSimplificationPass(passes);
	LLVMAddLICMPass(passes);
	LLVMAddGVNPass(passes);
	LLVMAddDeadStoreEliminationPass(passes);
	LLVMAddInstructionCombiningPass(passes);
	LLVMAddCFGSimplificationPass(passes);
	LLVMInitializeFunctionPassManager(passes);
	return passes;
}

static void finish_loops(LLVMModuleRef module)
{
	LLVMPassManagerRef passes = loop_passes(module);
	LLVMValueRef next;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
		next = LLVMGetNextFunction(f);
		if (!is_group(f))
			continue;
		if (tell_self(f))
			LLVMRunFunctionPassManager(passes, f);
		else
			LLVMDeleteFunction(f);
	}
	LLVMFinalizeFunctionPassManager(passes);
	LLVMDisposePassManager(passes);
}

void um_ir_groups(LLVMModuleRef plain)
{
	bool any = false;

	UM_IR_FOR_EACH_FUNCTION(f, plain)
	if (um_ir_starts_with(um_ir_name(f), "um_plain.") && !LLVMIsDeclaration(f) &&
	    never_waits(f, 0))
		any |= build_group(plain, f);
	if (!any)
		return;
	inline_kernels(plain);
	finish_loops(plain);
}
