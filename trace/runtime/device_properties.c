/*
 * Figures without a source of their own are those that hipInfo of HIP 5.2 prints for an MI250X.
 * Where the emulation differs from the card, the property says what the emulation does.
 */
#include "device_properties.h"

#include "api.h"
#include "device_limits.h"
#include "trace/compiler/device/device_abi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* um_clock() ticks at 100 MHz, as s_memrealtime does. */
#define DEVICE_CLOCK_KHZ 100000

/* "gfx90a" -> 9, 0; HIP takes the last two characters for minor and stepping. */
static void capability(hipDeviceProp_t *p, const char *arch)
{
	char digits[8] = "";
	size_t length = strlen(arch);

	if (strncmp(arch, "gfx", 3) || length < 6 || length - 5 >= sizeof(digits))
		return;
	memcpy(digits, arch + 3, length - 5);
	p->major = atoi(digits);
	p->minor = arch[length - 2] - '0';
}

/*
 * CDNA has ECC for its memories always, and XNACK as a mode; RDNA has neither as a target feature.
 */
static void arch_name(hipDeviceProp_t *p, const struct um_played_device *device)
{
	if (p->major == 9)
		snprintf(p->gcnArchName, sizeof(p->gcnArchName), "%s:sramecc+:xnack%c",
			 device->arch, device->xnack ? '+' : '-');
	else
		snprintf(p->gcnArchName, sizeof(p->gcnArchName), "%s", device->arch);
	/* hipInfo's number: 910 for gfx90a, else the digits. */
	p->gcnArch = strcmp(device->arch, "gfx90a") ? atoi(device->arch + 3) : 910;
}

static void shape(hipDeviceProp_t *p)
{
	p->sharedMemPerBlock = UM_LDS_BYTES;
	p->maxSharedMemoryPerMultiProcessor = UM_LDS_BYTES;
	p->regsPerBlock = UM_GROUP_REGISTERS;
	p->warpSize = UM_WAVE_LANES;
	p->maxThreadsPerBlock = UM_MAX_GROUP_LANES;
	p->maxThreadsPerMultiProcessor = UM_MAX_CU_WAVES * UM_WAVE_LANES;
	for (int i = 0; i < 3; i++) {
		p->maxThreadsDim[i] = UM_MAX_GROUP_LANES;
		p->maxGridSize[i] = INT_MAX;
	}
}

static void speeds(hipDeviceProp_t *p, const struct um_played_device *device)
{
	p->clockRate = (int)device->clock_khz;
	p->memoryClockRate = (int)device->memory_clock_khz;
	p->memoryBusWidth = (int)device->memory_bus_bits;
	p->clockInstructionRate = DEVICE_CLOCK_KHZ;
	p->multiProcessorCount = (int)device->compute_units;
	p->l2CacheSize = (int)device->l2_bytes;
}

static void abilities(hipDeviceProp_t *p, const struct um_played_device *device)
{
	p->arch = (hipDeviceArch_t){
		.hasGlobalInt32Atomics = 1,
		.hasGlobalFloatAtomicExch = 1,
		.hasSharedInt32Atomics = 1,
		.hasSharedFloatAtomicExch = 1,
		.hasFloatAtomicAdd = 1,
		.hasGlobalInt64Atomics = 1,
		.hasSharedInt64Atomics = 1,
		.hasDoubles = 1,
		.hasWarpVote = 1,
		.hasWarpBallot = 1,
		.hasWarpShuffle = 1,
		.hasThreadFenceSystem = 1,
		.has3dGrid = 1,
	};
	p->concurrentKernels = 1;
	p->canMapHostMemory = 1;
	p->cooperativeLaunch = 1;
	p->isLargeBar = 1;
	p->ECCEnabled = 1;
	/*
	 * As AMD's runtime has it on a kernel with HMM (clr, hip_device.cpp and rocdevice.cpp): memory
	 * of malloc() is for kernels where faults are retried. Its "uses host page tables" is for
	 * full-profile agents, which no device here is; 0.
	 */
	p->managedMemory = 1;
	p->concurrentManagedAccess = 1;
	p->pageableMemoryAccess = device->xnack;
	p->directManagedMemAccessFromHost = device->host_access;
}

void um_device_properties(hipDeviceProp_t *p, uint32_t ordinal)
{
	const struct um_played_device *device = um_device_get(ordinal);

	/*
	 * Zero stays: textures, surfaces (gfx90a has no image instructions), multi-device launches.
	 */
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", device->name);
	p->totalGlobalMem = device->memory_bytes;
	p->totalConstMem = INT_MAX;
	p->memPitch = INT_MAX;
	p->textureAlignment = 256;
	p->texturePitchAlignment = 256;
	p->pciBusID = (int)ordinal + 1; /* no such bus; it only has to differ */
	p->asicRevision = 1;
	p->computeMode = hipComputeModeDefault;
	capability(p, device->arch);
	arch_name(p, device);
	shape(p);
	speeds(p, device);
	abilities(p, device);
}

/* --- attributes: a field of the properties, or a constant --- */

enum source { INT_FIELD, SIZE_FIELD, CONSTANT };

struct attribute {
	hipDeviceAttribute_t attribute;
	enum source source;
	size_t value; /* offset of the field, or the constant */
};

#define INT(attribute, field)                                                                      \
	{                                                                                          \
		hipDeviceAttribute##attribute, INT_FIELD, offsetof(hipDeviceProp_t, field)         \
	}
#define SIZE(attribute, field)                                                                     \
	{                                                                                          \
		hipDeviceAttribute##attribute, SIZE_FIELD, offsetof(hipDeviceProp_t, field)        \
	}
#define CONST(attribute, value)                                                                    \
	{                                                                                          \
		hipDeviceAttribute##attribute, CONSTANT, value                                     \
	}

static const struct attribute attributes[] = {
	INT(EccEnabled, ECCEnabled),
	CONST(AccessPolicyMaxWindowSize, 0),
	CONST(AsyncEngineCount, 2), /* one copy engine each way */
	INT(CanMapHostMemory, canMapHostMemory),
	CONST(CanUseHostPointerForRegisteredMem, 1),
	INT(ClockRate, clockRate),
	INT(ComputeMode, computeMode),
	CONST(ComputePreemptionSupported, 0),
	INT(ConcurrentKernels, concurrentKernels),
	INT(ConcurrentManagedAccess, concurrentManagedAccess),
	INT(CooperativeLaunch, cooperativeLaunch),
	INT(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
	CONST(DeviceOverlap, 1),
	INT(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
	CONST(GlobalL1CacheSupported, 1),
	CONST(HostNativeAtomicSupported, 1),
	INT(Integrated, integrated),
	INT(IsMultiGpuBoard, isMultiGpuBoard),
	INT(KernelExecTimeout, kernelExecTimeoutEnabled),
	INT(L2CacheSize, l2CacheSize),
	CONST(LocalL1CacheSupported, 1),
	CONST(LuidDeviceNodeMask, 0),
	INT(ComputeCapabilityMajor, major),
	INT(ManagedMemory, managedMemory),
	CONST(MaxBlocksPerMultiProcessor, UM_MAX_CU_WAVES),
	INT(MaxBlockDimX, maxThreadsDim[0]),
	INT(MaxBlockDimY, maxThreadsDim[1]),
	INT(MaxBlockDimZ, maxThreadsDim[2]),
	INT(MaxGridDimX, maxGridSize[0]),
	INT(MaxGridDimY, maxGridSize[1]),
	INT(MaxGridDimZ, maxGridSize[2]),
	CONST(MaxSurface1D, 0),
	CONST(MaxSurface1DLayered, 0),
	CONST(MaxSurface2D, 0),
	CONST(MaxSurface2DLayered, 0),
	CONST(MaxSurface3D, 0),
	CONST(MaxSurfaceCubemap, 0),
	CONST(MaxSurfaceCubemapLayered, 0),
	INT(MaxTexture1DWidth, maxTexture1D),
	CONST(MaxTexture1DLayered, 0),
	INT(MaxTexture1DLinear, maxTexture1DLinear),
	CONST(MaxTexture1DMipmap, 0),
	INT(MaxTexture2DWidth, maxTexture2D[0]),
	INT(MaxTexture2DHeight, maxTexture2D[1]),
	CONST(MaxTexture2DGather, 0),
	CONST(MaxTexture2DLayered, 0),
	CONST(MaxTexture2DLinear, 0),
	CONST(MaxTexture2DMipmap, 0),
	INT(MaxTexture3DWidth, maxTexture3D[0]),
	INT(MaxTexture3DHeight, maxTexture3D[1]),
	INT(MaxTexture3DDepth, maxTexture3D[2]),
	CONST(MaxTexture3DAlt, 0),
	CONST(MaxTextureCubemap, 0),
	CONST(MaxTextureCubemapLayered, 0),
	INT(MaxThreadsDim, maxThreadsDim[0]),
	INT(MaxThreadsPerBlock, maxThreadsPerBlock),
	INT(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
	SIZE(MaxPitch, memPitch),
	INT(MemoryBusWidth, memoryBusWidth),
	INT(MemoryClockRate, memoryClockRate),
	INT(ComputeCapabilityMinor, minor),
	CONST(MultiGpuBoardGroupID, 0),
	INT(MultiprocessorCount, multiProcessorCount),
	INT(PageableMemoryAccess, pageableMemoryAccess),
	INT(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
	INT(PciBusId, pciBusID),
	INT(PciDeviceId, pciDeviceID),
	INT(PciDomainID, pciDomainID),
	CONST(PersistingL2CacheMaxSize, 0),
	INT(MaxRegistersPerBlock, regsPerBlock),
	CONST(MaxRegistersPerMultiprocessor, UM_GROUP_REGISTERS),
	CONST(ReservedSharedMemPerBlock, 0),
	SIZE(MaxSharedMemoryPerBlock, sharedMemPerBlock),
	SIZE(SharedMemPerBlockOptin, sharedMemPerBlock),
	SIZE(SharedMemPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
	CONST(SingleToDoublePrecisionPerfRatio, 1), /* CDNA2 white paper: equal vector rates */
	CONST(StreamPrioritiesSupported, 1),
	CONST(SurfaceAlignment, 0),
	INT(TccDriver, tccDriver),
	SIZE(TextureAlignment, textureAlignment),
	SIZE(TexturePitchAlignment, texturePitchAlignment),
	SIZE(TotalConstantMemory, totalConstMem),
	SIZE(TotalGlobalMem, totalGlobalMem),
	CONST(UnifiedAddressing, 1),
	INT(WarpSize, warpSize),
	CONST(MemoryPoolsSupported, 0),
	INT(ClockInstructionRate, clockInstructionRate),
	SIZE(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
	INT(GcnArch, gcnArch),
	INT(CooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedFunc),
	INT(CooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedGridDim),
	INT(CooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedBlockDim),
	INT(CooperativeMultiDeviceUnmatchedSharedMem, cooperativeMultiDeviceUnmatchedSharedMem),
	INT(IsLargeBar, isLargeBar),
	INT(AsicRevision, asicRevision),
	CONST(CanUseStreamWaitValue, 0),
	CONST(ImageSupport, 0),
	INT(PhysicalMultiProcessorCount, multiProcessorCount),
	CONST(FineGrainSupport, 1),
};

static int clamp(size_t value)
{
	return value > INT_MAX ? INT_MAX : (int)value;
}

static int value_of(const struct attribute *attribute, uint32_t device)
{
	hipDeviceProp_t properties;
	size_t size;
	int value;

	if (attribute->source == CONSTANT)
		return (int)attribute->value;
	um_device_properties(&properties, device);
	const char *field = (const char *)&properties + attribute->value;

	if (attribute->source == INT_FIELD) {
		memcpy(&value, field, sizeof(value));
		return value;
	}
	memcpy(&size, field, sizeof(size));
	return clamp(size);
}

bool um_device_attribute(int *out, hipDeviceAttribute_t wanted, uint32_t device)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		if (attributes[i].attribute != wanted)
			continue;
		*out = value_of(&attributes[i], device);
		return true;
	}
	return false;
}
