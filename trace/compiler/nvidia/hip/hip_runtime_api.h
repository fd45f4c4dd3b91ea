/*
 * HIP's names for CUDA's runtime, as far as programs with managed memory use them: for nvcc of CUDA
 * 12 and 13. What differs in more than the name is translated here. Not here: modules, textures and
 * surfaces, memory shared between processes, virtual memory management, nodes' edges of graphs.
 */
#ifndef UM_NVIDIA_HIP_RUNTIME_API_H
#define UM_NVIDIA_HIP_RUNTIME_API_H

#include <cuda_runtime.h>

#if CUDART_VERSION < 12000
#error "umhipcc --nvidia needs CUDA 12 or later"
#endif

#include "hip_version.h"
#include "nvidia_names.h"

#include <stddef.h>
#include <stdio.h>

#ifndef __cplusplus /* HIP's types need no keyword in C */
typedef enum cudaComputeMode cudaComputeMode;
typedef enum cudaDeviceAttr cudaDeviceAttr;
typedef enum cudaDeviceP2PAttr cudaDeviceP2PAttr;
typedef enum cudaFuncAttribute cudaFuncAttribute;
typedef enum cudaFuncCache cudaFuncCache;
typedef enum cudaLimit cudaLimit;
typedef enum cudaMemcpyKind cudaMemcpyKind;
typedef enum cudaMemoryAdvise cudaMemoryAdvise;
typedef enum cudaMemoryType cudaMemoryType;
typedef enum cudaMemPoolAttr cudaMemPoolAttr;
typedef enum cudaMemRangeAttribute cudaMemRangeAttribute;
typedef enum cudaStreamCaptureMode cudaStreamCaptureMode;
typedef enum cudaStreamCaptureStatus cudaStreamCaptureStatus;
typedef struct cudaFuncAttributes cudaFuncAttributes;
typedef struct cudaMemcpy3DParms cudaMemcpy3DParms;
typedef struct cudaPointerAttributes cudaPointerAttributes;
#endif

/* The value of a parameter that may be left out in C++. */
#ifdef __cplusplus
#define UM_HIP_DEFAULT(value) = value
#else
#define UM_HIP_DEFAULT(value)
#endif

#define HIP_SYMBOL(name) name

/* --- advice and prefetches --- */

/* Advice that CUDA does not have: hipMemAdvise() refuses it. */
#define hipMemAdviseSetCoarseGrain   ((cudaMemoryAdvise)100)
#define hipMemAdviseUnsetCoarseGrain ((cudaMemoryAdvise)101)

#if CUDART_VERSION >= 13000
/* CUDA 13 takes a place with its kind where HIP and CUDA 12 take a device or -1. */
static inline struct cudaMemLocation um_hip_location(int device)
{
	struct cudaMemLocation location;

	location.type =
		device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	location.id = device == cudaCpuDeviceId ? 0 : device;
	return location;
}
#endif

static inline cudaError_t hipMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice,
				       int device)
{
	if (advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain)
		return cudaErrorInvalidValue;
#if CUDART_VERSION >= 13000
	return cudaMemAdvise(memory, bytes, advice, um_hip_location(device));
#else
	return cudaMemAdvise(memory, bytes, advice, device);
#endif
}

static inline cudaError_t hipMemPrefetchAsync(const void *memory, size_t bytes, int device,
					      cudaStream_t stream UM_HIP_DEFAULT(0))
{
#if CUDART_VERSION >= 13000
	return cudaMemPrefetchAsync(memory, bytes, um_hip_location(device), 0, stream);
#else
	return cudaMemPrefetchAsync(memory, bytes, device, stream);
#endif
}

static inline cudaError_t hipMemRangeGetAttribute(void *data, size_t data_bytes,
						  cudaMemRangeAttribute attribute,
						  const void *memory, size_t bytes)
{
	/* Not const before CUDA 13. */
	return cudaMemRangeGetAttribute(data, data_bytes, attribute, (void *)memory, bytes);
}

static inline cudaError_t
hipStreamAttachMemAsync(cudaStream_t stream, void *memory, size_t bytes UM_HIP_DEFAULT(0),
			unsigned flags UM_HIP_DEFAULT(cudaMemAttachSingle))
{
	return cudaStreamAttachMemAsync(stream, memory, bytes, flags);
}

/* --- memory --- */

/* HIP's ways to ask for memory that both may access at once: pinned memory is, under CUDA. */
#define hipHostMallocNumaUser	 0
#define hipHostMallocCoherent	 0
#define hipHostMallocNonCoherent 0
#define hipHostAlloc		 hipHostMalloc

static inline cudaError_t um_hip_host_malloc(void **memory, size_t bytes, unsigned flags)
{
	return cudaHostAlloc(memory, bytes, flags);
}
#ifdef __cplusplus
template <class T>
static inline cudaError_t hipHostMalloc(T **memory, size_t bytes, unsigned flags = 0)
{
	return um_hip_host_malloc((void **)memory, bytes, flags);
}
#else
#define hipHostMalloc um_hip_host_malloc
#endif

static inline cudaError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes,
					      cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, stream);

	return error ? error : cudaStreamSynchronize(stream);
}

/* --- devices --- */

static inline cudaError_t hipInit(unsigned flags)
{
	int devices;

	return flags ? cudaErrorInvalidValue : cudaGetDeviceCount(&devices);
}

#ifdef __cplusplus
/* What HIP tells of a device, and CUDA 13 by attributes only. */
struct hipDeviceProp_t : cudaDeviceProp {
#if CUDART_VERSION >= 13000
	int clockRate, memoryClockRate; /* kHz */
	int computeMode, kernelExecTimeoutEnabled;
#endif
	int clockInstructionRate; /* kHz */
	char gcnArchName[256];	  /* "sm_90" */
	size_t maxSharedMemoryPerMultiProcessor;
};

static inline cudaError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device)
{
	cudaError_t error = cudaGetDeviceProperties(properties, device);

	if (error)
		return error;
#if CUDART_VERSION >= 13000
	const struct {
		cudaDeviceAttr attribute;
		int *value;
	} rows[] = {{cudaDevAttrClockRate, &properties->clockRate},
		    {cudaDevAttrMemoryClockRate, &properties->memoryClockRate},
		    {cudaDevAttrComputeMode, &properties->computeMode},
		    {cudaDevAttrKernelExecTimeout, &properties->kernelExecTimeoutEnabled}};

	for (int i = 0; i < 4 && !error; i++)
		error = cudaDeviceGetAttribute(rows[i].value, rows[i].attribute, device);
#endif
	properties->clockInstructionRate = properties->clockRate;
	properties->maxSharedMemoryPerMultiProcessor = properties->sharedMemPerMultiprocessor;
	snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "sm_%d%d",
		 properties->major, properties->minor);
	return error;
}
#else
#define hipDeviceProp_t	       struct cudaDeviceProp
#define hipGetDeviceProperties cudaGetDeviceProperties
#endif

#endif
