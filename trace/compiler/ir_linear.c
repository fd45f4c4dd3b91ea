#include "ir_linear.h"

/* Sums and products are followed so deep; what lies deeper is a value of its own. */
enum { DEPTH_MAX = 6 };

static void add_value(struct um_ir_linear *l, LLVMValueRef value, int64_t scale)
{
	for (unsigned i = 0; i < l->count; i++) {
		if (l->terms[i].value != value)
			continue;
		l->terms[i].scale_bytes += scale;
		if (!l->terms[i].scale_bytes)
			l->terms[i] = l->terms[--l->count];
		return;
	}
	if (l->count == UM_IR_TERMS_MAX)
		l->exact = false;
	else if (scale)
		l->terms[l->count++] = (struct um_ir_term){value, scale};
}

static bool constant_operand(LLVMValueRef value, unsigned operand, int64_t *out)
{
	LLVMValueRef constant = LLVMGetOperand(value, operand);

	if (!LLVMIsAConstantInt(constant))
		return false;
	*out = LLVMConstIntGetSExtValue(constant);
	return true;
}

/* x << 3 | 5: what LLVM makes of a sum of these. */
static bool is_sum_by_or(LLVMValueRef value)
{
	LLVMValueRef left = LLVMGetOperand(value, 0);
	int64_t shift, constant;

	return LLVMIsAInstruction(left) && LLVMGetInstructionOpcode(left) == LLVMShl &&
	       constant_operand(left, 1, &shift) && constant_operand(value, 1, &constant) &&
	       shift >= 0 && shift < 32 && constant >= 0 && constant < (int64_t)1 << shift;
}

static void add_index(struct um_ir_linear *l, LLVMValueRef value, int64_t scale, int depth)
{
	LLVMOpcode opcode = LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMRet;
	int64_t constant;

	if (LLVMIsAConstantInt(value)) {
		l->offset_bytes += LLVMConstIntGetSExtValue(value) * scale;
	} else if (depth == DEPTH_MAX) {
		add_value(l, value, scale);
	} else if (opcode == LLVMZExt || opcode == LLVMSExt) {
		add_index(l, LLVMGetOperand(value, 0), scale, depth + 1);
	} else if (opcode == LLVMAdd || opcode == LLVMSub ||
		   (opcode == LLVMOr && is_sum_by_or(value))) {
		add_index(l, LLVMGetOperand(value, 0), scale, depth + 1);
		add_index(l, LLVMGetOperand(value, 1), opcode == LLVMSub ? -scale : scale,
			  depth + 1);
	} else if (opcode == LLVMMul && constant_operand(value, 1, &constant)) {
		add_index(l, LLVMGetOperand(value, 0), scale * constant, depth + 1);
	} else if (opcode == LLVMShl && constant_operand(value, 1, &constant) && constant < 32) {
		add_index(l, LLVMGetOperand(value, 0), scale * ((int64_t)1 << constant), depth + 1);
	} else {
		add_value(l, value, scale);
	}
}

static void add_indices(struct um_ir_linear *l, LLVMValueRef gep, LLVMTargetDataRef layout)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);

		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);

			l->offset_bytes += (int64_t)LLVMOffsetOfElement(layout, type, member);
			type = LLVMStructGetTypeAtIndex(type, member);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		add_index(l, index, (int64_t)LLVMABISizeOfType(layout, type), 0);
	}
}

static LLVMOpcode step_of(LLVMValueRef value)
{
	if (LLVMIsAInstruction(value))
		return LLVMGetInstructionOpcode(value);
	return LLVMIsAConstantExpr(value) ? LLVMGetConstOpcode(value) : LLVMRet;
}

struct um_ir_linear um_ir_linear(LLVMValueRef pointer, LLVMTargetDataRef layout)
{
	struct um_ir_linear l = {.base = pointer, .exact = true};

	for (;;) {
		LLVMOpcode step = step_of(l.base);

		if (step == LLVMGetElementPtr)
			add_indices(&l, l.base, layout);
		else if (step != LLVMBitCast && step != LLVMAddrSpaceCast)
			return l;
		l.base = LLVMGetOperand(l.base, 0);
	}
}

static bool has_term(const struct um_ir_linear *l, struct um_ir_term term)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->terms[i].value == term.value)
			return l->terms[i].scale_bytes == term.scale_bytes;
	return false;
}

bool um_ir_linear_same_terms(const struct um_ir_linear *a, const struct um_ir_linear *b)
{
	if (!a->exact || !b->exact || a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (!has_term(b, a->terms[i]))
			return false;
	return true;
}
