#include "sync_order.h"

#include "trace/base/error.h"
#include "trace/db/words.h"

#include <stdlib.h>
#include <string.h>

/* More are not followed: everything counts as waited for then. */
#define STREAMS_MAX 256u

/* Of each stream, the position up to which its work is done. */
struct clock {
	uint32_t done[STREAMS_MAX];
};

struct stream {
	int64_t id, device; /* id 0: the null stream of the device */
	bool is_blocking;
	uint32_t position;
	struct clock clock; /* what is done when its last work is */
};

struct event {
	int64_t id;
	struct clock clock;
};

struct um_sync_order {
	bool queries_told, gave_up;
	int event_query, stream_query; /* kinds; -1: this build knows none */
	struct stream *streams;
	uint32_t stream_count, stream_room;
	struct event *events;
	size_t event_count, event_room;
	struct clock host;
};

int um_sync_order_create(struct um_sync_order **out, bool queries_told)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return um_fail(UM_ENOMEM, "out of memory");
	(*out)->queries_told = queries_told;
	(*out)->event_query = um_word_code(um_op_words, "event_query");
	(*out)->stream_query = um_word_code(um_op_words, "stream_query");
	return 0;
}

void um_sync_order_destroy(struct um_sync_order *order)
{
	if (!order)
		return;
	free(order->streams);
	free(order->events);
	free(order);
}

static void join(const struct um_sync_order *order, struct clock *to, const struct clock *with)
{
	for (uint32_t i = 0; i < order->stream_count; i++)
		to->done[i] = with->done[i] > to->done[i] ? with->done[i] : to->done[i];
}

/* --- streams and events --- */

static bool is_of(const struct stream *stream, int64_t id, int64_t device)
{
	return stream->id == id && (id != 0 || stream->device == device);
}

/* NULL and UM_ENOMEM's message, or NULL with gave_up. */
static struct stream *find_stream(struct um_sync_order *order, int64_t id, int64_t device,
				  bool is_blocking)
{
	for (uint32_t i = 0; i < order->stream_count; i++)
		if (is_of(&order->streams[i], id, device))
			return &order->streams[i];
	if (order->stream_count == STREAMS_MAX) {
		order->gave_up = true;
		return NULL;
	}
	if (order->stream_count == order->stream_room) {
		uint32_t room = order->stream_room ? 2 * order->stream_room : 4;
		struct stream *grown = reallocarray(order->streams, room, sizeof(*grown));

		if (!grown) {
			um_fail(UM_ENOMEM, "out of memory");
			return NULL;
		}
		order->streams = grown;
		order->stream_room = room;
	}
	order->streams[order->stream_count] =
		(struct stream){.id = id, .device = device, .is_blocking = is_blocking};
	return &order->streams[order->stream_count++];
}

static struct event *find_event(struct um_sync_order *order, int64_t id)
{
	for (size_t i = 0; i < order->event_count; i++)
		if (order->events[i].id == id)
			return &order->events[i];
	return NULL;
}

static struct event *make_event(struct um_sync_order *order, int64_t id)
{
	struct event *event = find_event(order, id);

	if (event)
		return event;
	if (order->event_count == order->event_room) {
		size_t room = order->event_room ? 2 * order->event_room : 16;
		struct event *grown = reallocarray(order->events, room, sizeof(*grown));

		if (!grown) {
			um_fail(UM_ENOMEM, "out of memory");
			return NULL;
		}
		order->events = grown;
		order->event_room = room;
	}
	event = &order->events[order->event_count++];
	*event = (struct event){.id = id};
	return event;
}

/* --- calls --- */

static bool is_async(const struct um_fact_op *op)
{
	return op->flags & UM_OP_ASYNC;
}

/* The null stream waits for blocking streams, and they for it. */
static void enter(const struct um_sync_order *order, struct stream *stream)
{
	if (!stream->is_blocking)
		return;
	for (uint32_t i = 0; i < order->stream_count; i++) {
		const struct stream *other = &order->streams[i];

		if (other != stream && other->is_blocking && other->device == stream->device &&
		    (other->id == 0 || stream->id == 0))
			join(order, &stream->clock, &other->clock);
	}
}

static int enqueue(struct um_sync_order *order, struct stream *stream, const struct um_fact_op *op,
		   struct um_sync_work *work)
{
	uint32_t index = (uint32_t)(stream - order->streams);

	enter(order, stream);
	stream->clock.done[index] = ++stream->position;
	if (!is_async(op)) {
		join(order, &order->host, &stream->clock);
		return 0;
	}
	*work = (struct um_sync_work){index, stream->position};
	return 1;
}

static void wait_for_all(struct um_sync_order *order, int64_t device)
{
	for (uint32_t i = 0; i < order->stream_count; i++)
		if (device == UM_NULL || order->streams[i].device == device)
			join(order, &order->host, &order->streams[i].clock);
}

static int record(struct um_sync_order *order, const struct stream *stream,
		  const struct um_fact_op *op)
{
	struct event *event = make_event(order, op->event);

	if (!event)
		return UM_ENOMEM;
	event->clock = stream->clock;
	if (!order->queries_told)
		join(order, &order->host, &stream->clock);
	return 0;
}

static void wait_for_event(struct um_sync_order *order, struct clock *waiter, int64_t id)
{
	const struct event *event = find_event(order, id);

	if (event)
		join(order, waiter, &event->clock);
}

/* Of calls on a stream. */
static int pass_on_stream(struct um_sync_order *order, struct stream *stream,
			  const struct um_fact_op *op, struct um_sync_work *work)
{
	if (op->kind == order->stream_query) {
		enter(order, stream);
		join(order, &order->host, &stream->clock);
		return 0;
	}
	switch (op->kind) {
	case UM_OP_LAUNCH:
	case UM_OP_COPY:
	case UM_OP_MEMSET:
	case UM_OP_PREFETCH:
		return enqueue(order, stream, op, work);
	case UM_OP_SYNC_STREAM:
	case UM_OP_CALLBACK:
		enter(order, stream);
		join(order, &order->host, &stream->clock);
		return 0;
	case UM_OP_EVENT_RECORD:
		enter(order, stream);
		return record(order, stream, op);
	case UM_OP_STREAM_WAIT:
		enter(order, stream);
		wait_for_event(order, &stream->clock, op->event);
		return 0;
	default:
		return 0;
	}
}

static bool is_on_stream(const struct um_sync_order *order, int kind)
{
	static const int kinds[] = {UM_OP_LAUNCH,	UM_OP_COPY,	   UM_OP_MEMSET,
				    UM_OP_PREFETCH,	UM_OP_CALLBACK,	   UM_OP_SYNC_STREAM,
				    UM_OP_EVENT_RECORD, UM_OP_STREAM_WAIT, UM_OP_STREAM_CREATE};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i] == kind)
			return true;
	return kind == order->stream_query;
}

/* A prefetch has its target there; its stream is of the device that it was made on. */
static int64_t device_of(const struct um_fact_op *op)
{
	int64_t device = op->kind == UM_OP_PREFETCH ? op->value : op->device;

	return device == UM_NULL || device < 0 ? 0 : device;
}

int um_sync_order_pass(struct um_sync_order *order, const struct um_fact_op *op,
		       struct um_sync_work *work)
{
	struct stream *stream;

	if (op->result != 0 || order->gave_up)
		return 0;
	if (op->kind == UM_OP_SYNC_DEVICE)
		wait_for_all(order, op->device);
	/* hipFree() waits for the device, and managed memory may be in use on any. */
	if (op->kind == UM_OP_FREE && !is_async(op))
		wait_for_all(order, UM_NULL);
	if (op->kind == UM_OP_EVENT_SYNC || op->kind == order->event_query)
		wait_for_event(order, &order->host, op->event);
	if (!is_on_stream(order, op->kind))
		return 0;
	stream = find_stream(order, op->stream, device_of(op), !(op->flags & UM_OP_NON_BLOCKING));
	if (!stream)
		return order->gave_up ? 0 : UM_ENOMEM;
	return pass_on_stream(order, stream, op, work);
}

bool um_sync_order_is_done(const struct um_sync_order *order, struct um_sync_work work)
{
	return order->gave_up || order->host.done[work.stream] >= work.position;
}
