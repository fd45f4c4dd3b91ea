/*
 * Functions that HIP 5.2's headers do not declare, as ROCm's headers of the version in symbols_newer.def
 * have them. Where a HIP 6 type stands in one, it is that of hip6_types.h.
 */
#ifndef UM_API_NEWER_H
#define UM_API_NEWER_H

#include "api.h"
#include "hip6_types.h"

/* --- devices, errors --- */

UM_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t *, int device);
UM_API hipError_t hipGetDevicePropertiesR0600(struct um_properties_6 *, int device);
UM_API hipError_t hipChooseDeviceR0000(int *, const hipDeviceProp_t *);
UM_API hipError_t hipChooseDeviceR0600(int *, const struct um_properties_6 *);
UM_API hipError_t hipDeviceSetLimit(enum hipLimit_t, size_t value);
UM_API hipError_t hipExtGetLastError(void);
UM_API hipError_t hipDrvGetErrorName(hipError_t, const char **text);
UM_API hipError_t hipDrvGetErrorString(hipError_t, const char **text);

/* --- streams, events, launches --- */

UM_API hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t *);
UM_API hipError_t hipStreamGetId(hipStream_t, unsigned long long *);
UM_API hipError_t hipEventRecordWithFlags(hipEvent_t, hipStream_t, unsigned flags);
UM_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned grid_x, unsigned grid_y,
						   unsigned grid_z, unsigned block_x,
						   unsigned block_y, unsigned block_z,
						   unsigned lds_bytes, hipStream_t, void **args);
UM_API hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t x, uint32_t y, uint32_t z,
					   uint32_t block_x, uint32_t block_y, uint32_t block_z,
					   size_t lds_bytes, hipStream_t, void **args, void **extra,
					   hipEvent_t start, hipEvent_t stop, uint32_t flags);
UM_API hipError_t hipGetFuncBySymbol(hipFunction_t *, const void *stub);
/* hipDriverProcAddressQueryResult: 0 found, 1 not found. */
UM_API hipError_t hipGetProcAddress(const char *name, void **function, int hip_version,
				    uint64_t flags, int *result);

/* --- memory --- */

UM_API hipError_t hipPointerSetAttribute(const void *, hipPointer_attribute, hipDeviceptr_t);
/* By locations, which are of a type. */
UM_API hipError_t hipMemAdvise_v2(const void *, size_t bytes, hipMemoryAdvise, hipMemLocation);
UM_API hipError_t hipMemPrefetchAsync_v2(const void *, size_t bytes, hipMemLocation, unsigned flags,
					 hipStream_t);

/* --- graphs --- */

UM_API hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t);

/* --- of the thread's own stream, where the stream is NULL --- */

UM_API hipError_t hipMemsetAsync_spt(void *, int value, size_t bytes, hipStream_t);
UM_API hipError_t hipMemset2DAsync_spt(void *, size_t pitch, int value, size_t width, size_t height,
				       hipStream_t);
UM_API hipError_t hipMemset3DAsync_spt(hipPitchedPtr, int value, hipExtent, hipStream_t);
UM_API hipError_t hipMemcpy2DAsync_spt(void *, size_t, const void *, size_t, size_t, size_t,
				       hipMemcpyKind, hipStream_t);
UM_API hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms *, hipStream_t);
UM_API hipError_t hipMemcpyToSymbolAsync_spt(const void *, const void *, size_t, size_t,
					     hipMemcpyKind, hipStream_t);
UM_API hipError_t hipMemcpyFromSymbolAsync_spt(void *, const void *, size_t, size_t, hipMemcpyKind,
					       hipStream_t);
UM_API hipError_t hipGraphLaunch_spt(hipGraphExec_t, hipStream_t);
UM_API hipError_t hipStreamBeginCapture_spt(hipStream_t, hipStreamCaptureMode);
UM_API hipError_t hipStreamEndCapture_spt(hipStream_t, hipGraph_t *);
UM_API hipError_t hipStreamIsCapturing_spt(hipStream_t, hipStreamCaptureStatus *);
UM_API hipError_t hipStreamGetCaptureInfo_spt(hipStream_t, hipStreamCaptureStatus *,
					      unsigned long long *);
UM_API hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t, hipStreamCaptureStatus *,
						 unsigned long long *, hipGraph_t *,
						 const hipGraphNode_t **, size_t *);
UM_API hipError_t hipStreamAddCallback_spt(hipStream_t, hipStreamCallback_t, void *, unsigned);
UM_API hipError_t hipLaunchHostFunc_spt(hipStream_t, hipHostFn_t, void *);

#endif
