/*
 * What an operation is about to access, told to a driver that asks for it before: launches and memsets on their
 * stream, when it is their turn, as an operation of the stream that comes before them; the host when it has
 * come to its accesses.
 */
#include "kernel_fill.h"
#include "simulation.h"

#include "trace/base/error.h"

static int check_row(struct um_simulation_state *state, const struct um_page_access_row *row)
{
	int error = um_simulation_ensure(state, row->allocation, row->op);
	int64_t pages;

	if (error)
		return error;
	pages = um_machine_pages(state->machine, (um_alloc_id)row->allocation);
	if (row->first_page >= 0 && row->pages >= 1 && row->first_page < pages &&
	    row->pages <= pages - row->first_page)
		return 0;
	return um_fail(UM_EFORMAT, "op %lld: a page access lies outside allocation %lld",
		       (long long)row->op, (long long)row->allocation);
}

bool um_accesses_are_told(const struct um_simulation_state *state)
{
	return state->driver->ops->on_accesses != NULL;
}

bool um_accesses_hold_the_host(const struct um_simulation_state *state)
{
	const struct um_driver_ops *ops = state->driver->ops;

	return ops->accesses_wait && ops->accesses_wait(state->driver);
}

int um_accesses_tell(struct um_simulation_state *state, const struct um_accesses *accesses,
		     um_ns *done_at)
{
	int error = 0;

	for (size_t i = 0; i < accesses->count && !error; i++)
		error = check_row(state, &accesses->rows[i]);
	return error || !accesses->count
		       ? error
		       : state->driver->ops->on_accesses(state->driver, accesses, done_at);
}

static int accesses_done(void *context, uint64_t argument)
{
	struct um_task *task = context;

	(void)argument;
	return um_streams_done(task->state->streams, task);
}

/* Rows of a launch; none where nobody saw what it touched. */
static long launch_rows(const struct um_task *task, const struct um_page_access_row **rows)
{
	if (task->op.flags & (UM_OP_UNSELECTED | UM_OP_UNTRACED))
		return 0;
	return um_source_pages(task->state->source, task->op.op, rows);
}

static int fill_rows(const struct um_task *task, struct um_kernel_fill *fill)
{
	const struct um_op_row *op = &task->op;
	struct um_page_range range;
	int error;

	fill->row_count = 0;
	if (op->allocation == UM_NULL || op->allocation == 0)
		return 0;
	error = um_simulation_ensure(task->state, op->allocation, op->op);
	if (error)
		return error;
	range = um_simulation_pages(task->state, op->allocation, op->offset_bytes, op->bytes);
	if (range.pages)
		um_kernel_fill(fill, op, &range);
	return 0;
}

int um_accesses_start(struct um_task *task)
{
	struct um_kernel_fill fill;
	struct um_accesses accesses = {.device = um_simulation_device(task->state, &task->op),
				       .op = (uint32_t)task->op.op};
	um_ns done_at = task->start;
	long count;
	int error;

	if (um_word_code(um_op_words, task->op.kind) == UM_OP_LAUNCH) {
		count = launch_rows(task, &accesses.rows);
	} else {
		error = fill_rows(task, &fill);
		count = error ? error : fill.row_count;
		accesses.rows = fill.rows;
	}
	if (count < 0)
		return (int)count;
	accesses.count = (size_t)count;
	error = um_accesses_tell(task->state, &accesses, &done_at);
	return error ? error
		     : um_engine_schedule(task->state->engine, done_at, accesses_done, task, 0);
}
