/*
 * Types of HIP 6 and 7 that have a HIP 5 name and another layout, and constants of theirs. Members,
 * order and numbers are those of the public headers that hip_headers.h names; hip6_types_test holds
 * the offsets that a compiler gave there.
 */
#ifndef UM_HIP6_TYPES_H
#define UM_HIP6_TYPES_H

#include <hip/hip_runtime_api.h>

/* hipDeviceProp_t from 6.0 on, which its headers also call hipDeviceProp_tR0600. */
struct um_properties_6 {
	char name[256];
	hipUUID uuid;
	char luid[8];
	unsigned luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
	int canMapHostMemory, computeMode;
	int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
	int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
	int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
	int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
	int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
	int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
	int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
	int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
	int globalL1CacheSupported, localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
	int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
	int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
	int cooperativeLaunch, cooperativeMultiDeviceLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
	unsigned gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned memoryPoolSupportedHandleTypes;
	int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch;
	int unifiedFunctionPointers, reserved[63], hipReserved[32];
	char gcnArchName[256];
	size_t maxSharedMemoryPerMultiProcessor;
	int clockInstructionRate;
	hipDeviceArch_t arch;
	unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
	int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
	int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
	int isLargeBar, asicRevision;
};

/* hipMemoryType from 6.0 on. */
enum um_memory_type_6 {
	UM_MEMORY_TYPE_6_UNREGISTERED = 0,
	UM_MEMORY_TYPE_6_HOST = 1,
	UM_MEMORY_TYPE_6_DEVICE = 2,
	UM_MEMORY_TYPE_6_MANAGED = 3,
	UM_MEMORY_TYPE_6_ARRAY = 10,
	UM_MEMORY_TYPE_6_UNIFIED = 11,
};

/* HIP_MEMCPY3D from 6.0 on. */
struct um_memcpy_3d_6 {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	unsigned srcMemoryType;
	const void *srcHost;
	hipDeviceptr_t srcDevice;
	void *srcArray;
	size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
	unsigned dstMemoryType;
	void *dstHost;
	hipDeviceptr_t dstDevice;
	void *dstArray;
	size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

/* hipMemAllocationProp from 6.0 on. */
struct um_allocation_prop_6 {
	hipMemAllocationType type;
	hipMemAllocationHandleType requestedHandleType;
	hipMemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType, gpuDirectRDMACapable;
		unsigned short usage;
	} allocFlags;
};

/* hipMemsetParams from 7.0 on. */
struct um_memset_params_7 {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
};

/* hipMemLocationType of 7: 5.2 has hipMemLocationTypeDevice alone. */
enum {
	UM_LOCATION_7_HOST = 2,
	UM_LOCATION_7_HOST_NUMA = 3,
	UM_LOCATION_7_HOST_NUMA_CURRENT = 4,
};

#endif
