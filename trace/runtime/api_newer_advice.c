/* Advice and prefetches of HIP 7, whose places are of a type and not a number below 0. */
#include "api_newer.h"

#include "hip_headers.h"

static hipError_t device_of(int *out, hipMemLocation location)
{
	switch ((unsigned)location.type) {
	case hipMemLocationTypeDevice:
		*out = location.id;
		return um_is_device(location.id) ? hipSuccess : hipErrorInvalidDevice;
	case UM_LOCATION_7_HOST:
	case UM_LOCATION_7_HOST_NUMA: /* one host is one place here, whichever node */
	case UM_LOCATION_7_HOST_NUMA_CURRENT:
		*out = hipCpuDeviceId;
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

/* Of what is not about a place, the place is not looked at. */
static bool has_no_place(hipMemoryAdvise advice)
{
	return advice == hipMemAdviseSetReadMostly || advice == hipMemAdviseUnsetReadMostly ||
	       advice == hipMemAdviseUnsetPreferredLocation;
}

static hipError_t advise(const void *address, size_t bytes, hipMemoryAdvise advice,
			 hipMemLocation location)
{
	int device = hipCpuDeviceId;
	hipError_t error = device_of(&device, location);

	if (error && !has_no_place(advice))
		return error;
	return hipMemAdvise(address, bytes, advice, error ? hipCpuDeviceId : device);
}

hipError_t hipMemAdvise_v2(const void *address, size_t bytes, hipMemoryAdvise advice,
			   hipMemLocation location)
{
	um_hip_headers_at_least(7);
	UM_ENTER();
	return um_leave(advise(address, bytes, advice, location));
}

static hipError_t prefetch(const void *address, size_t bytes, hipMemLocation location,
			   unsigned flags, hipStream_t stream)
{
	int device;
	hipError_t error = flags ? hipErrorInvalidValue : device_of(&device, location);

	return error ? error : hipMemPrefetchAsync(address, bytes, device, stream);
}

hipError_t hipMemPrefetchAsync_v2(const void *address, size_t bytes, hipMemLocation location,
				  unsigned flags, hipStream_t stream)
{
	um_hip_headers_at_least(7);
	UM_ENTER();
	return um_leave(prefetch(address, bytes, location, flags, stream));
}
