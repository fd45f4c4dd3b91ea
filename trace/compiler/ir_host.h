/* The host half: the bundle of code objects goes where clang's registration code looks for it. */
#ifndef UM_IR_HOST_H
#define UM_IR_HOST_H

#include <llvm-c/Core.h>

#include <stddef.h>

/* Defines @__hip_fatbin. No effect in a module without kernels or device variables. */
void um_ir_embed(LLVMModuleRef host, const void *bundle, size_t bytes);
/* Does this module register anything with the HIP runtime? */
int um_ir_has_device_code(LLVMModuleRef host);

#endif
