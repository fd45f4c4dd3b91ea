#include "api.h"
#include "capture.h"
#include "device_clock.h"

/* Priorities of hipDeviceGetStreamPriorityRange: AMD's low, normal and high queues (HIP 5.2). */
#define LEAST_PRIORITY	  1
#define GREATEST_PRIORITY (-1)

static hipError_t create(hipStream_t *out, unsigned flags, int priority)
{
	if (!out || (flags != hipStreamDefault && flags != hipStreamNonBlocking))
		return hipErrorInvalidValue;
	if (priority > LEAST_PRIORITY)
		priority = LEAST_PRIORITY;
	if (priority < GREATEST_PRIORITY)
		priority = GREATEST_PRIORITY;
	struct um_stream *stream = um_stream_new(flags, priority);

	if (!stream)
		return hipErrorOutOfMemory;
	*out = (hipStream_t)stream;
	return hipSuccess;
}

hipError_t hipStreamCreate(hipStream_t *out)
{
	UM_ENTER();
	return um_leave(create(out, hipStreamDefault, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *out, unsigned flags)
{
	UM_ENTER();
	return um_leave(create(out, flags, 0));
}

hipError_t hipStreamCreateWithPriority(hipStream_t *out, unsigned flags, int priority)
{
	UM_ENTER();
	return um_leave(create(out, flags, priority));
}

static hipError_t priority_range(int *least, int *greatest)
{
	if (least)
		*least = LEAST_PRIORITY;
	if (greatest)
		*greatest = GREATEST_PRIORITY;
	return hipSuccess;
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	UM_ENTER();
	return um_leave(priority_range(least, greatest));
}

static hipError_t destroy(hipStream_t handle)
{
	struct um_stream *stream = um_stream_get(handle);

	/* The null stream and the thread's are not the program's to destroy. */
	if (!stream || !stream->id || handle == hipStreamPerThread)
		return hipErrorInvalidHandle;
	return um_stream_destroy(stream) ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(destroy(stream));
}

/* Everything is done already, so this only writes down that the program asked. */
static hipError_t synchronize(hipStream_t handle)
{
	struct um_stream *stream;
	hipError_t error = um_stream_find(&stream, handle);

	if (!error)
		error = um_capture_refuses(handle);
	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_SYNC_STREAM, stream);

	um_tracer_op_begin(&op);
	error = um_device_error();
	um_pools_release();
	um_clock_wait(stream);
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(synchronize(stream));
}

/* See hipEventQuery(). */
static hipError_t query(hipStream_t handle)
{
	struct um_stream *stream;
	hipError_t error = um_stream_find(&stream, handle);

	if (!error)
		error = um_capture_refuses(handle);
	if (!error)
		error = um_device_error();
	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_STREAM_QUERY, stream);

	um_tracer_op_begin(&op);
	um_clock_wait(stream);
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(query(stream));
}

static hipError_t get_flags(hipStream_t handle, unsigned *out)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	if (!out)
		return hipErrorInvalidValue;
	*out = stream->flags;
	return hipSuccess;
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags)
{
	UM_ENTER();
	return um_leave(get_flags(stream, flags));
}

static hipError_t get_priority(hipStream_t handle, int *out)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	if (!out)
		return hipErrorInvalidValue;
	*out = stream->priority;
	return hipSuccess;
}

hipError_t hipStreamGetPriority(hipStream_t stream, int *priority)
{
	UM_ENTER();
	return um_leave(get_priority(stream, priority));
}

int hipGetStreamDeviceId(hipStream_t handle)
{
	UM_ENTER();
	const struct um_stream *stream = um_stream_get(handle);
	int device = stream ? stream->device : -1;

	um_leave(hipSuccess);
	return device;
}

/* --- masks of compute units: kept, and of no effect where kernels run on a CPU --- */

static uint32_t mask_word(const struct um_stream *stream, uint32_t word)
{
	uint32_t units = um_device_get((uint32_t)stream->device)->compute_units;
	uint32_t first = 32 * word, all = 0;

	for (uint32_t i = 0; i < 32 && first + i < units; i++)
		all |= UINT32_C(1) << i;
	for (uint32_t i = 0; i < UM_CU_MASK_WORDS; i++)
		if (stream->cu_mask[i])
			return word < UM_CU_MASK_WORDS ? stream->cu_mask[word] & all : 0;
	return all;
}

static hipError_t create_with_mask(hipStream_t *out, uint32_t words, const uint32_t *mask)
{
	hipError_t error = words && mask ? create(out, hipStreamDefault, 0) : hipErrorInvalidValue;

	if (error)
		return error;
	struct um_stream *stream = um_stream_get(*out);

	for (uint32_t i = 0; i < words && i < UM_CU_MASK_WORDS; i++)
		stream->cu_mask[i] = mask[i];
	return hipSuccess;
}

hipError_t hipExtStreamCreateWithCUMask(hipStream_t *out, uint32_t words, const uint32_t *mask)
{
	UM_ENTER();
	return um_leave(create_with_mask(out, words, mask));
}

static hipError_t get_mask(hipStream_t handle, uint32_t words, uint32_t *out)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	if (!words || !out)
		return hipErrorInvalidValue;
	for (uint32_t i = 0; i < words; i++)
		out[i] = mask_word(stream, i);
	return hipSuccess;
}

hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t words, uint32_t *mask)
{
	UM_ENTER();
	return um_leave(get_mask(stream, words, mask));
}

/* --- the same on the stream of the thread, for programs built with per-thread default streams --- */

#define PER_THREAD(stream) ((stream) ? (stream) : hipStreamPerThread)

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(synchronize(PER_THREAD(stream)));
}

hipError_t hipStreamQuery_spt(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(query(PER_THREAD(stream)));
}

hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned *flags)
{
	UM_ENTER();
	return um_leave(get_flags(PER_THREAD(stream), flags));
}

hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
	UM_ENTER();
	return um_leave(get_priority(PER_THREAD(stream), priority));
}
