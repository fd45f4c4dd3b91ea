/*
 * Devices and errors of HIP 5.3 to 7. Whoever asks for properties as HIP 6 has them was compiled with
 * its headers, however it was linked.
 */
#include "api_newer.h"

#include "device_properties.h"
#include "hip_headers.h"

#include <string.h>

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t *out, int device)
{
	UM_ENTER();
	return um_leave(hipGetDeviceProperties(out, device));
}

hipError_t hipChooseDeviceR0000(int *out, const hipDeviceProp_t *wanted)
{
	UM_ENTER();
	return um_leave(hipChooseDevice(out, wanted));
}

static void copy_limits(struct um_properties_6 *out, const hipDeviceProp_t *p)
{
	out->totalGlobalMem = p->totalGlobalMem;
	out->sharedMemPerBlock = p->sharedMemPerBlock;
	out->sharedMemPerBlockOptin = p->sharedMemPerBlock;
	out->sharedMemPerMultiprocessor = p->maxSharedMemoryPerMultiProcessor;
	out->maxSharedMemoryPerMultiProcessor = p->maxSharedMemoryPerMultiProcessor;
	out->regsPerBlock = p->regsPerBlock;
	out->regsPerMultiprocessor = p->regsPerBlock;
	out->warpSize = p->warpSize;
	out->memPitch = p->memPitch;
	out->maxThreadsPerBlock = p->maxThreadsPerBlock;
	memcpy(out->maxThreadsDim, p->maxThreadsDim, sizeof(out->maxThreadsDim));
	memcpy(out->maxGridSize, p->maxGridSize, sizeof(out->maxGridSize));
	out->totalConstMem = p->totalConstMem;
	out->maxThreadsPerMultiProcessor = p->maxThreadsPerMultiProcessor;
	out->textureAlignment = p->textureAlignment;
	out->texturePitchAlignment = p->texturePitchAlignment;
}

static void copy_description(struct um_properties_6 *out, const hipDeviceProp_t *p)
{
	memcpy(out->name, p->name, sizeof(out->name));
	memcpy(out->gcnArchName, p->gcnArchName, sizeof(out->gcnArchName));
	out->arch = p->arch;
	out->major = p->major;
	out->minor = p->minor;
	out->clockRate = p->clockRate;
	out->clockInstructionRate = p->clockInstructionRate;
	out->memoryClockRate = p->memoryClockRate;
	out->memoryBusWidth = p->memoryBusWidth;
	out->l2CacheSize = p->l2CacheSize;
	out->multiProcessorCount = p->multiProcessorCount;
	out->computeMode = p->computeMode;
	out->pciBusID = p->pciBusID;
	out->pciDeviceID = p->pciDeviceID;
	out->pciDomainID = p->pciDomainID;
	out->integrated = p->integrated;
	out->isMultiGpuBoard = p->isMultiGpuBoard;
	out->isLargeBar = p->isLargeBar;
	out->asicRevision = p->asicRevision;
}

static void copy_abilities(struct um_properties_6 *out, const hipDeviceProp_t *p)
{
	out->ECCEnabled = p->ECCEnabled;
	out->concurrentKernels = p->concurrentKernels;
	out->canMapHostMemory = p->canMapHostMemory;
	out->cooperativeLaunch = p->cooperativeLaunch;
	out->cooperativeMultiDeviceLaunch = p->cooperativeMultiDeviceLaunch;
	out->managedMemory = p->managedMemory;
	out->concurrentManagedAccess = p->concurrentManagedAccess;
	out->pageableMemoryAccess = p->pageableMemoryAccess;
	out->pageableMemoryAccessUsesHostPageTables = p->pageableMemoryAccessUsesHostPageTables;
	out->directManagedMemAccessFromHost = p->directManagedMemAccessFromHost;
}

/* What 5.2 tells by attributes alone. */
static void ask_attributes(struct um_properties_6 *out, uint32_t device)
{
	const struct {
		hipDeviceAttribute_t attribute;
		int *to;
	} asked[] = {
		{hipDeviceAttributeAsyncEngineCount, &out->asyncEngineCount},
		{hipDeviceAttributeDeviceOverlap, &out->deviceOverlap},
		{hipDeviceAttributeUnifiedAddressing, &out->unifiedAddressing},
		{hipDeviceAttributeStreamPrioritiesSupported, &out->streamPrioritiesSupported},
		{hipDeviceAttributeGlobalL1CacheSupported, &out->globalL1CacheSupported},
		{hipDeviceAttributeLocalL1CacheSupported, &out->localL1CacheSupported},
		{hipDeviceAttributeHostNativeAtomicSupported, &out->hostNativeAtomicSupported},
		{hipDeviceAttributeSingleToDoublePrecisionPerfRatio,
		 &out->singleToDoublePrecisionPerfRatio},
		{hipDeviceAttributeCanUseHostPointerForRegisteredMem,
		 &out->canUseHostPointerForRegisteredMem},
		{hipDeviceAttributeMaxBlocksPerMultiProcessor, &out->maxBlocksPerMultiProcessor},
		{hipDeviceAttributeMemoryPoolsSupported, &out->memoryPoolsSupported},
	};

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		(void)um_device_attribute(asked[i].to, asked[i].attribute, device);
	out->hostRegisterSupported = 1;
}

static hipError_t get_properties(struct um_properties_6 *out, int device)
{
	hipDeviceProp_t old;

	if (!out)
		return hipErrorInvalidValue;
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	um_device_properties(&old, (uint32_t)device);
	memset(out, 0, sizeof(*out));
	copy_limits(out, &old);
	copy_description(out, &old);
	copy_abilities(out, &old);
	ask_attributes(out, (uint32_t)device);
	return hipDeviceGetUuid(&out->uuid, device);
}

hipError_t hipGetDevicePropertiesR0600(struct um_properties_6 *out, int device)
{
	um_hip_headers_at_least(6);
	UM_ENTER();
	return um_leave(get_properties(out, device));
}

/* All devices are alike, as for hipChooseDevice(). */
hipError_t hipChooseDeviceR0600(int *out, const struct um_properties_6 *wanted)
{
	UM_ENTER();
	if (!out || !wanted)
		return um_leave(hipErrorInvalidValue);
	*out = 0;
	return um_leave(hipSuccess);
}

/*
 * The heap of a kernel's malloc() is the arena, which no limit but that of the memory bounds, and a
 * lane's stack has the size that it has: neither can be set.
 */
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value)
{
	(void)value;
	UM_ENTER();
	return um_leave(limit == hipLimitMallocHeapSize ? um_refuse_part("hipDeviceSetLimit")
							: hipErrorUnsupportedLimit);
}

/* Of the last call, also a success (docs/hip-7-changes.rst); hipGetLastError() keeps an error. */
hipError_t hipExtGetLastError(void)
{
	hipError_t result = um_thread.last_result;

	um_thread.last_error = hipSuccess;
	um_thread.last_result = hipSuccess;
	return result;
}

static hipError_t put_text(const char **out, const char *text)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = text;
	return hipSuccess;
}

hipError_t hipDrvGetErrorName(hipError_t error, const char **text)
{
	UM_ENTER();
	return um_leave(put_text(text, hipGetErrorName(error)));
}

hipError_t hipDrvGetErrorString(hipError_t error, const char **text)
{
	UM_ENTER();
	return um_leave(put_text(text, hipGetErrorString(error)));
}
