/*
 * Hooks. An access gets one unless it can be seen to touch the lane's own stack, a variable of the
 * code object (LDS, __device__, __constant__), the lane's identity or the kernel's parameters.
 */
#include "ir_device.h"

#include "device/device_abi.h"
#include "ir_names.h"
#include "ir_pointer.h"
#include "trace/base/error.h"

#include <string.h>

enum { INSTRUCTIONS_MAX = 1 << 22, PHI_DEPTH_MAX = 6 };

struct instrumenter {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTargetDataRef layout;
	LLVMBuilderRef builder;
	LLVMTypeRef access_type, range_type;
	LLVMValueRef access, range;
	unsigned next; /* instruction number */
};

/* The argument of an entry: the array of pointers to parameters. */
static bool is_entry_args(LLVMValueRef v)
{
	return LLVMIsAArgument(v) &&
	       um_ir_starts_with(um_ir_name(LLVMGetParamParent(v)), "um_hooked.");
}

static bool is_ours(LLVMValueRef pointer, LLVMTargetDataRef layout, int depth);

static bool all_operands_ours(LLVMValueRef v, unsigned first, unsigned count,
			      LLVMTargetDataRef layout, int depth)
{
	for (unsigned i = first; i < first + count; i++)
		if (!is_ours(LLVMGetOperand(v, i), layout, depth + 1))
			return false;
	return true;
}

/* Known not to be memory that the host could have allocated. */
static bool is_ours(LLVMValueRef pointer, LLVMTargetDataRef layout, int depth)
{
	LLVMValueRef base = um_ir_address(pointer, layout).base;

	if (depth > PHI_DEPTH_MAX)
		return false;
	if (LLVMIsAAllocaInst(base) || LLVMIsAGlobalVariable(base) || is_entry_args(base))
		return true;
	if (!strcmp(um_ir_callee(base), "um_self"))
		return true;
	if (LLVMIsALoadInst(base))
		return is_entry_args(um_ir_address(LLVMGetOperand(base, 0), layout).base);
	if (LLVMIsASelectInst(base))
		return all_operands_ours(base, 1, 2, layout, depth);
	if (LLVMIsAPHINode(base))
		return all_operands_ours(base, 0, LLVMCountIncoming(base), layout, depth);
	return false;
}

static void call_hook(struct instrumenter *m, LLVMValueRef before, LLVMValueRef pointer,
		      LLVMValueRef bytes, enum um_access_kind kind)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(m->context);
	LLVMTypeRef generic = um_ir_pointer_type(m->context);
	uint64_t known = LLVMIsAConstantInt(bytes) ? LLVMConstIntGetZExtValue(bytes) : 0;
	bool one = known && known <= 16;
	LLVMValueRef descriptor = LLVMConstInt(i32, UM_ACCESS(one ? known : 0, kind, m->next++), 0);

	LLVMPositionBuilderBefore(m->builder, before);
	LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(before));
	if (LLVMTypeOf(pointer) != generic)
		pointer = LLVMBuildAddrSpaceCast(m->builder, pointer, generic, "");
	if (one) {
		LLVMBuildCall2(m->builder, m->access_type, m->access,
			       (LLVMValueRef[]){pointer, descriptor}, 2, "");
		return;
	}
	bytes = LLVMBuildZExtOrBitCast(m->builder, bytes, i64, "");
	LLVMBuildCall2(m->builder, m->range_type, m->range,
		       (LLVMValueRef[]){pointer, bytes, descriptor}, 3, "");
}

static void hook(struct instrumenter *m, LLVMValueRef i, LLVMValueRef pointer, LLVMValueRef bytes,
		 enum um_access_kind kind)
{
	if (!is_ours(pointer, m->layout, 0))
		call_hook(m, i, pointer, bytes, kind);
}

static LLVMValueRef type_bytes(struct instrumenter *m, LLVMTypeRef type)
{
	return LLVMConstInt(LLVMInt64TypeInContext(m->context),
			    LLVMStoreSizeOfType(m->layout, type), 0);
}

/* Calls that read or write memory through a pointer that they are given. */
static void instrument_call(struct instrumenter *m, LLVMValueRef i)
{
	const char *callee = um_ir_callee(i);

	if (um_ir_starts_with(callee, "llvm.memcpy.") ||
	    um_ir_starts_with(callee, "llvm.memmove.")) {
		hook(m, i, LLVMGetOperand(i, 1), LLVMGetOperand(i, 2), UM_ACCESS_READ);
		hook(m, i, LLVMGetOperand(i, 0), LLVMGetOperand(i, 2), UM_ACCESS_WRITE);
	} else if (um_ir_starts_with(callee, "llvm.memset.")) {
		hook(m, i, LLVMGetOperand(i, 0), LLVMGetOperand(i, 2), UM_ACCESS_WRITE);
	} else if (um_ir_starts_with(callee, "um_atomic_")) {
		/* um_atomic_*(address, value): device/atomic.c */
		hook(m, i, LLVMGetOperand(i, 0), type_bytes(m, LLVMTypeOf(LLVMGetOperand(i, 1))),
		     UM_ACCESS_ATOMIC);
	}
}

/* By the type: what is exchanged through a floating-point pointer is none (its bits are swapped). */
static enum um_access_kind atomic_kind(LLVMValueRef i)
{
	switch (LLVMGetTypeKind(LLVMTypeOf(i))) {
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		break;
	default:
		return UM_ACCESS_ATOMIC;
	}
	if (LLVMGetAtomicRMWBinOp(i) == LLVMAtomicRMWBinOpXchg)
		return UM_ACCESS_ATOMIC;
	return um_ir_is_hardware_atomic(i) ? UM_ACCESS_ATOMIC_HARDWARE : UM_ACCESS_ATOMIC_FLOAT;
}

static void instrument(struct instrumenter *m, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		hook(m, i, LLVMGetOperand(i, 0), type_bytes(m, LLVMTypeOf(i)), UM_ACCESS_READ);
		break;
	case LLVMStore:
		hook(m, i, LLVMGetOperand(i, 1), type_bytes(m, LLVMTypeOf(LLVMGetOperand(i, 0))),
		     UM_ACCESS_WRITE);
		break;
	case LLVMAtomicRMW:
		hook(m, i, LLVMGetOperand(i, 0), type_bytes(m, LLVMTypeOf(i)), atomic_kind(i));
		break;
	case LLVMAtomicCmpXchg:
		hook(m, i, LLVMGetOperand(i, 0), type_bytes(m, LLVMTypeOf(LLVMGetOperand(i, 1))),
		     UM_ACCESS_ATOMIC);
		break;
	case LLVMCall:
		instrument_call(m, i);
		break;
	default:
		break;
	}
}

static void declare_hooks(struct instrumenter *m)
{
	LLVMTypeRef nothing = LLVMVoidTypeInContext(m->context);
	LLVMTypeRef pointer = um_ir_pointer_type(m->context);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(m->context);

	m->access_type = um_ir_function_type(nothing, 2, pointer, i32, NULL);
	m->range_type = um_ir_function_type(nothing, 3, pointer, i64, i32);
	m->access = um_ir_function(m->module, "um_access", m->access_type);
	m->range = um_ir_function(m->module, "um_access_range", m->range_type);
	um_ir_add_function_attribute(m->access, "nounwind");
	um_ir_add_function_attribute(m->range, "nounwind");
	/* Through the GOT: a procedure linkage stub costs a jump at every access. */
	um_ir_add_function_attribute(m->access, "nonlazybind");
	um_ir_add_function_attribute(m->range, "nonlazybind");
}

int um_ir_instrument(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	struct instrumenter m = {.module = module,
				 .context = context,
				 .layout = LLVMGetModuleDataLayout(module),
				 .builder = LLVMCreateBuilderInContext(context)};

	declare_hooks(&m);
	UM_IR_FOR_EACH_FUNCTION(f, module)
	UM_IR_FOR_EACH_BLOCK(b, f)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	instrument(&m, i);
	LLVMDisposeBuilder(m.builder);
	if (m.next > INSTRUCTIONS_MAX)
		return um_fail(UM_ELIMIT,
			       "%u accesses in the device code of one source file; %d can be told "
			       "apart: split the file",
			       m.next, INSTRUCTIONS_MAX);
	return 0;
}
