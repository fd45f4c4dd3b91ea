/*
 * Functions of hip_ext.h and of the grid_launch headers that AMD's library exports under C++ names:
 * here they are C with those names. References are pointers in the ABI.
 */
#ifndef UM_HIP_MANGLED_H
#define UM_HIP_MANGLED_H

#include "api.h"

/* hip_impl::hipLaunchKernelGGLImpl(unsigned long, dim3 const &, dim3 const &, unsigned, ...) */
UM_API hipError_t um_launch_ggl(
	uintptr_t stub, const dim3 *grid, const dim3 *block, uint32_t lds_bytes, hipStream_t stream,
	void **args) __asm__("_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv");

/* hipExtModuleLaunchKernel: sizes in work-items, not groups. */
UM_API hipError_t
um_ext_module_launch(hipFunction_t, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x,
		     uint32_t block_y, uint32_t block_z, size_t lds_bytes, hipStream_t, void **args,
		     void **extra, hipEvent_t start, hipEvent_t stop,
		     uint32_t flags) __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
					     "tjjjjjjmP12ihipStream_tPPvS4_"
					     "P11ihipEvent_tS6_j");

/* hipHccModuleLaunchKernel, the older name of the same. */
UM_API hipError_t um_hcc_module_launch(
	hipFunction_t, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x, uint32_t block_y,
	uint32_t block_z, size_t lds_bytes, hipStream_t, void **args, void **extra,
	hipEvent_t start, hipEvent_t stop) __asm__("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol"
						   "_tjjjjjjmP12ihipStream_tPPvS4_"
						   "P11ihipEvent_tS6_");

#endif
