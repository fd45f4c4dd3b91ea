#include "api.h"
#include "capture.h"
#include "trace/base/error.h"

#include <string.h>

/* "Currently the alignment is set to 128 bytes" (hipMallocPitch in hip_runtime_api.h). */
#define PITCH_BYTES 128u

static hipError_t allocate(void **out, enum um_allocation_kind kind, size_t bytes, unsigned flags)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = NULL;
	hipError_t error = um_capture_forbids();

	if (error)
		return error;
	return bytes ? um_memory_allocate(out,
					  &(struct um_memory_request){
						  .kind = kind,
						  .flags = flags,
						  .bytes = bytes,
						  .device = um_thread.device,
						  .name = "",
					  })
		     : hipSuccess;
}

hipError_t hipMalloc(void **out, size_t bytes)
{
	UM_ENTER();
	return um_leave(allocate(out, UM_ALLOCATION_DEVICE, bytes, 0));
}

static hipError_t malloc_with_flags(void **out, size_t bytes, unsigned flags)
{
	if (flags != hipDeviceMallocDefault && flags != hipDeviceMallocFinegrained &&
	    flags != hipMallocSignalMemory)
		return hipErrorInvalidValue;
	if (flags == hipMallocSignalMemory && bytes != 8) /* "must be 8 bytes" */
		return hipErrorInvalidValue;
	return allocate(out, UM_ALLOCATION_DEVICE, bytes, flags);
}

hipError_t hipExtMallocWithFlags(void **out, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(malloc_with_flags(out, bytes, flags));
}

/* "flags must be either hipMemAttachGlobal or hipMemAttachHost"; no bytes are an error here. */
static hipError_t malloc_managed(void **out, size_t bytes, unsigned flags)
{
	if (!out || !bytes || (flags != hipMemAttachGlobal && flags != hipMemAttachHost))
		return hipErrorInvalidValue;
	return allocate(out, UM_ALLOCATION_MANAGED, bytes, flags);
}

hipError_t hipMallocManaged(void **out, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(malloc_managed(out, bytes, flags));
}

static hipError_t host_malloc(void **out, size_t bytes, unsigned flags)
{
	const unsigned known = hipHostMallocPortable | hipHostMallocMapped |
			       hipHostMallocWriteCombined | hipHostMallocNumaUser |
			       hipHostMallocCoherent | hipHostMallocNonCoherent;
	const unsigned coherency = hipHostMallocCoherent | hipHostMallocNonCoherent;

	if (flags & ~known || (flags & coherency) == coherency)
		return hipErrorInvalidValue;
	return allocate(out, UM_ALLOCATION_PINNED, bytes, flags);
}

hipError_t hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(host_malloc(out, bytes, flags));
}

hipError_t hipHostAlloc(void **out, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(host_malloc(out, bytes, flags));
}

hipError_t hipMallocHost(void **out, size_t bytes)
{
	UM_ENTER();
	return um_leave(host_malloc(out, bytes, hipHostMallocDefault));
}

hipError_t hipMemAllocHost(void **out, size_t bytes)
{
	UM_ENTER();
	return um_leave(host_malloc(out, bytes, hipHostMallocDefault));
}

static hipError_t malloc_pitch(void **out, size_t *pitch, size_t width, size_t height, size_t depth)
{
	size_t rows, bytes;

	if (!out || !pitch || width > SIZE_MAX - PITCH_BYTES)
		return hipErrorInvalidValue;
	*out = NULL;
	*pitch = (width + PITCH_BYTES - 1) & ~(size_t)(PITCH_BYTES - 1);
	if (__builtin_mul_overflow(height, depth, &rows) ||
	    __builtin_mul_overflow(*pitch, rows, &bytes))
		return hipErrorOutOfMemory;
	return allocate(out, UM_ALLOCATION_DEVICE, bytes, 0);
}

hipError_t hipMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	UM_ENTER();
	return um_leave(malloc_pitch(out, pitch, width, height, 1));
}

static hipError_t mem_alloc_pitch(hipDeviceptr_t *out, size_t *pitch, size_t width, size_t height,
				  unsigned element_bytes)
{
	if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
		return hipErrorInvalidValue;
	return malloc_pitch(out, pitch, width, height, 1);
}

hipError_t hipMemAllocPitch(hipDeviceptr_t *out, size_t *pitch, size_t width, size_t height,
			    unsigned element_bytes)
{
	UM_ENTER();
	return um_leave(mem_alloc_pitch(out, pitch, width, height, element_bytes));
}

static hipError_t malloc_3d(hipPitchedPtr *out, hipExtent extent)
{
	if (!out)
		return hipErrorInvalidValue;
	out->xsize = extent.width;
	out->ysize = extent.height;
	return malloc_pitch(&out->ptr, &out->pitch, extent.width, extent.height, extent.depth);
}

hipError_t hipMalloc3D(hipPitchedPtr *out, hipExtent extent)
{
	UM_ENTER();
	return um_leave(malloc_3d(out, extent));
}

/*
 * Frees what starts at `address`. hipFree() takes pinned memory too, as AMD's does; registered
 * memory is the program's own, and neither function gives that back.
 */
static hipError_t release(void *address, bool host_only, uint32_t stream)
{
	hipError_t error = um_capture_forbids();

	if (error || !address)
		return error;
	struct um_allocation *allocation = um_arena_find(address);

	if (!allocation || um_memory_start(allocation) != address || allocation->parked)
		return hipErrorInvalidValue; /* what hipMemMap() made is for hipMemUnmap() */
	if (host_only && allocation->kind != UM_ALLOCATION_PINNED)
		return hipErrorInvalidValue;
	return um_memory_free(allocation, stream);
}

hipError_t hipFree(void *address)
{
	UM_ENTER();
	return um_leave(release(address, false, 0));
}

hipError_t hipHostFree(void *address)
{
	UM_ENTER();
	return um_leave(release(address, true, 0));
}

hipError_t hipFreeHost(void *address)
{
	UM_ENTER();
	return um_leave(release(address, true, 0));
}

static hipError_t free_async(void *address, hipStream_t handle)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	hipError_t error = um_capture_refuses(handle);

	if (error)
		return error;
	return address ? release(address, false, stream->id) : hipErrorInvalidValue;
}

hipError_t hipFreeAsync(void *address, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(free_async(address, stream));
}

static hipError_t mem_get_info(size_t *left, size_t *total)
{
	if (!left && !total)
		return hipErrorInvalidValue;
	if (left)
		*left = um_memory_device_left(um_thread.device);
	if (total)
		*total = um_device_get((uint32_t)um_thread.device)->memory_bytes;
	return hipSuccess;
}

hipError_t hipMemGetInfo(size_t *left, size_t *total)
{
	UM_ENTER();
	return um_leave(mem_get_info(left, total));
}

static hipError_t mem_ptr_get_info(const void *address, size_t *bytes)
{
	if (!bytes)
		return hipErrorInvalidValue;
	const struct um_allocation *allocation = um_memory_find(address);

	if (!allocation)
		return hipErrorInvalidValue;
	*bytes = allocation->bytes;
	return hipSuccess;
}

hipError_t hipMemPtrGetInfo(void *address, size_t *bytes)
{
	UM_ENTER();
	return um_leave(mem_ptr_get_info(address, bytes));
}

static hipError_t get_address_range(hipDeviceptr_t *start, size_t *bytes, const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!allocation || !um_memory_holds(allocation, address, 1))
		return hipErrorNotFound;
	if (start)
		*start = um_memory_start(allocation);
	if (bytes)
		*bytes = allocation->bytes;
	return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *start, size_t *bytes, hipDeviceptr_t address)
{
	UM_ENTER();
	return um_leave(get_address_range(start, bytes, address));
}
