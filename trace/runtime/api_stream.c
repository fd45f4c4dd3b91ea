#include "api.h"

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
	uint32_t id;
	hipError_t error = um_stream_id(&id, handle);

	if (error)
		return error;
	struct um_record_op op = um_op(UM_OP_SYNC_STREAM, id);

	um_tracer_op_begin(&op);
	error = um_device_error();
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	UM_ENTER();
	return um_leave(synchronize(stream));
}

static hipError_t query(hipStream_t handle)
{
	return um_stream_get(handle) ? um_device_error() : hipErrorInvalidHandle;
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

static hipError_t is_capturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
	if (!status)
		return hipErrorInvalidValue;
	if (!um_stream_get(stream))
		return hipErrorInvalidHandle;
	*status = hipStreamCaptureStatusNone; /* hipStreamBeginCapture() is refused */
	return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
	UM_ENTER();
	return um_leave(is_capturing(stream, status));
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status,
				   unsigned long long *id)
{
	(void)id; /* set only while a capture is active */
	UM_ENTER();
	return um_leave(is_capturing(stream, status));
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
				      unsigned long long *id, hipGraph_t *graph,
				      const hipGraphNode_t **dependencies, size_t *count)
{
	(void)id, (void)graph, (void)dependencies, (void)count;
	UM_ENTER();
	return um_leave(is_capturing(stream, status));
}

/* --- callbacks run at once, with the state of a thread that is in no HIP function --- */

struct callback {
	hipStream_t stream;
	hipStreamCallback_t with_status;
	hipHostFn_t plain;
	void *data;
};

static void call(const struct callback *callback)
{
	unsigned depth = um_thread.depth;
	uintptr_t caller = um_thread.caller;
	uint32_t site = um_thread.site;

	um_thread.depth = 0;
	if (callback->with_status)
		callback->with_status(callback->stream, um_device_error(), callback->data);
	else
		callback->plain(callback->data);
	um_thread.depth = depth;
	um_thread.caller = caller;
	um_thread.site = site;
}

static hipError_t run_callback(const struct callback *callback, unsigned flags)
{
	if ((!callback->with_status && !callback->plain) || flags)
		return hipErrorInvalidValue;
	if (!um_stream_get(callback->stream))
		return hipErrorInvalidHandle;
	call(callback);
	return hipSuccess;
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t function, void *data,
				unsigned flags)
{
	struct callback callback = {.stream = stream, .with_status = function, .data = data};

	UM_ENTER();
	return um_leave(run_callback(&callback, flags));
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data)
{
	struct callback callback = {.stream = stream, .plain = function, .data = data};

	UM_ENTER();
	return um_leave(run_callback(&callback, 0));
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
