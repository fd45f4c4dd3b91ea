#include "ir_names.h"

#include <llvm-c/DebugInfo.h>

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

const char *um_ir_place(LLVMValueRef instruction, char *buffer, size_t capacity)
{
	unsigned directory_length = 0, file_length = 0;
	const char *file = LLVMGetDebugLocFilename(instruction, &file_length);
	const char *directory = LLVMGetDebugLocDirectory(instruction, &directory_length);
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);

	(void)directory;
	if (file && file_length)
		snprintf(buffer, capacity, "%.*s:%u", (int)file_length, file,
			 LLVMGetDebugLocLine(instruction));
	else
		snprintf(buffer, capacity, "%s", um_ir_name(LLVMGetBasicBlockParent(block)));
	return buffer;
}
