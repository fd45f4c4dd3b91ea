#include "ir_names.h"

#include "trace/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *um_ir_name(LLVMValueRef value)
{
	size_t length;

	return LLVMGetValueName2(value, &length);
}

const char *um_ir_callee(LLVMValueRef call)
{
	LLVMValueRef callee;

	if (!LLVMIsACallInst(call) && !LLVMIsAInvokeInst(call))
		return "";
	callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) ? um_ir_name(callee) : "";
}

bool um_ir_starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

LLVMAttributeRef um_ir_attribute(LLVMContextRef context, const char *name, uint64_t value)
{
	return LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
				       value);
}

void um_ir_add_function_attribute(LLVMValueRef function, const char *name)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));

	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				um_ir_attribute(context, name, 0));
}

LLVMValueRef um_ir_function(LLVMModuleRef module, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(module, name);

	return function ? function : LLVMAddFunction(module, name, type);
}

LLVMTypeRef um_ir_function_type(LLVMTypeRef result, unsigned count, LLVMTypeRef a, LLVMTypeRef b,
				LLVMTypeRef c)
{
	LLVMTypeRef parameters[] = {a, b, c};

	return LLVMFunctionType(result, parameters, count, false);
}

LLVMTypeRef um_ir_pointer_type(LLVMContextRef context)
{
	return LLVMPointerTypeInContext(context, 0);
}

int um_ir_fail(int code, LLVMValueRef instruction, const char *format, ...)
{
	unsigned length = 0;
	const char *file = LLVMGetDebugLocFilename(instruction, &length);
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
	char message[900];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	if (!file || !length)
		return um_fail(code, "error: in %s: %s", um_ir_name(LLVMGetBasicBlockParent(block)),
			       message);
	return um_fail(code, "%.*s:%u:%u: error: %s", (int)length, file,
		       LLVMGetDebugLocLine(instruction), LLVMGetDebugLocColumn(instruction),
		       message);
}
