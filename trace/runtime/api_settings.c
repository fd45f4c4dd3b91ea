/* Limits and settings of a device, of which most are hints that AMD's devices ignore too. */
#include "api.h"

static unsigned schedule_flags[UM_MAX_DEVICES];

void um_settings_reset(int device)
{
	schedule_flags[device] = 0;
}

static hipError_t get_limit(size_t *out, enum hipLimit_t limit)
{
	if (!out)
		return hipErrorInvalidValue;
	if (limit != hipLimitMallocHeapSize)
		return hipErrorUnsupportedLimit; /* "only hipLimitMallocHeapSize is available" */
	*out = um_device_get((uint32_t)um_thread.device)->memory_bytes;
	return hipSuccess;
}

hipError_t hipDeviceGetLimit(size_t *out, enum hipLimit_t limit)
{
	UM_ENTER();
	return um_leave(get_limit(out, limit));
}

/* "AMD devices do not support reconfigurable cache or shared memory: this hint is ignored." */
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config)
{
	UM_ENTER();
	return um_leave((unsigned)config > hipFuncCachePreferEqual ? hipErrorInvalidValue
								   : hipSuccess);
}

static hipError_t get_cache_config(hipFuncCache_t *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = hipFuncCachePreferNone;
	return hipSuccess;
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *out)
{
	UM_ENTER();
	return um_leave(get_cache_config(out));
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
	UM_ENTER();
	return um_leave((unsigned)config > hipSharedMemBankSizeEightByte ? hipErrorInvalidValue
									 : hipSuccess);
}

static hipError_t get_shared_mem_config(hipSharedMemConfig *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = hipSharedMemBankSizeFourByte;
	return hipSuccess;
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *out)
{
	UM_ENTER();
	return um_leave(get_shared_mem_config(out));
}

static hipError_t set_flags(int device, unsigned flags)
{
	const unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
	unsigned schedule = flags & hipDeviceScheduleMask;

	if (flags & ~known || schedule & (schedule - 1))
		return hipErrorInvalidValue;
	schedule_flags[device] = flags;
	return hipSuccess;
}

hipError_t hipSetDeviceFlags(unsigned flags)
{
	UM_ENTER();
	return um_leave(set_flags(um_thread.device, flags));
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags)
{
	UM_ENTER();
	return um_leave(um_is_device(device) ? set_flags(device, flags) : hipErrorInvalidDevice);
}

static hipError_t get_flags(unsigned *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = schedule_flags[um_thread.device];
	return hipSuccess;
}

hipError_t hipGetDeviceFlags(unsigned *out)
{
	UM_ENTER();
	return um_leave(get_flags(out));
}
