/* HIP's language for nvcc: CUDA has nearly all of it. What differs is here. */
#ifndef UM_NVIDIA_HIP_RUNTIME_H
#define UM_NVIDIA_HIP_RUNTIME_H

#include "hip_runtime_api.h"

#include <cuda_fp16.h>

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x  blockIdx.x
#define hipBlockIdx_y  blockIdx.y
#define hipBlockIdx_z  blockIdx.z
#define hipBlockDim_x  blockDim.x
#define hipBlockDim_y  blockDim.y
#define hipBlockDim_z  blockDim.z
#define hipGridDim_x   gridDim.x
#define hipGridDim_y   gridDim.y
#define hipGridDim_z   gridDim.z

#define HIP_KERNEL_NAME(...)	      __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];

#define hipLaunchKernelGGL(kernel, grid, block, lds_bytes, stream, ...)                            \
	do {                                                                                       \
		kernel<<<(grid), (block), (lds_bytes), (stream)>>>(__VA_ARGS__);                   \
	} while (0)

/*
 * HIP's wave operations name no lanes: all of the warp that are active. A ballot has 64 bits, as
 * HIP's has, of which a warp fills 32. CUDA's own functions of these names are not for today's
 * devices; names are replaced, not calls, so that a class of the same name elsewhere stays whole.
 */
#ifdef __CUDACC__
static __device__ inline unsigned long long um_hip_ballot(int predicate)
{
	return __ballot_sync(__activemask(), predicate);
}
static __device__ inline int um_hip_any(int predicate)
{
	return __any_sync(__activemask(), predicate);
}
static __device__ inline int um_hip_all(int predicate)
{
	return __all_sync(__activemask(), predicate);
}
template <class T> static __device__ inline T um_hip_shfl(T value, int lane, int width = 32)
{
	return __shfl_sync(__activemask(), value, lane, width);
}
template <class T>
static __device__ inline T um_hip_shfl_up(T value, unsigned delta, int width = 32)
{
	return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T>
static __device__ inline T um_hip_shfl_down(T value, unsigned delta, int width = 32)
{
	return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ inline T um_hip_shfl_xor(T value, int mask, int width = 32)
{
	return __shfl_xor_sync(__activemask(), value, mask, width);
}
#define __ballot    um_hip_ballot
#define __any	    um_hip_any
#define __all	    um_hip_all
#define __shfl	    um_hip_shfl
#define __shfl_up   um_hip_shfl_up
#define __shfl_down um_hip_shfl_down
#define __shfl_xor  um_hip_shfl_xor

static __device__ inline unsigned um_hip_lane(void)
{
	unsigned lane;

	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	return lane;
}
#define __lane_id um_hip_lane

static __device__ inline long long wall_clock64(void)
{
	long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

template <class T> static __device__ inline T unsafeAtomicAdd(T *address, T value)
{
	return atomicAdd(address, value);
}
#endif

#endif
