#include "copy.h"
#include "capture.h"

#include <string.h>

static hipError_t fill(void *to, uint32_t value, unsigned value_bytes, size_t count,
		       hipStream_t stream, bool async)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, (size_t)value_bytes, &bytes))
		return hipErrorInvalidValue;
	return um_fill_run(&(struct um_fill){
		.to = {to, bytes, bytes},
		.extent = {bytes, 1, 1},
		.value = value,
		.value_bytes = value_bytes,
		.stream = stream,
		.async = async,
	});
}

hipError_t hipMemset(void *to, int value, size_t bytes)
{
	UM_ENTER();
	return um_leave(fill(to, (uint8_t)value, 1, bytes, NULL, false));
}

hipError_t hipMemset_spt(void *to, int value, size_t bytes)
{
	UM_ENTER();
	return um_leave(fill(to, (uint8_t)value, 1, bytes, hipStreamPerThread, false));
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill(to, (uint8_t)value, 1, bytes, stream, true));
}

hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count)
{
	UM_ENTER();
	return um_leave(fill(to, value, 1, count, NULL, false));
}

hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
			    hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill(to, value, 1, count, stream, true));
}

hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count)
{
	UM_ENTER();
	return um_leave(fill(to, value, 2, count, NULL, false));
}

hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
			     hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill(to, value, 2, count, stream, true));
}

hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count)
{
	UM_ENTER();
	return um_leave(fill(to, (uint32_t)value, 4, count, NULL, false));
}

hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill(to, (uint32_t)value, 4, count, stream, true));
}

static hipError_t fill_box(const hipPitchedPtr *to, int value, hipExtent extent, hipStream_t stream,
			   bool async)
{
	if (extent.width > to->pitch)
		return hipErrorInvalidValue;
	return um_fill_run(&(struct um_fill){
		.to = {to->ptr, to->pitch, to->pitch * to->ysize},
		.extent = {extent.width, extent.height, extent.depth},
		.value = (uint8_t)value,
		.value_bytes = 1,
		.stream = stream,
		.async = async,
	});
}

static hipError_t fill_rows(void *to, size_t pitch, int value, size_t width, size_t height,
			    hipStream_t stream, bool async)
{
	hipPitchedPtr rows = {to, pitch, width, height};

	return fill_box(&rows, value, (hipExtent){width, height, 1}, stream, async);
}

hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	UM_ENTER();
	return um_leave(fill_rows(to, pitch, value, width, height, NULL, false));
}

hipError_t hipMemset2D_spt(void *to, size_t pitch, int value, size_t width, size_t height)
{
	UM_ENTER();
	return um_leave(fill_rows(to, pitch, value, width, height, hipStreamPerThread, false));
}

hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
			    hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill_rows(to, pitch, value, width, height, stream, true));
}

hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent)
{
	UM_ENTER();
	return um_leave(fill_box(&to, value, extent, NULL, false));
}

hipError_t hipMemset3D_spt(hipPitchedPtr to, int value, hipExtent extent)
{
	UM_ENTER();
	return um_leave(fill_box(&to, value, extent, hipStreamPerThread, false));
}

hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(fill_box(&to, value, extent, stream, true));
}

static hipError_t write_value(hipStream_t stream, void *to, uint64_t value, size_t bytes,
			      unsigned flags)
{
	const struct um_allocation *allocation = um_memory_find(to);

	hipError_t error = um_capture_refuses(stream);

	if (error)
		return error;
	if (flags || !allocation || !um_memory_holds(allocation, to, bytes))
		return hipErrorInvalidValue;
	return um_copy_run(&(struct um_copy){
		.to = {to, bytes, bytes},
		.from = {&value, bytes, bytes},
		.extent = {bytes, 1, 1},
		.kind = hipMemcpyHostToDevice,
		.stream = stream,
		.async = true,
	});
}

/* How the value there and the one waited for are compared. */
static bool is_there(uint64_t is, uint64_t wanted, uint64_t mask, unsigned flags)
{
	switch (flags) {
	case hipStreamWaitValueGte:
		return (is & mask) >= (wanted & mask);
	case hipStreamWaitValueEq:
		return (is & mask) == (wanted & mask);
	case hipStreamWaitValueAnd:
		return (is & mask) & wanted;
	default: /* hipStreamWaitValueNor */
		return ~((is & mask) | wanted) & mask;
	}
}

/*
 * All work that was asked for before is done: either the value is there, or only what the program does
 * next would bring it, which an emulation that finishes each call cannot wait for.
 */
static hipError_t wait_value(hipStream_t stream, const void *from, uint64_t wanted, size_t bytes,
			     unsigned flags, uint64_t mask)
{
	const struct um_allocation *allocation = um_memory_find(from);
	hipError_t error = um_capture_refuses(stream);
	uint64_t is = 0;

	if (error)
		return error;
	if (flags > hipStreamWaitValueNor || !allocation ||
	    !um_memory_holds(allocation, from, bytes))
		return hipErrorInvalidValue;
	memcpy(&is, um_memory_own(from), bytes);
	return is_there(is, wanted, mask, flags)
		       ? hipSuccess
		       : um_refuse_part("hipStreamWaitValue() for a value that is yet to come");
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void *from, uint32_t wanted, unsigned flags,
				uint32_t mask)
{
	UM_ENTER();
	return um_leave(wait_value(stream, from, wanted, sizeof(wanted), flags, mask));
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void *from, uint64_t wanted, unsigned flags,
				uint64_t mask)
{
	UM_ENTER();
	return um_leave(wait_value(stream, from, wanted, sizeof(wanted), flags, mask));
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void *to, uint32_t value, unsigned flags)
{
	UM_ENTER();
	return um_leave(write_value(stream, to, value, sizeof(value), flags));
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void *to, uint64_t value, unsigned flags)
{
	UM_ENTER();
	return um_leave(write_value(stream, to, value, sizeof(value), flags));
}
