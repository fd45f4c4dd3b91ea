/* The host half: the bundle of code objects goes where clang's registration code looks for it. */
#ifndef UM_IR_HOST_H
#define UM_IR_HOST_H

#include <llvm-c/Core.h>

#include <stddef.h>
#include <stdint.h>

/*
 * With -fgpu-rdc each host object carries the device code of its source in a section that no linker
 * keeps but for `ld -r`: heads with LLVM bitcode behind them, each padded to a multiple of a head.
 */
#define UM_UNIT_SECTION "um_device_units"
#define UM_UNIT_MAGIC	UINT64_C(0x31746e7564756d75) /* "umudunt1" */

struct um_unit_head {
	uint64_t magic;
	uint64_t bytes; /* of the bitcode that follows */
};

/* Defines @__hip_fatbin. No effect in a module without kernels or device variables. */
void um_ir_embed(LLVMModuleRef host, const void *bundle, size_t bytes);
/* The same in a module of its own, for all units of a program. */
void um_ir_define_fat_binary(LLVMModuleRef, const void *bundle, size_t bytes);
/* Adds what um_code_units_link() takes. */
void um_ir_embed_unit(LLVMModuleRef host, const void *unit, size_t bytes);
/* Does this module register anything with the HIP runtime? */
int um_ir_has_device_code(LLVMModuleRef host);

#endif
