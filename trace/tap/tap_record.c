#include "tap.h"
#include "tap_map.h"

#include <string.h>

/* Of the ring, kept for what the program itself does when the driver has much to tell. */
#define KEPT_PART 8
/*
 * How many calls of the driver may lie between a call and the news of it. The times of older ones are
 * lost, and counted.
 */
#define CORRELATIONS (1u << 20)
/* Times that came before their op was written: a blocking call tells of itself when it returns. */
#define EARLY 256u

struct correlated {
	uint32_t correlation;
	uint32_t op;
};
struct early {
	uint32_t correlation; /* 0: none */
	int32_t device;
	uint64_t start_ns, end_ns;
};

static struct correlated *correlated;
static struct early early[EARLY];
static uint32_t early_count;
static uint32_t last_thread, last_stream, last_event, last_op, last_allocation;
static struct um_tap_map streams, events;

/* --- numbers --- */

uint32_t um_tap_thread_number(void)
{
	struct um_tap_thread *thread = um_tap_thread();

	if (!thread->number)
		thread->number = ++last_thread;
	return thread->number;
}

static uint32_t number_of(struct um_tap_map *map, const void *handle, uint32_t *last)
{
	uint64_t number = 0;

	if (!handle)
		return 0;
	if (!um_tap_map_get(map, (uintptr_t)handle, &number)) {
		number = ++*last;
		um_tap_map_set(map, (uintptr_t)handle, number);
	}
	return (uint32_t)number;
}

/* The default stream of a thread is none of the program's handles. */
uint32_t um_tap_stream(void *stream, bool per_thread)
{
	struct um_tap_thread *thread = um_tap_thread();

	if (stream == UM_CUDA_STREAM_LEGACY || (!stream && !per_thread))
		return 0;
	if (stream && stream != UM_CUDA_STREAM_PER_THREAD)
		return number_of(&streams, stream, &last_stream);
	if (!thread->stream)
		thread->stream = ++last_stream;
	return thread->stream;
}

void *um_tap_stream_handle(uint32_t number)
{
	return (void *)(uintptr_t)um_tap_map_key(&streams, number);
}

void um_tap_forget_stream(void *stream)
{
	um_tap_map_remove(&streams, (uintptr_t)stream);
}

uint32_t um_tap_event(void *event)
{
	return number_of(&events, event, &last_event);
}

void um_tap_forget_event(void *event)
{
	um_tap_map_remove(&events, (uintptr_t)event);
}

uint32_t um_tap_last_op(void)
{
	return last_op;
}

uint32_t um_tap_next_allocation(void)
{
	return ++last_allocation;
}

/* --- room --- */

static void *reserve(size_t bytes)
{
	void *room = um_spool_try_reserve(um_tap.writer, bytes);

	if (room)
		return room;
	if (um_spool_is_on(um_tap.writer))
		um_tap_lost(UM_LOSS_DROPPED, 1, "records: the spool was full");
	else
		um_tap_switch_off();
	return NULL;
}

void *um_tap_reserve(size_t bytes)
{
	return reserve(bytes);
}

void *um_tap_reserve_bulk(size_t bytes)
{
	if (um_spool_room(um_tap.writer) >= um_spool_capacity(um_tap.writer) / KEPT_PART)
		return reserve(bytes);
	if (um_spool_is_on(um_tap.writer))
		um_tap_lost(UM_LOSS_DROPPED, 1, "records: the spool was full");
	return NULL;
}

void um_tap_commit(void)
{
	um_spool_commit(um_tap.writer);
}

bool um_tap_put(const struct um_record *record)
{
	void *room = um_tap_reserve(record->bytes);

	if (!room)
		return false;
	memcpy(room, record, record->bytes);
	um_tap_commit();
	return true;
}

/* --- ops and their times --- */

static void put_time(uint32_t op, int32_t device, uint64_t start_ns, uint64_t end_ns)
{
	struct um_record_time *time = um_tap_reserve_bulk(sizeof(*time));

	if (!time)
		return;
	*time = (struct um_record_time){
		.header = {sizeof(*time), UM_RECORD_TIME, 0},
		.op = op,
		.device = device,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};
	um_tap_commit();
}

static void correlate(uint32_t correlation, uint32_t op)
{
	struct early *waiting = early + correlation % EARLY;

	if (!correlated)
		correlated = um_tap_reserve_memory(CORRELATIONS * sizeof(*correlated));
	if (correlated)
		correlated[correlation % CORRELATIONS] = (struct correlated){correlation, op};
	if (!early_count || waiting->correlation != correlation)
		return;
	put_time(op, waiting->device, waiting->start_ns, waiting->end_ns);
	waiting->correlation = 0;
	early_count--;
}

uint32_t um_tap_put_op(struct um_record_op *op, uint32_t correlation)
{
	bool again = op->op != 0; /* it was begun */

	op->header = (struct um_record){sizeof(*op), UM_RECORD_OP, 0};
	op->thread = um_tap_thread_number();
	if (!again)
		op->op = last_op + 1;
	if (!um_tap_put(&op->header)) {
		op->op = again ? op->op : 0;
		return 0;
	}
	if (!again)
		last_op++;
	if (correlation)
		correlate(correlation, op->op);
	return op->op;
}

uint32_t um_tap_op_of(uint32_t correlation)
{
	const struct correlated *known =
		correlated ? correlated + correlation % CORRELATIONS : NULL;

	return known && known->correlation == correlation ? known->op : 0;
}

void um_tap_put_time(uint32_t correlation, int32_t device, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t op = um_tap_op_of(correlation);
	struct early *waiting = early + correlation % EARLY;

	if (!correlation)
		return;
	if (op) {
		put_time(op, device, start_ns, end_ns);
		return;
	}
	if (waiting->correlation)
		um_tap_lost(UM_LOSS_DROPPED, 1, "times of calls that are not known");
	else
		early_count++;
	*waiting = (struct early){correlation, device, start_ns, end_ns};
}
