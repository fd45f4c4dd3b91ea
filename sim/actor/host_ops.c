/* What each kind of operation does: put on its stream, or done by the host itself. */
#include "host.h"

#include "trace/base/error.h"

#include <stdlib.h>

typedef int (*op_fn)(struct um_host *);

/* --- operations on streams --- */

static int find_stream(struct um_host *host, uint32_t *index)
{
	return um_streams_find(host->state->streams, &host->op, index);
}

static int put_task(struct um_host *host, enum um_task_kind kind, uint32_t mark)
{
	struct um_task *task = calloc(1, sizeof(*task));
	int error;

	if (!task)
		return um_fail(UM_ENOMEM, "no memory for a task");
	task->kind = kind;
	task->op = host->op;
	task->mark = mark;
	if (kind == UM_TASK_PREFETCH)
		task->prefetch = (struct um_prefetch){
			.range = um_simulation_pages(host->state, host->op.allocation,
						     host->op.offset_bytes, host->op.bytes),
			.to = (um_device_id)host->op.device,
			.op = (uint32_t)host->op.op,
		};
	error = find_stream(host, &task->stream);
	if (error) {
		free(task);
		return error;
	}
	host->has_op = false; /* the task tells when it is over */
	host->wait_stream = task->stream;
	error = um_streams_put(host->state->streams, task);
	host->wait_sequence = um_streams_last_sequence(host->state->streams);
	return error;
}

static int put_and_wait(struct um_host *host, enum um_task_kind kind)
{
	bool waits = !(host->op.flags & UM_OP_ASYNC);
	int error = put_task(host, kind, 0);

	if (waits)
		host->wait = WAIT_TASK;
	return error;
}

/*
 * What the policy has to do at this op; the program waits for it as for calls of its own. Again as
 * long as the host waits afterwards.
 */
static int act_policy(struct um_host *host)
{
	um_ns done_at = um_engine_now(host->state->engine);
	struct um_task_name prefetch;
	int error = um_player_act(host->state->player, &host->op, &done_at, &prefetch);

	if (error || prefetch.stream == UM_NO_STREAM)
		return error ? error : um_host_wait_until(host, done_at);
	host->wait = WAIT_TASK; /* longer than calls before it: those have the driver's lock */
	host->wait_stream = prefetch.stream;
	host->wait_sequence = prefetch.sequence;
	return 0;
}

/*
 * Once for a launch or memset, where the driver asks for it: what it accesses is told on its stream before.
 * The host may have to wait for what the driver makes of it, and comes here again.
 */
static int tell_accesses(struct um_host *host)
{
	struct um_task *task;
	int error;

	if (!um_accesses_are_told(host->state) || host->told_accesses)
		return 0;
	task = calloc(1, sizeof(*task));
	if (!task)
		return um_fail(UM_ENOMEM, "no memory for a task");
	task->kind = UM_TASK_ACCESSES;
	task->op = host->op;
	task->silent = true;
	error = find_stream(host, &task->stream);
	if (error) {
		free(task);
		return error;
	}
	host->told_accesses = true;
	host->wait_stream = task->stream;
	error = um_streams_put(host->state->streams, task);
	host->wait_sequence = um_streams_last_sequence(host->state->streams);
	if (um_accesses_hold_the_host(host->state))
		host->wait = WAIT_TASK;
	return error;
}

/* Runs again when the policy's calls have returned, and when the driver knows of the accesses. */
static int do_launch(struct um_host *host)
{
	int error = host->told_accesses ? 0 : act_policy(host);

	if (!error && !host->wait)
		error = tell_accesses(host);
	if (error || host->wait)
		return error;
	host->told_accesses = false;
	return put_task(host, UM_TASK_KERNEL, 0);
}

static int do_memset(struct um_host *host)
{
	int error = tell_accesses(host);

	if (error || host->wait)
		return error;
	host->told_accesses = false;
	return put_and_wait(host, UM_TASK_KERNEL);
}

static int do_copy(struct um_host *host)
{
	return put_and_wait(host, UM_TASK_COPY);
}

static int check_target_device(const struct um_host *host)
{
	int64_t devices = um_machine_spec(host->state->machine)->devices;

	if (host->op.device >= UM_HOST && host->op.device < devices)
		return 0;
	return um_fail(UM_EINVAL, "op %lld names device %lld; machine %s has %lld",
		       (long long)host->op.op, (long long)host->op.device,
		       um_machine_spec(host->state->machine)->name, (long long)devices);
}

/* For advice and prefetches: of what HIP does not know as managed nothing happens. */
static int find_target(struct um_host *host, bool *found)
{
	int error;

	*found = host->op.allocation != UM_NULL && host->op.allocation != 0;
	if (!*found)
		return 0;
	error = um_simulation_ensure(host->state, host->op.allocation, host->op.op);
	*found = !error && um_simulation_takes_advice(host->state, host->op.allocation);
	return error;
}

static int do_prefetch(struct um_host *host)
{
	bool found;
	int error = find_target(host, &found);

	if (error || !found || !host->state->policy->keep_program_prefetch ||
	    um_player_leaves_out(host->state->player, &host->op))
		return error;
	error = check_target_device(host);
	if (!error)
		error = put_task(host, UM_TASK_PREFETCH, 0);
	if (!error && um_simulation_prefetch_waits(host->state))
		host->wait = WAIT_TASK;
	return error;
}

static int do_event_record(struct um_host *host)
{
	uint32_t mark;
	int error = um_streams_new_mark(host->state->streams, host->op.event, &mark);

	return error ? error : put_task(host, UM_TASK_EVENT_RECORD, mark);
}

static int do_stream_wait(struct um_host *host)
{
	uint32_t mark;

	if (!um_streams_last_mark(host->state->streams, host->op.event, &mark))
		return 0;
	return put_task(host, UM_TASK_EVENT_WAIT, mark);
}

static int do_stream_create(struct um_host *host)
{
	uint32_t index;

	return find_stream(host, &index);
}

/* --- operations of the host --- */

static int do_nothing(struct um_host *host)
{
	(void)host;
	return 0;
}

/* Told when it ends. */
static int do_range(struct um_host *host)
{
	if (um_host_ranges_begin(host->ranges, &host->op, um_engine_now(host->state->engine)))
		host->has_op = false;
	return 0;
}

static int do_sync_device(struct um_host *host)
{
	host->wait = WAIT_DEVICE;
	host->wait_device = um_simulation_device(host->state, &host->op);
	return 0;
}

static int do_sync_stream(struct um_host *host)
{
	host->wait = WAIT_STREAM;
	return find_stream(host, &host->wait_stream);
}

static int do_event_sync(struct um_host *host)
{
	if (um_streams_last_mark(host->state->streams, host->op.event, &host->wait_mark))
		host->wait = WAIT_MARK;
	return 0;
}

/* Runs again when the memory is there, and again when the policy's calls have returned. */
static int do_alloc(struct um_host *host)
{
	um_ns done_at = um_engine_now(host->state->engine);
	int error;

	if (host->op.allocation == UM_NULL || host->op.allocation == 0)
		return 0;
	error = um_simulation_make(host->state, host->op.allocation, host->op.op, &done_at);
	if (!error)
		error = um_host_wait_until(host, done_at);
	return error || host->wait ? error : act_policy(host);
}

/* Runs again when the devices are idle. */
static int do_free(struct um_host *host)
{
	struct um_simulation_state *state = host->state;
	um_alloc_id id = (um_alloc_id)host->op.allocation;
	um_ns done_at = um_engine_now(state->engine);
	int error;

	if (host->op.allocation <= 0 || !um_machine_home(state->machine, id))
		return 0;
	if (!um_streams_idle(state->streams)) {
		host->wait = WAIT_ALL;
		return 0;
	}
	error = state->driver->ops->on_free(state->driver, id, &done_at);
	um_machine_remove(state->machine, id);
	return error ? error : um_host_wait_until(host, done_at);
}

static int give_advice(struct um_host *host, enum um_advice_kind kind)
{
	struct um_simulation_state *state = host->state;
	struct um_advice advice = {
		.range = um_simulation_pages(state, host->op.allocation, host->op.offset_bytes,
					     host->op.bytes),
		.kind = kind,
		.device = (um_device_id)host->op.device,
		.op = (uint32_t)host->op.op,
	};
	bool names_device = kind == UM_ADVICE_PREFERRED_LOCATION || kind == UM_ADVICE_ACCESSED_BY;
	um_ns done_at = um_engine_now(state->engine);
	int error = names_device ? check_target_device(host) : 0;

	if (!error)
		error = um_simulation_advise(state, &advice, &done_at);
	return error ? error : um_host_wait_until(host, done_at);
}

static int do_advise(struct um_host *host)
{
	bool found;
	int error = find_target(host, &found), kind;

	if (error || !found || !host->state->policy->keep_program_advice || !host->op.advice ||
	    um_player_leaves_out(host->state->player, &host->op))
		return error;
	kind = um_word_code(um_advice_words, host->op.advice);
	if (kind > 0)
		return give_advice(host, (enum um_advice_kind)kind);
	um_ignore(host->state, "advice", "a kind of advice that is not known");
	return 0;
}

static int do_attach(struct um_host *host)
{
	um_ignore(host->state, "hipStreamAttachMemAsync",
		  "attaching memory to a stream changes no placement here");
	return 0;
}

/* --- all of them --- */

static const struct op {
	op_fn run;
	bool again; /* runs once more after it has waited */
} ops[] = {
	[UM_OP_ALLOC] = {do_alloc, true},
	[UM_OP_FREE] = {do_free, true},
	[UM_OP_ADVISE] = {do_advise, false},
	[UM_OP_PREFETCH] = {do_prefetch, false},
	[UM_OP_COPY] = {do_copy, false},
	[UM_OP_MEMSET] = {do_memset, true},
	[UM_OP_LAUNCH] = {do_launch, true},
	[UM_OP_SYNC_DEVICE] = {do_sync_device, false},
	[UM_OP_SYNC_STREAM] = {do_sync_stream, false},
	[UM_OP_EVENT_RECORD] = {do_event_record, false},
	[UM_OP_EVENT_SYNC] = {do_event_sync, false},
	[UM_OP_STREAM_WAIT] = {do_stream_wait, false},
	[UM_OP_STREAM_CREATE] = {do_stream_create, false},
	[UM_OP_STREAM_DESTROY] = {do_nothing, false},
	[UM_OP_ATTACH] = {do_attach, false},
	[UM_OP_HOST] = {um_host_load_rows, false},
	[UM_OP_RANGE] = {do_range, false},
	[UM_OP_NAME] = {act_policy, true},
	[UM_OP_NAME_END] = {do_nothing, false},
	[UM_OP_PROFILER_START] = {do_nothing, false},
	[UM_OP_PROFILER_STOP] = {do_nothing, false},
	[UM_OP_CALLBACK] = {do_nothing, false},
	[UM_OP_EVENT_QUERY] = {do_event_sync,
			       false}, /* until it was done the program asked again */
	[UM_OP_STREAM_QUERY] = {do_sync_stream, false},
};

/* NULL if there is no such kind. */
static const struct op *find_op(const char *kind)
{
	int code = um_word_code(um_op_words, kind);

	return code >= 0 && (size_t)code < sizeof(ops) / sizeof(*ops) ? &ops[code] : NULL;
}

static bool failed(const struct um_op_row *op)
{
	return op->result != UM_NULL && op->result != 0;
}

int um_host_begin_op(struct um_host *host)
{
	const struct op *op = find_op(host->op.kind);

	host->row_count = host->row = 0;
	if (failed(&host->op))
		return 0;
	if (!op || !op->run)
		return um_fail(UM_EFORMAT, "op %lld is of a kind that there is not",
			       (long long)host->op.op);
	return op->run(host);
}

int um_host_resume_op(struct um_host *host)
{
	const struct op *op = find_op(host->op.kind);

	return op->again ? op->run(host) : 0;
}
