/* Small helpers that the C API of LLVM lacks. */
#ifndef UM_IR_NAMES_H
#define UM_IR_NAMES_H

#include <llvm-c/Core.h>

#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>

#include <stdbool.h>

/* Iterates over every instruction of a module's functions; `next` is taken first, so the body may
 * delete the instruction. */
#define UM_IR_FOR_EACH_FUNCTION(f, module)                                                         \
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
#define UM_IR_FOR_EACH_BLOCK(b, function)                                                          \
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;                            \
	     b = LLVMGetNextBasicBlock(b))
#define UM_IR_FOR_EACH_INSTRUCTION(i, block)                                                       \
	for (LLVMValueRef i = LLVMGetFirstInstruction(block),                                      \
			  i##_next = i ? LLVMGetNextInstruction(i) : NULL;                         \
	     i; i = i##_next, i##_next = i ? LLVMGetNextInstruction(i) : NULL)

const char *um_ir_name(LLVMValueRef);
/* The name of the function that `call` calls directly, else "". */
const char *um_ir_callee(LLVMValueRef call);
bool um_ir_starts_with(const char *text, const char *prefix);
LLVMAttributeRef um_ir_attribute(LLVMContextRef, const char *name, uint64_t value);
void um_ir_add_function_attribute(LLVMValueRef function, const char *name);
/* The function, declared when it is not there. */
LLVMValueRef um_ir_function(LLVMModuleRef, const char *name, LLVMTypeRef type);
LLVMTypeRef um_ir_function_type(LLVMTypeRef result, unsigned count, LLVMTypeRef a, LLVMTypeRef b,
				LLVMTypeRef c);
LLVMTypeRef um_ir_pointer_type(LLVMContextRef);
/* um_fail() with "FILE:LINE:COLUMN: error: " of the source in front, where it is known. */
int um_ir_fail(int code, LLVMValueRef instruction, const char *format, ...)
	__attribute__((format(printf, 3, 4), cold));

#endif
