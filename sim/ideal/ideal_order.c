/*
 * Vector clocks: for the host, each stream and each recorded event, up to which number the
 * operations of each stream are known to be over. Streams belong to devices, each of which has a null
 * stream. Beyond STREAMS streams, and EVENTS events, no more is known than what the host waits for in
 * waiting for everything: less order, never more.
 */
#include "ideal_order.h"

#include "sim/source/id_map.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>

#define STREAMS 32u
#define OTHERS	(STREAMS - 1) /* all streams that have no place of their own */
#define EVENTS	65536u

struct clock {
	uint32_t over[STREAMS];
};

struct stream {
	struct clock clock; /* of what comes next on it */
	uint32_t last;	    /* number of the last operation on it */
	int64_t device;
	bool blocking, null;
};

struct um_op_order {
	uint32_t count; /* numbers given */
	uint32_t streams;
	bool several; /* devices had something to do */
	struct stream stream[STREAMS];
	struct clock host;
	struct um_id_map stream_places, event_places;
	struct clock *events;
	uint32_t event_count, event_capacity;
};

int um_op_order_create(struct um_op_order **out)
{
	struct um_op_order *order = calloc(1, sizeof(*order));

	if (!order)
		return um_fail(UM_ENOMEM, "no memory for the order of operations");
	*out = order;
	return 0;
}

void um_op_order_destroy(struct um_op_order *order)
{
	if (!order)
		return;
	um_id_map_fini(&order->stream_places);
	um_id_map_fini(&order->event_places);
	free(order->events);
	free(order);
}

static void join(struct clock *clock, const struct clock *other)
{
	for (size_t i = 0; i < STREAMS; i++)
		if (other->over[i] > clock->over[i])
			clock->over[i] = other->over[i];
}

/* As actor_stream.c has it. */
static int64_t device_of(const struct um_op_row *op)
{
	bool names_target = um_word_code(um_op_words, op->kind) == UM_OP_PREFETCH;
	int64_t device = names_target && op->value != UM_NULL ? op->value : op->device;

	return device > 0 ? device : 0;
}

/* Ids count from 1; the null streams come from the other end. */
static uint64_t stream_key(const struct um_op_row *op)
{
	if (op->stream == UM_NULL || op->stream == 0)
		return UINT64_MAX - (uint64_t)device_of(op);
	return (uint64_t)op->stream;
}

static int find_stream(struct um_op_order *order, const struct um_op_row *op, uint32_t *place)
{
	uint64_t key = stream_key(op);
	const uint32_t *known = um_id_map_find(&order->stream_places, key);
	struct stream stream = {
		.device = device_of(op),
		.null = op->stream == UM_NULL || op->stream == 0,
	};

	if (known) {
		*place = *known;
		return 0;
	}
	stream.blocking = stream.null || !(op->flags & UM_OP_NON_BLOCKING);
	*place = order->streams < OTHERS ? order->streams++ : OTHERS;
	if (*place != OTHERS)
		order->stream[*place] = stream;
	if (stream.device != order->stream[0].device)
		order->several = true;
	return um_id_map_add(&order->stream_places, key, *place);
}

static bool wait_for_each_other(const struct stream *a, const struct stream *b)
{
	return a->device == b->device && a->null != b->null && a->blocking && b->blocking;
}

/* What is over when the next operation on the stream begins. */
static struct clock clock_of_next(struct um_op_order *order, uint32_t place)
{
	struct clock clock = order->host;

	if (place == OTHERS)
		return clock;
	join(&clock, &order->stream[place].clock);
	for (uint32_t i = 0; i < order->streams; i++)
		if (wait_for_each_other(&order->stream[place], &order->stream[i]))
			join(&clock, &order->stream[i].clock);
	return clock;
}

static bool all_is_over(const struct um_op_order *order, const struct clock *clock)
{
	for (size_t i = 0; i < STREAMS; i++)
		if (order->stream[i].last > clock->over[i])
			return false;
	return true;
}

int um_op_order_task(struct um_op_order *order, const struct um_op_row *op, bool counts,
		     bool *alone)
{
	struct stream *stream;
	struct clock clock;
	uint32_t place;
	int error = find_stream(order, op, &place);

	if (error)
		return error;
	stream = &order->stream[place];
	clock = clock_of_next(order, place);
	*alone = all_is_over(order, &clock);
	if (counts)
		stream->last = ++order->count;
	if (place != OTHERS) {
		clock.over[place] = order->count;
		stream->clock = clock;
	}
	/* A memset or copy that returns when its work is done. */
	if (!(op->flags & UM_OP_ASYNC) && place != OTHERS &&
	    um_word_code(um_op_words, op->kind) != UM_OP_LAUNCH)
		join(&order->host, &stream->clock);
	return 0;
}

uint32_t um_op_order_over(const struct um_op_order *order)
{
	uint32_t over = order->count;

	for (size_t i = 0; i < STREAMS; i++)
		if (order->stream[i].last > order->host.over[i] && order->host.over[i] < over)
			over = order->host.over[i];
	return over;
}

/* --- what the host does --- */

void um_op_order_wait_all(struct um_op_order *order)
{
	for (size_t i = 0; i < STREAMS; i++)
		order->host.over[i] = order->count;
}

static int sync_device(struct um_op_order *order, const struct um_op_row *op)
{
	if (!order->several && (!order->streams || order->stream[0].device == device_of(op))) {
		um_op_order_wait_all(order);
		return 0;
	}
	for (uint32_t i = 0; i < order->streams; i++) {
		if (order->stream[i].device != device_of(op))
			continue;
		order->host.over[i] = order->count;
		join(&order->host, &order->stream[i].clock);
	}
	return 0;
}

static int sync_stream(struct um_op_order *order, const struct um_op_row *op)
{
	uint32_t place;
	int error = find_stream(order, op, &place);

	if (error || place == OTHERS)
		return error;
	order->host.over[place] = order->count;
	join(&order->host, &order->stream[place].clock);
	return 0;
}

static int create_stream(struct um_op_order *order, const struct um_op_row *op)
{
	uint32_t place;

	return find_stream(order, op, &place);
}

static int add_event(struct um_op_order *order, const struct um_op_row *op, struct clock **out)
{
	if (order->event_count == order->event_capacity) {
		uint32_t capacity = order->event_capacity ? order->event_capacity * 2 : 16;
		struct clock *grown = realloc(order->events, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u events", capacity);
		order->events = grown;
		order->event_capacity = capacity;
	}
	*out = &order->events[order->event_count];
	return um_id_map_add(&order->event_places, (uint64_t)op->event, order->event_count++);
}

/* NULL: it was never recorded, or is one too many. */
static struct clock *find_event(const struct um_op_order *order, const struct um_op_row *op)
{
	const uint32_t *place = um_id_map_find(&order->event_places, (uint64_t)op->event);

	return place ? &order->events[*place] : NULL;
}

/* A task that takes no time: what is over at it is over at what comes next on its stream. */
static int record_event(struct um_op_order *order, const struct um_op_row *op)
{
	struct clock *event = find_event(order, op);
	uint32_t place;
	int error = find_stream(order, op, &place);

	if (!error && !event && order->event_count < EVENTS)
		error = add_event(order, op, &event);
	if (error)
		return error;
	struct clock clock = clock_of_next(order, place);

	if (place != OTHERS)
		order->stream[place].clock = clock;
	if (event)
		*event = clock;
	return 0;
}

static int stream_wait(struct um_op_order *order, const struct um_op_row *op)
{
	const struct clock *event = find_event(order, op);
	uint32_t place;
	int error = find_stream(order, op, &place);

	if (error || !event || place == OTHERS)
		return error;
	order->stream[place].clock = clock_of_next(order, place);
	join(&order->stream[place].clock, event);
	return 0;
}

static int event_sync(struct um_op_order *order, const struct um_op_row *op)
{
	const struct clock *event = find_event(order, op);

	if (event)
		join(&order->host, event);
	return 0;
}

int um_op_order_host(struct um_op_order *order, const struct um_op_row *op)
{
	static int (*const calls[])(struct um_op_order *, const struct um_op_row *) = {
		[UM_OP_SYNC_DEVICE] = sync_device,   [UM_OP_SYNC_STREAM] = sync_stream,
		[UM_OP_EVENT_RECORD] = record_event, [UM_OP_EVENT_SYNC] = event_sync,
		[UM_OP_STREAM_WAIT] = stream_wait,   [UM_OP_STREAM_CREATE] = create_stream,
		[UM_OP_EVENT_QUERY] = event_sync,    [UM_OP_STREAM_QUERY] = sync_stream,
	};
	int code = um_word_code(um_op_words, op->kind);

	if (code < 0 || (size_t)code >= sizeof(calls) / sizeof(*calls) || !calls[code])
		return 0;
	return calls[code](order, op);
}
