/*
 * Functions whose bodies are not what AMD's headers give: intrinsics of the amdgcn target that
 * headers declare by their IR names, wave operations, and library functions that are one x86-64
 * instruction.
 */
#ifndef UM_IR_BUILTIN_H
#define UM_IR_BUILTIN_H

#include <llvm-c/Core.h>

int um_ir_builtins(LLVMModuleRef device);

#endif
