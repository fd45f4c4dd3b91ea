/*
 * The host: the program's operations in order, one after the other whatever thread they came from.
 * It takes no time of its own, unless that is asked for (host_time.c); it waits for what the program
 * waited for (synchronisation, copies and memsets that are not asynchronous, frees, which wait for
 * all devices), for its faults, and for calls as long as the driver says that they take.
 * What a failed call asked for does not happen.
 */
#include "host.h"

#include "trace/base/error.h"

#include <stdlib.h>

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
	return error ? error : um_host_ranges_create(&host->ranges, state->request->trace);
}

void um_host_destroy(struct um_host *host)
{
	if (!host)
		return;
	um_host_ranges_destroy(host->ranges);
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
	case WAIT_DEVICE:
		return um_streams_idle_on(streams, host->wait_device);
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

int um_host_look(struct um_host *host)
{
	if (host->wait == WAIT_NOTHING || !is_over(host))
		return 0;
	host->wait = WAIT_NOTHING;
	return um_engine_schedule(host->state->engine, um_engine_now(host->state->engine),
				  um_host_step, host, 0);
}

static int time_has_come(void *context, uint64_t argument)
{
	struct um_host *host = context;

	host->wait = WAIT_NOTHING;
	return um_host_step(host, argument);
}

int um_host_wait_until(struct um_host *host, um_ns at)
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

/* --- in order --- */

static int begin(struct um_host *host)
{
	host->begins = false;
	host->op_start = um_engine_now(host->state->engine);
	return um_host_begin_op(host);
}

static int take_next(struct um_host *host, bool *more)
{
	const struct um_op_row *op;
	um_ns before;
	int error;

	op = um_source_next(host->state->source, &error);
	*more = op;
	host->at_end = !op;
	if (!error)
		um_host_ranges_end(host->ranges, host->state->probe, op ? op->op : UM_NULL,
				   um_engine_now(host->state->engine));
	if (!op)
		return error;
	host->op = *op;
	host->has_op = host->begins = true;
	host->done++;
	if (host->state->request->progress)
		host->state->request->progress(host->state->request->progress_context, host->done,
					       host->all);
	before = um_host_take_time(host);
	return before ? um_host_wait_until(host, um_engine_now(host->state->engine) + before)
		      : begin(host);
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

int um_host_step(void *context, uint64_t argument)
{
	struct um_host *host = context;
	bool more = true, waits = false;
	int error = 0;

	(void)argument;
	if (host->has_op)
		error = host->begins ? begin(host) : um_host_resume_op(host);
	while (more && !error) {
		if (has_to_wait(host))
			return 0;
		error = um_host_touch_rows(host, &waits);
		if (error || waits)
			return error;
		if (host->has_op)
			end_op(host);
		error = take_next(host, &more);
	}
	return error ? error : um_simulation_check_exit(host->state);
}

bool um_host_at_end(const struct um_host *host)
{
	return host->at_end;
}

int um_host_start(struct um_host *host)
{
	return um_engine_schedule(host->state->engine, 0, um_host_step, host, 0);
}
