/* Device code, prepared and with its entries, to an x86-64 code object. */
#ifndef UM_CODE_GENERATE_H
#define UM_CODE_GENERATE_H

#include "code_object.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

/* For x86-64, position-independent. Freed with LLVMDisposeTargetMachine(). 0, or UM_ENOTSUP. */
int um_code_machine(LLVMTargetMachineRef *out, const char *level);
/* Writes an ELF object. UM_EFORMAT for a module that is broken, UM_EIO. */
int um_code_emit(LLVMModuleRef, LLVMTargetMachineRef, char *path);
/* Optimises `device`, adds what ir_device.h lists, and links. Once in a process. */
int um_code_generate(LLVMModuleRef device, const struct um_code_object_request *);

#endif
