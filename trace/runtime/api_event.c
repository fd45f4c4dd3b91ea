#include "api.h"
#include "capture.h"
#include "device_clock.h"

#include <stdlib.h>

struct um_event {
	struct um_event *next;
	uint32_t id;
	unsigned flags;
	bool recorded;
	uint64_t time_ns; /* of device_clock.h */
	int device;
	struct um_tips tips; /* where it was recorded in a capture last */
};

static struct um_event *all;
static uint32_t last_id;

static struct um_event *find(hipEvent_t handle)
{
	for (struct um_event *event = all; event; event = event->next)
		if ((hipEvent_t)event == handle)
			return event;
	return NULL;
}

static hipError_t create(hipEvent_t *out, unsigned flags)
{
	const unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
			       hipEventReleaseToDevice | hipEventReleaseToSystem;
	const unsigned release = hipEventReleaseToDevice | hipEventReleaseToSystem;

	if (!out || flags & ~known || (flags & release) == release)
		return hipErrorInvalidValue;
	if (flags & hipEventInterprocess && !(flags & hipEventDisableTiming))
		return hipErrorInvalidValue;
	if (flags & hipEventInterprocess)
		return um_refuse_part("hipEventInterprocess");
	struct um_event *event = calloc(1, sizeof(*event));

	if (!event)
		return hipErrorOutOfMemory;
	event->id = ++last_id;
	event->flags = flags;
	event->device = um_thread.device;
	event->next = all;
	all = event;
	*out = (hipEvent_t)event;
	return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *out)
{
	UM_ENTER();
	return um_leave(create(out, hipEventDefault));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *out, unsigned flags)
{
	UM_ENTER();
	return um_leave(create(out, flags));
}

static hipError_t destroy(hipEvent_t handle)
{
	struct um_event *event = find(handle);
	struct um_event **link = &all;

	if (!event)
		return handle ? hipErrorInvalidHandle : hipErrorInvalidValue;
	while (*link != event)
		link = &(*link)->next;
	*link = event->next;
	um_tips_clear(&event->tips);
	free(event);
	return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event)
{
	UM_ENTER();
	return um_leave(destroy(event));
}

static hipError_t record(hipEvent_t handle, hipStream_t stream)
{
	struct um_event *event = find(handle);
	struct um_stream *on;

	if (!event)
		return hipErrorInvalidHandle;
	bool captures;
	hipError_t error = um_stream_find(&on, stream);

	if (!error && on->device != event->device)
		error = hipErrorInvalidHandle;

	if (!error)
		error = um_capture_asks(&captures, stream, true);
	if (error)
		return error;
	if (captures)
		return um_capture_record(&event->tips, stream);
	um_tips_clear(&event->tips);
	struct um_record_op op = um_stream_op(UM_OP_EVENT_RECORD, on);

	op.event = event->id;
	op.flags = UM_OP_ASYNC;
	um_tracer_op_begin(&op);
	event->recorded = true;
	event->time_ns = um_clock_now(on);
	um_tracer_op_end(&op, hipSuccess);
	return um_device_error();
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(record(event, stream));
}

/* The header renames hipEventRecord() to this, but AMD's HIP 5.2 library lacks it; 6's has it. */
UM_API hipError_t hipEventRecord_spt(hipEvent_t, hipStream_t);
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(record(event, stream ? stream : hipStreamPerThread));
}

hipError_t um_event_mark(hipEvent_t event, hipStream_t stream)
{
	return event ? record(event, stream) : hipSuccess;
}

/* An event that was never recorded is complete: "this function returns immediately". */
static hipError_t synchronize(hipEvent_t handle)
{
	const struct um_event *event = find(handle);

	if (!event)
		return hipErrorInvalidHandle;
	hipError_t error = um_capture_event(&event->tips);

	if (error)
		return error;
	struct um_record_op op = um_op(UM_OP_EVENT_SYNC, 0);

	op.event = event->id;
	um_tracer_op_begin(&op);
	error = um_device_error();
	um_pools_release();
	um_clock_wait_until(event->time_ns);
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
	UM_ENTER();
	return um_leave(synchronize(event));
}

/*
 * All work is done here, so each query finds it so, and the host goes on with what the work left behind: in
 * the trace it orders the host as a wait does.
 */
static hipError_t query(hipEvent_t handle)
{
	const struct um_event *event = find(handle);

	if (!event)
		return hipErrorInvalidHandle;
	hipError_t error = um_capture_event(&event->tips);

	if (!error)
		error = um_device_error();
	if (error || !event->recorded)
		return error;
	struct um_record_op op = um_op(UM_OP_EVENT_QUERY, 0);

	op.event = event->id;
	um_tracer_op_begin(&op);
	um_clock_wait_until(event->time_ns);
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t event)
{
	UM_ENTER();
	return um_leave(query(event));
}

/*
 * An estimate, or wall time: see device_clock.h. A nanosecond at least, so that programs may divide by
 * it; of an event to itself nothing.
 */
static float elapsed_ms(const struct um_event *start, const struct um_event *stop)
{
	int64_t ns = (int64_t)(stop->time_ns - start->time_ns);

	if (start == stop)
		return 0;
	return (float)((double)(ns ? ns : 1) * 1e-6);
}

static hipError_t elapsed(float *out, hipEvent_t start_handle, hipEvent_t stop_handle)
{
	const struct um_event *start = find(start_handle), *stop = find(stop_handle);

	if (!out)
		return hipErrorInvalidValue;
	if (!start || !stop || !start->recorded || !stop->recorded)
		return hipErrorInvalidHandle;
	if ((start->flags | stop->flags) & hipEventDisableTiming || start->device != stop->device)
		return hipErrorInvalidHandle;
	*out = elapsed_ms(start, stop);
	return hipSuccess;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
	UM_ENTER();
	return um_leave(elapsed(ms, start, stop));
}

static hipError_t stream_wait(hipStream_t stream, hipEvent_t handle, unsigned flags)
{
	const struct um_event *event = find(handle);
	struct um_stream *on;
	bool captures;
	hipError_t error = um_stream_find(&on, stream);

	if (error)
		return error;
	if (!event)
		return hipErrorInvalidHandle;
	if (flags)
		return hipErrorInvalidValue;
	error = um_capture_asks(&captures, stream, true);
	if (error)
		return error;
	if (captures || event->tips.capture)
		return um_capture_wait(stream, &event->tips);
	struct um_record_op op = um_stream_op(UM_OP_STREAM_WAIT, on);

	op.event = event->id;
	op.flags = UM_OP_ASYNC;
	um_tracer_op_begin(&op);
	um_clock_stream_waits(on, event->time_ns);
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}

hipError_t um_event_wait(hipEvent_t event, hipStream_t stream)
{
	return stream_wait(stream, event, 0);
}

bool um_event_valid(hipEvent_t event)
{
	return find(event);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
	UM_ENTER();
	return um_leave(stream_wait(stream, event, flags));
}

hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags)
{
	UM_ENTER();
	return um_leave(stream_wait(stream ? stream : hipStreamPerThread, event, flags));
}
