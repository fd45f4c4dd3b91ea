/*
 * From the device code of one translation unit, as clang's front end leaves it, to the two objects
 * of an x86-64 code object (device/device_abi.h): entries with hooks, entries without, one set of
 * variables.
 *
 *   um_ir_prepare      variables by address space, traps, intrinsics -> what x86-64 code can do
 *   um_ir_entries      um_hooked.K(args) for each kernel that the host launches
 *   um_ir_arguments    where a kernel's arguments lie in one buffer, as variables
 *   (-fgpu-rdc: so far for each source, then for all of them linked)
 *   um_ir_private      all but the entries hidden
 *   um_ir_optimise     LLVM's own pipeline, kept from merging what must stay apart
 *   um_ir_lockstep     lanes that talk through volatile LDS wait for one another
 *   um_ir_order        blocks in the order of paths, which wave operations rely on
 *   um_ir_exchange     lanes that talk through plain LDS wait for one another as well
 *   um_ir_reconverge   lanes that part in a turn of a loop meet before the next
 *   um_ir_keep_order   and the code generator keeps that order
 *   um_ir_yields       turns of waiting loops let others run
 *   um_ir_split        a second module um_plain.K, variables defined once
 *   um_ir_groups       and in it um_group.K, all lanes of a group, for kernels that never wait
 *   um_ir_lds          the bounds of LDS and each kernel's share, as variables
 *   um_ir_instrument   um_access() before each access that may be to memory of the host's
 *
 * The front end gives CUDA's memory spaces addresses spaces of their own
 * (-ffake-address-space-map, "FakeAddrSpaceMap" in clang's lib/Basic/TargetInfo.cpp).
 */
#ifndef UM_IR_DEVICE_H
#define UM_IR_DEVICE_H

#include "ir_stub.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <stdbool.h>

enum um_ir_space {
	UM_IR_SPACE_GENERIC = 0,
	UM_IR_SPACE_DEVICE = 7,
	UM_IR_SPACE_CONSTANT = 8,
	UM_IR_SPACE_SHARED = 9,
};

/* "O0" to "O3", "Os", "Oz". Each returns 0, or UM_EFORMAT, UM_ENOTSUP with the user's place. */
int um_ir_prepare(LLVMModuleRef device);
void um_ir_mark_hardware_atomics(LLVMModuleRef device); /* before functions are inlined */
/* An atomicrmw that an instruction of the hardware is to do: ir_atomic.c. */
bool um_ir_is_hardware_atomic(LLVMValueRef);
int um_ir_entries(LLVMModuleRef device, const struct um_stubs *);
void um_ir_private(LLVMModuleRef device);
/* Once in a process: it sets switches of LLVM, also for the code generator. */
int um_ir_optimise(LLVMModuleRef device, LLVMTargetMachineRef, const char *level);
void um_ir_lockstep(LLVMModuleRef device);
/* The lanes of the wave meet before the instruction. */
void um_ir_wait_before(LLVMModuleRef device, LLVMValueRef instruction);
void um_ir_order(LLVMModuleRef device);
void um_ir_exchange(LLVMModuleRef device);   /* after um_ir_lockstep and um_ir_order */
void um_ir_reconverge(LLVMModuleRef device); /* after um_ir_order */
void um_ir_keep_order(LLVMModuleRef device); /* after all that adds wave operations */
void um_ir_yields(LLVMModuleRef device);     /* after um_ir_order */
/* Out: the plain module; `device` keeps the variables and the hooked entries. */
LLVMModuleRef um_ir_split(LLVMModuleRef device);
/* um_group.K for each um_plain.K whose lanes never wait for one another. */
void um_ir_groups(LLVMModuleRef plain);
void um_ir_lds(LLVMModuleRef device); /* the module with the variables */
void um_ir_arguments(LLVMModuleRef device, const struct um_stubs *);
bool um_ir_is_static_lds(LLVMValueRef);
bool um_ir_is_lds(LLVMValueRef); /* or the runtime's dynamic LDS */
/* -fgpu-rdc: does the module define anything? */
bool um_ir_is_unit(LLVMModuleRef device);
/* Several units may have the entry of one template; the linked module has one, for everybody. */
void um_ir_share_entries(LLVMModuleRef unit);
void um_ir_export_entries(LLVMModuleRef linked);
/* UM_ELIMIT when there are more instructions than a descriptor can number. */
int um_ir_instrument(LLVMModuleRef device);

#endif
