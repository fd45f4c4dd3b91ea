/*
 * Functions of the host in the order of a stream. They run at once, since all that they wait for is
 * done, with the state of a thread that is in no HIP function, and without the lock: they may wait
 * for other threads.
 */
#include "capture.h"

static void call(const struct um_callback *callback)
{
	unsigned depth = um_thread.depth;
	uintptr_t caller = um_thread.caller;
	uint32_t site = um_thread.site;

	um_thread.depth = 0;
	for (unsigned i = 0; i < depth; i++)
		um_runtime_unlock();
	if (callback->with_status)
		callback->with_status(callback->stream, um_device_error(), callback->data);
	else
		callback->plain(callback->data);
	for (unsigned i = 0; i < depth; i++)
		um_runtime_lock();
	um_thread.depth = depth;
	um_thread.caller = caller;
	um_thread.site = site;
}

hipError_t um_callback_run(const struct um_callback *callback)
{
	struct um_stream *stream;
	hipError_t error = um_stream_find(&stream, callback->stream);

	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_CALLBACK, stream);

	op.flags = UM_OP_ASYNC;
	um_tracer_op_begin(&op);
	call(callback);
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}

static hipError_t add_callback(const struct um_callback *callback, unsigned flags)
{
	if (!callback->with_status || flags)
		return hipErrorInvalidValue;
	hipError_t error = um_capture_refuses(callback->stream);

	return error ? error : um_callback_run(callback);
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t function, void *data,
				unsigned flags)
{
	struct um_callback callback = {.stream = stream, .with_status = function, .data = data};

	UM_ENTER();
	return um_leave(add_callback(&callback, flags));
}

static hipError_t launch_host(hipStream_t stream, hipHostFn_t function, void *data)
{
	bool captures;

	if (!function)
		return hipErrorInvalidValue;
	hipError_t error = um_capture_asks(&captures, stream, true);

	if (error)
		return error;
	if (captures)
		return um_capture_host(stream, &(hipHostNodeParams){function, data});
	return um_callback_run(
		&(struct um_callback){.stream = stream, .plain = function, .data = data});
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data)
{
	UM_ENTER();
	return um_leave(launch_host(stream, function, data));
}
