/*
 * What the host takes for itself (um_simulation.host_time): what passed in the trace between its
 * calls. Before a call it is the time since the end of whatever ended last before it, in any thread;
 * a host op's is spread over its page accesses, since the trace has no times of those. In an emulated
 * trace it is the time of the machine that recorded, with what watching the host took there.
 */
#include "host.h"

#include <string.h>

/*
 * From the end of what ended last to `until`, but not before `from`; 0 where that is not known (UM_NULL),
 * as of any time below 0, which no clock has.
 */
static um_ns since_last_end(const struct um_host *host, int64_t from, int64_t until)
{
	if (until < 0 || from < 0)
		return 0;
	if (host->has_ended && host->last_end_ns > from)
		from = host->last_end_ns;
	return until > from ? (um_ns)(until - from) : 0;
}

static void note_end(struct um_host *host)
{
	int64_t end = host->op.end_ns;

	if (end < 0 || (host->has_ended && end <= host->last_end_ns))
		return;
	host->has_ended = true;
	host->last_end_ns = end;
}

um_ns um_host_take_time(struct um_host *host)
{
	const struct um_op_row *op = &host->op;
	um_ns before = 0;

	host->own_ns = host->spent_ns = 0;
	host->pages = host->touched = 0;
	if (!host->state->request->host_time)
		return 0;
	if (!strcmp(op->kind, um_word(um_op_words, UM_OP_HOST)))
		host->own_ns = since_last_end(host, op->start_ns, op->end_ns);
	else if (host->has_ended)
		before = since_last_end(host, host->last_end_ns, op->start_ns);
	note_end(host);
	return before;
}

/* Of the op's own time, what goes before the next page; all of it behind the last. */
static um_ns due_ns(const struct um_host *host)
{
	if (host->touched >= host->pages)
		return host->own_ns;
	return (um_ns)((double)host->own_ns * (double)host->touched / (double)host->pages);
}

int um_host_work(struct um_host *host, bool *waits)
{
	um_ns due = due_ns(host), now = um_engine_now(host->state->engine), left;

	*waits = due > host->spent_ns;
	if (!*waits)
		return 0;
	left = due - host->spent_ns;
	host->spent_ns = due;
	return um_engine_schedule(host->state->engine, now + left, um_host_step, host, 0);
}
