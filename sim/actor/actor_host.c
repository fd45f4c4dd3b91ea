/*
 * The host: the program's operations in order, one after the other whatever thread they came from.
 * It takes no time of its own; it waits for what the program waited for (synchronisation, copies
 * and memsets that are not asynchronous, frees, which wait for all devices), for its faults, and
 * for calls as long as the driver says that they take.
 * What a failed call asked for does not happen.
 */
#include "simulation.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

enum wait_for { WAIT_NOTHING, WAIT_ALL, WAIT_STREAM, WAIT_TASK, WAIT_MARK, WAIT_TIME };

struct um_host {
	struct um_simulation_state *state;
	struct um_op_row op; /* going on */
	bool has_op, at_end;
	um_ns op_start;
	uint64_t done, all;

	enum wait_for wait;
	uint32_t wait_stream, wait_mark;
	uint64_t wait_sequence;

	struct um_page_access_row *rows; /* of a host op; a copy, since the source's live shorter */
	size_t row_count, row;
	um_page page; /* within the row */
	bool writes;  /* the row's second pass */
};

typedef int (*op_fn)(struct um_host *);

/* --- life --- */

int um_host_create(struct um_host **out, struct um_simulation_state *state)
{
	struct um_host *host = calloc(1, sizeof(*host));
	int64_t all;
	int error;

	if (!host)
		return um_fail(UM_ENOMEM, "no memory for the host");
	*out = host;
	host->state = state;
	error = um_db_integer(state->request->trace, "SELECT count(*) FROM op WHERE op > ?",
			      INT64_MIN, &all);
	host->all = error ? 0 : (uint64_t)all;
	return error;
}

void um_host_destroy(struct um_host *host)
{
	if (!host)
		return;
	free(host->rows);
	free(host);
}

/* --- waiting --- */

static bool is_over(const struct um_host *host)
{
	const struct um_streams *streams = host->state->streams;

	switch (host->wait) {
	case WAIT_ALL:
		return um_streams_idle(streams);
	case WAIT_STREAM:
		return um_stream_idle(streams, host->wait_stream);
	case WAIT_TASK:
		return um_streams_passed(streams, host->wait_stream, host->wait_sequence);
	case WAIT_MARK:
		return um_streams_mark_done(streams, host->wait_mark);
	case WAIT_TIME: /* time_has_come() says so */
		return false;
	case WAIT_NOTHING:
		break;
	}
	return true;
}

static int step(void *context, uint64_t argument);

int um_host_look(struct um_host *host)
{
	if (host->wait == WAIT_NOTHING || !is_over(host))
		return 0;
	host->wait = WAIT_NOTHING;
	return um_engine_schedule(host->state->engine, um_engine_now(host->state->engine), step,
				  host, 0);
}

static int time_has_come(void *context, uint64_t argument)
{
	struct um_host *host = context;

	host->wait = WAIT_NOTHING;
	return step(host, argument);
}

/* A call that returns at `at`, if that is not now. */
static int wait_until(struct um_host *host, um_ns at)
{
	if (at <= um_engine_now(host->state->engine))
		return 0;
	host->wait = WAIT_TIME;
	return um_engine_schedule(host->state->engine, at, time_has_come, host, 0);
}

static void end_op(struct um_host *host)
{
	um_simulation_report(host->state, &host->op, host->op_start,
			     um_engine_now(host->state->engine));
	host->has_op = false;
}

/* --- operations on streams --- */

static int find_stream(struct um_host *host, uint32_t *index)
{
	return um_streams_find(host->state->streams, host->op.stream,
			       host->op.flags & UM_OP_NON_BLOCKING, index);
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

/* What the policy has to do at this op; the program waits for it as for calls of its own. */
static int act_policy(struct um_host *host)
{
	um_ns done_at = um_engine_now(host->state->engine);
	int error = um_player_act(host->state->player, &host->op, &done_at);

	return error ? error : wait_until(host, done_at);
}

/* Runs again when the policy's calls have returned. */
static int do_launch(struct um_host *host)
{
	int error = act_policy(host);

	return error || host->wait ? error : put_task(host, UM_TASK_KERNEL, 0);
}

static int do_memset(struct um_host *host)
{
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

static bool is_managed(const struct um_host *host)
{
	return um_machine_home(host->state->machine, (um_alloc_id)host->op.allocation) ==
	       UM_HOME_MANAGED;
}

/* For advice and prefetches: of what HIP does not know as managed nothing happens. */
static int find_target(struct um_host *host, bool *found)
{
	int error;

	*found = host->op.allocation != UM_NULL && host->op.allocation != 0;
	if (!*found)
		return 0;
	error = um_simulation_ensure(host->state, host->op.allocation, host->op.op);
	*found = !error && is_managed(host);
	return error;
}

static int do_prefetch(struct um_host *host)
{
	bool found;
	int error = find_target(host, &found);

	if (error || !found || !host->state->policy->keep_program_prefetch)
		return error;
	error = check_target_device(host);
	return error ? error : put_task(host, UM_TASK_PREFETCH, 0);
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

static int do_sync_device(struct um_host *host)
{
	host->wait = WAIT_ALL;
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
		error = wait_until(host, done_at);
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
	return error ? error : wait_until(host, done_at);
}

static const struct {
	const char *name;
	enum um_advice_kind kind;
} advice_names[] = {
	{"read_mostly", UM_ADVICE_READ_MOSTLY},
	{"unset_read_mostly", UM_ADVICE_UNSET_READ_MOSTLY},
	{"preferred_location", UM_ADVICE_PREFERRED_LOCATION},
	{"unset_preferred_location", UM_ADVICE_UNSET_PREFERRED_LOCATION},
	{"accessed_by", UM_ADVICE_ACCESSED_BY},
	{"unset_accessed_by", UM_ADVICE_UNSET_ACCESSED_BY},
	{"coarse_grain", UM_ADVICE_COARSE_GRAIN},
	{"unset_coarse_grain", UM_ADVICE_UNSET_COARSE_GRAIN},
};

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
	return error ? error : wait_until(host, done_at);
}

static int do_advise(struct um_host *host)
{
	bool found;
	int error = find_target(host, &found);

	if (error || !found || !host->state->policy->keep_program_advice || !host->op.advice)
		return error;
	for (size_t i = 0; i < sizeof(advice_names) / sizeof(*advice_names); i++)
		if (!strcmp(advice_names[i].name, host->op.advice))
			return give_advice(host, advice_names[i].kind);
	um_ignore(host->state, "advice", "a kind of advice that is not known");
	return 0;
}

static int do_attach(struct um_host *host)
{
	um_ignore(host->state, "hipStreamAttachMemAsync",
		  "attaching memory to a stream changes no placement here");
	return 0;
}

/* --- the host's own accesses --- */

static int load_rows(struct um_host *host)
{
	const struct um_page_access_row *rows;
	long count = um_source_pages(host->state->source, host->op.op, &rows);
	struct um_page_access_row *copy;

	if (count < 0)
		return (int)count;
	copy = realloc(host->rows, ((size_t)count + 1) * sizeof(*copy));
	if (!copy)
		return um_fail(UM_ENOMEM, "no memory for %ld page accesses", count);
	if (count)
		memcpy(copy, rows, (size_t)count * sizeof(*copy));
	host->rows = copy;
	host->row_count = (size_t)count;
	host->row = 0;
	host->page = 0;
	host->writes = false;
	return 0;
}

static int host_fault(struct um_host *host, const struct um_page_range *ahead)
{
	struct um_fault fault = {
		.device = UM_HOST,
		.allocation = ahead->allocation,
		.page = ahead->first_page,
		.pages_ahead = ahead->pages,
		.access = host->writes ? UM_ACCESS_WRITE : UM_ACCESS_READ,
		.op = (uint32_t)host->op.op,
	};

	return um_fault_buffers_raise(host->state->faults, &fault, step, host, 0);
}

/* As much as can be touched of what is left of the row; *waits: step() will run again. */
static int touch_some(struct um_host *host, const struct um_page_access_row *row, bool *waits)
{
	struct um_simulation_state *state = host->state;
	um_alloc_id id = (um_alloc_id)row->allocation;
	um_page page = (um_page)row->first_page + host->page;
	um_page limit = (um_page)(row->first_page + row->pages);
	enum um_mapping_state map;
	uint32_t place;
	um_page end = um_machine_run_end(state->machine, id, page, limit, UM_HOST, &place, &map);
	struct um_page_range run = {id, page, end - page}, ahead = {id, page, limit - page};
	um_ns ready;

	if (map == UM_MAP_NONE || (map == UM_MAP_LOCAL_READ && host->writes)) {
		*waits = true;
		return host_fault(host, &ahead);
	}
	ready = um_machine_ready_at(state->machine, &run, UM_HOST);
	if (!(place & UM_PAGE_POPULATED))
		um_machine_touch(state->machine, &run, UM_HOST, host->writes,
				 (uint32_t)host->op.op);
	if (state->driver->ops->on_touch)
		state->driver->ops->on_touch(state->driver, &run, UM_HOST, host->writes);
	host->page += run.pages;
	*waits = ready > 0;
	return ready ? um_engine_schedule(state->engine, ready, step, host, 0) : 0;
}

/* The row's reads, then its writes, since what it read first it may have read before it wrote. */
static void next_pass(struct um_host *host, const struct um_page_access_row *row)
{
	bool more = !host->writes && row->touch & UM_TOUCH_WRITTEN;

	host->page = 0;
	host->writes = more;
	host->row += !more;
}

static bool reads_first(const struct um_page_access_row *row)
{
	return row->touch & UM_TOUCH_READ && !(row->touch & UM_TOUCH_WRITTEN_FIRST);
}

static int check_host_row(struct um_host *host, const struct um_page_access_row *row)
{
	int error = um_simulation_ensure(host->state, row->allocation, row->op);
	int64_t pages;

	if (error)
		return error;
	pages = um_machine_pages(host->state->machine, (um_alloc_id)row->allocation);
	if (row->first_page < 0 || row->pages < 1 || row->first_page >= pages ||
	    row->pages > pages - row->first_page)
		return um_fail(UM_EFORMAT,
			       "op %lld: the host touches pages outside allocation %lld",
			       (long long)row->op, (long long)row->allocation);
	if (um_machine_home(host->state->machine, (um_alloc_id)row->allocation) != UM_HOME_DEVICE)
		return 0;
	return um_fail(UM_EINVAL,
		       "op %lld: the host touches allocation %lld, which the policy makes device "
		       "memory; a host cannot",
		       (long long)row->op, (long long)row->allocation);
}

/* The rows of a host op from where it is; *waits as above. */
static int touch_rows(struct um_host *host, bool *waits)
{
	struct um_machine *machine = host->state->machine;
	int error = 0;

	while (host->row < host->row_count && !*waits && !error) {
		const struct um_page_access_row *row = &host->rows[host->row];

		if (host->page == 0 && !host->writes) {
			error = check_host_row(host, row);
			if (error)
				break;
			if (um_machine_home(machine, (um_alloc_id)row->allocation) !=
			    UM_HOME_MANAGED) {
				host->row++;
				continue;
			}
			if (!reads_first(row))
				host->writes = row->touch & UM_TOUCH_WRITTEN;
		}
		if (host->page < row->pages)
			error = touch_some(host, row, waits);
		else
			next_pass(host, row);
	}
	return error;
}

/* --- in order --- */

static const struct {
	const char *kind;
	op_fn run;
	bool again; /* runs once more after it has waited */
} ops[] = {
	{"alloc", do_alloc, true},
	{"free", do_free, true},
	{"advise", do_advise, false},
	{"prefetch", do_prefetch, false},
	{"copy", do_copy, false},
	{"memset", do_memset, false},
	{"launch", do_launch, true},
	{"sync_device", do_sync_device, false},
	{"sync_stream", do_sync_stream, false},
	{"event_record", do_event_record, false},
	{"event_sync", do_event_sync, false},
	{"stream_wait", do_stream_wait, false},
	{"stream_create", do_stream_create, false},
	{"stream_destroy", do_nothing, false},
	{"attach", do_attach, false},
	{"host", load_rows, false},
};

static size_t find_op(const char *kind)
{
	size_t i = 0;

	while (i < sizeof(ops) / sizeof(*ops) && strcmp(ops[i].kind, kind))
		i++;
	return i;
}

static bool failed(const struct um_op_row *op)
{
	return op->result != UM_NULL && op->result != 0;
}

/* Begins the op that is in host->op. */
static int begin_op(struct um_host *host)
{
	size_t kind = find_op(host->op.kind ? host->op.kind : "");

	host->row_count = host->row = 0;
	if (failed(&host->op))
		return 0;
	if (kind == sizeof(ops) / sizeof(*ops))
		return um_fail(UM_EFORMAT, "op %lld is of a kind that there is not",
			       (long long)host->op.op);
	return ops[kind].run(host);
}

/* Goes on with an op that has waited. */
static int resume_op(struct um_host *host)
{
	size_t kind = find_op(host->op.kind);

	return ops[kind].again ? ops[kind].run(host) : 0;
}

static int take_next(struct um_host *host, bool *more)
{
	const struct um_op_row *op;
	int error;

	op = um_source_next(host->state->source, &error);
	*more = op;
	host->at_end = !op;
	if (!op)
		return error;
	host->op = *op;
	host->has_op = true;
	host->op_start = um_engine_now(host->state->engine);
	host->done++;
	if (host->state->request->progress)
		host->state->request->progress(host->state->request->progress_context, host->done,
					       host->all);
	return begin_op(host);
}

/* True if the host has to wait for what is not over yet. */
static bool has_to_wait(struct um_host *host)
{
	if (host->wait == WAIT_NOTHING)
		return false;
	if (!is_over(host))
		return true;
	host->wait = WAIT_NOTHING;
	return false;
}

static int step(void *context, uint64_t argument)
{
	struct um_host *host = context;
	bool more = true, waits = false;
	int error = 0;

	(void)argument;
	if (host->has_op)
		error = resume_op(host);
	while (more && !error) {
		if (has_to_wait(host))
			return 0;
		error = touch_rows(host, &waits);
		if (error || waits)
			return error;
		if (host->has_op)
			end_op(host);
		error = take_next(host, &more);
	}
	return error;
}

bool um_host_at_end(const struct um_host *host)
{
	return host->at_end;
}

int um_host_start(struct um_host *host)
{
	return um_engine_schedule(host->state->engine, 0, step, host, 0);
}
