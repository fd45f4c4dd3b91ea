/*
 * Streams: tasks in order. Each belongs to a device, which has a null stream of its own. A task of a
 * blocking stream waits for earlier tasks of its device's null stream, and a task of the null stream for
 * earlier tasks of all blocking streams of its device (HIP's legacy default stream). Non-blocking streams
 * wait for neither.
 */
#include "simulation.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

struct stream {
	um_device_id device;
	bool blocking, null;
	struct um_task *first, *last; /* not done; the first may have started */
};

struct um_streams {
	struct um_simulation_state *state;
	struct stream *streams; /* the devices' null streams first */
	uint32_t count, capacity;
	uint32_t own;		     /* the policy's, UM_NO_STREAM until needed */
	struct um_id_map indices;    /* of the program's ids */
	struct um_id_map last_marks; /* of events */
	bool *marks;
	uint32_t mark_count, mark_capacity;
	uint64_t sequence;
	uint64_t waiting; /* tasks not done */
	bool starting;
};

static int add_stream(struct um_streams *streams, const struct stream *stream, uint32_t *index)
{
	if (streams->count == streams->capacity) {
		uint32_t capacity = streams->capacity ? streams->capacity * 2 : 8;
		struct stream *grown = realloc(streams->streams, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u streams", capacity);
		streams->streams = grown;
		streams->capacity = capacity;
	}
	*index = streams->count;
	streams->streams[streams->count++] = *stream;
	return 0;
}

int um_streams_create(struct um_streams **out, struct um_simulation_state *state)
{
	struct um_streams *streams = calloc(1, sizeof(*streams));
	um_device_id devices = (um_device_id)um_machine_spec(state->machine)->devices;
	uint32_t index;
	int error = 0;

	if (!streams)
		return um_fail(UM_ENOMEM, "no memory for streams");
	streams->state = state;
	streams->own = UM_NO_STREAM;
	*out = streams;
	for (um_device_id device = 0; device < devices && !error; device++)
		error = add_stream(
			streams, &(struct stream){.device = device, .blocking = true, .null = true},
			&index);
	return error;
}

void um_streams_destroy(struct um_streams *streams)
{
	if (!streams)
		return;
	for (uint32_t i = 0; i < streams->count; i++)
		for (struct um_task *task = streams->streams[i].first, *next; task; task = next) {
			next = task->next;
			if (task->started && task->abandon)
				task->abandon(task);
			free(task);
		}
	free(streams->streams);
	um_id_map_fini(&streams->indices);
	um_id_map_fini(&streams->last_marks);
	free(streams->marks);
	free(streams);
}

/* Prefetches name their target; `value` is the device of their stream, where the trace has it. */
static um_device_id device_of(const struct um_streams *streams, const struct um_op_row *op)
{
	struct um_op_row on = *op;

	if (um_word_code(um_op_words, op->kind) == UM_OP_PREFETCH && op->value != UM_NULL)
		on.device = op->value;
	return um_simulation_device(streams->state, &on);
}

int um_streams_find(struct um_streams *streams, const struct um_op_row *op, uint32_t *index)
{
	um_device_id device = device_of(streams, op);
	int64_t stream = op->stream;
	const uint32_t *known;
	int error;

	*index = (uint32_t)device;
	if (stream == UM_NULL || stream == 0)
		return 0;
	known = um_id_map_find(&streams->indices, (uint64_t)stream);
	if (known) {
		*index = *known;
		return 0;
	}
	error = add_stream(
		streams,
		&(struct stream){.device = device, .blocking = !(op->flags & UM_OP_NON_BLOCKING)},
		index);
	return error ? error : um_id_map_add(&streams->indices, (uint64_t)stream, *index);
}

int um_streams_own(struct um_streams *streams, uint32_t *index)
{
	int error =
		streams->own == UM_NO_STREAM
			? add_stream(streams, &(struct stream){.blocking = false}, &streams->own)
			: 0;

	*index = streams->own;
	return error;
}

/* --- marks --- */

int um_streams_new_mark(struct um_streams *streams, int64_t event, uint32_t *mark)
{
	uint32_t *last = um_id_map_find(&streams->last_marks, (uint64_t)event);

	if (streams->mark_count == streams->mark_capacity) {
		uint32_t capacity = streams->mark_capacity ? streams->mark_capacity * 2 : 64;
		bool *grown = realloc(streams->marks, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u events", capacity);
		streams->marks = grown;
		streams->mark_capacity = capacity;
	}
	*mark = streams->mark_count++;
	streams->marks[*mark] = false;
	if (!last)
		return um_id_map_add(&streams->last_marks, (uint64_t)event, *mark);
	*last = *mark;
	return 0;
}

bool um_streams_last_mark(const struct um_streams *streams, int64_t event, uint32_t *mark)
{
	const uint32_t *last = um_id_map_find(&streams->last_marks, (uint64_t)event);

	*mark = last ? *last : 0;
	return last;
}

bool um_streams_mark_done(const struct um_streams *streams, uint32_t mark)
{
	return streams->marks[mark];
}

/* --- whose turn it is --- */

static bool precedes(const struct stream *stream, const struct um_task *task)
{
	return stream->first && stream->first->sequence < task->sequence;
}

static bool waits_for_others(const struct um_streams *streams, uint32_t index,
			     const struct um_task *task)
{
	const struct stream *stream = &streams->streams[index];

	if (!stream->null)
		return stream->blocking && precedes(&streams->streams[stream->device], task);
	for (uint32_t i = 0; i < streams->count; i++)
		if (i != index && streams->streams[i].blocking &&
		    streams->streams[i].device == stream->device &&
		    precedes(&streams->streams[i], task))
			return true;
	return false;
}

static int prefetch_done(void *context, uint64_t argument)
{
	struct um_task *task = context;

	(void)argument;
	return um_streams_done(task->state->streams, task);
}

static int start_prefetch(struct um_task *task)
{
	struct um_simulation_state *state = task->state;
	um_ns done_at = task->start;
	int error = 0;

	if (state->driver->ops->on_prefetch)
		error = state->driver->ops->on_prefetch(state->driver, &task->prefetch, &done_at);
	else
		um_ignore(state, "prefetches", "the driver model takes none");

	return error ? error : um_engine_schedule(state->engine, done_at, prefetch_done, task, 0);
}

static int start_event_record(struct um_task *task)
{
	task->state->streams->marks[task->mark] = true;
	return um_streams_done(task->state->streams, task);
}

static int start_event_wait(struct um_task *task)
{
	return um_streams_done(task->state->streams, task);
}

static int start(struct um_task *task)
{
	static int (*const starts[])(struct um_task *) = {
		[UM_TASK_ACCESSES] = um_accesses_start,
		[UM_TASK_KERNEL] = um_kernel_start,
		[UM_TASK_COPY] = um_copy_start,
		[UM_TASK_PREFETCH] = start_prefetch,
		[UM_TASK_EVENT_RECORD] = start_event_record,
		[UM_TASK_EVENT_WAIT] = start_event_wait,
	};

	task->started = true;
	task->start = um_engine_now(task->state->engine);
	return starts[task->kind](task);
}

/* The first task of the stream that can start now, NULL if none. */
static struct um_task *ready_task(const struct um_streams *streams, uint32_t index)
{
	struct um_task *task = streams->streams[index].first;

	if (!task || task->started || waits_for_others(streams, index, task))
		return NULL;
	if (task->kind == UM_TASK_EVENT_WAIT && !streams->marks[task->mark])
		return NULL;
	return task;
}

/* Until nothing more can start: tasks that take no time let others start. */
static int start_all(struct um_streams *streams)
{
	bool again = true;
	int error = 0;

	if (streams->starting)
		return 0; /* called from within: the loop below goes on */
	streams->starting = true;
	while (again && !error) {
		again = false;
		for (uint32_t i = 0; i < streams->count && !error; i++) {
			struct um_task *task = ready_task(streams, i);

			if (task) {
				again = true;
				error = start(task);
			}
		}
	}
	streams->starting = false;
	return error;
}

int um_streams_put(struct um_streams *streams, struct um_task *task)
{
	struct stream *stream = &streams->streams[task->stream];

	task->state = streams->state;
	task->sequence = ++streams->sequence;
	task->next = NULL;
	if (stream->last)
		stream->last->next = task;
	else
		stream->first = task;
	stream->last = task;
	streams->waiting++;
	return start_all(streams);
}

int um_streams_done(struct um_streams *streams, struct um_task *task)
{
	struct stream *stream = &streams->streams[task->stream];
	int error;

	assert(stream->first == task);
	stream->first = task->next;
	if (!stream->first)
		stream->last = NULL;
	streams->waiting--;
	if (!task->silent)
		um_simulation_report(streams->state, &task->op, task->start,
				     um_engine_now(streams->state->engine));
	free(task);
	error = start_all(streams);
	if (!error)
		error = um_host_look(streams->state->host);
	return error ? error : um_simulation_check_exit(streams->state);
}

bool um_streams_idle(const struct um_streams *streams)
{
	return !streams->waiting;
}

bool um_streams_idle_on(const struct um_streams *streams, um_device_id device)
{
	for (uint32_t i = 0; i < streams->count; i++)
		if (streams->streams[i].device == device && streams->streams[i].first)
			return false;
	return true;
}

bool um_stream_idle(const struct um_streams *streams, uint32_t index)
{
	return !streams->streams[index].first;
}

bool um_streams_passed(const struct um_streams *streams, uint32_t index, uint64_t sequence)
{
	const struct stream *stream = &streams->streams[index];

	return !stream->first || stream->first->sequence > sequence;
}

uint64_t um_streams_last_sequence(const struct um_streams *streams)
{
	return streams->sequence;
}
