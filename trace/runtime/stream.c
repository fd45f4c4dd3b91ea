/* Streams. Work is done when the call returns, so a stream is little more than its number. */
#include "api.h"
#include "capture.h"

#include <stdlib.h>

/* Handles that are no pointers: the null stream by name, and the one of the calling thread. */
#define LEGACY_HANDLE ((hipStream_t)1)

static struct um_stream null_streams[UM_MAX_DEVICES];
static struct um_stream *all;
static uint32_t last_id;

static void record(enum um_op_kind kind, const struct um_stream *stream)
{
	struct um_record_op op = um_stream_op(kind, stream);

	op.flags = stream->flags & hipStreamNonBlocking ? UM_OP_NON_BLOCKING : 0;
	op.value = stream->flags & hipStreamNonBlocking;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
}

struct um_stream *um_stream_new(unsigned flags, int priority)
{
	struct um_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	*stream = (struct um_stream){
		.next = all,
		.id = ++last_id,
		.flags = flags,
		.priority = priority,
		.device = um_thread.device,
	};
	all = stream;
	record(UM_OP_STREAM_CREATE, stream);
	return stream;
}

bool um_stream_destroy(struct um_stream *stream)
{
	struct um_stream **link = &all;

	while (*link && *link != stream)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = stream->next;
	um_capture_forget(stream);
	record(UM_OP_STREAM_DESTROY, stream);
	free(stream);
	return true;
}

void um_stream_each(void (*call)(struct um_stream *, void *), void *context)
{
	for (struct um_stream *stream = all; stream; stream = stream->next)
		call(stream, context);
}

/* The default stream of a thread waits for the null stream, as hipStreamDefault says. One a device. */
static struct um_stream *per_thread(void)
{
	struct um_stream **stream = &um_thread.streams[um_thread.device];

	if (!*stream)
		*stream = um_stream_new(hipStreamDefault, 0);
	return *stream;
}

struct um_stream *um_stream_null(int device)
{
	null_streams[device].device = device;
	return &null_streams[device];
}

struct um_stream *um_stream_get(hipStream_t handle)
{
	if (!handle || handle == LEGACY_HANDLE)
		return um_stream_null(um_thread.device);
	if (handle == hipStreamPerThread)
		return per_thread();
	for (struct um_stream *stream = all; stream; stream = stream->next)
		if ((hipStream_t)stream == handle)
			return stream;
	return NULL;
}

hipError_t um_stream_find(struct um_stream **out, hipStream_t handle)
{
	*out = um_stream_get(handle);
	return *out ? hipSuccess : hipErrorInvalidHandle;
}
