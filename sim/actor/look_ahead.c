/*
 * What comes: every launch's and memset's touches, one launch after the other in the order of the
 * trace, each with its groups side by side as the machine keeps them in flight and a touch of each
 * group a tick. The clock is an engine's of its own, whose time is the position of a touch.
 */
#include "simulation.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct look {
	struct um_simulation_state *state;
	struct um_future *future;
	struct um_source *source; /* a reader of its own: the simulation has not begun */
	struct um_engine *clock;
	int64_t *pages; /* of each allocation that can migrate, by id; else 0 */
	size_t allocations;
	bool any_kind; /* the policy makes other kinds managed */
	/* of the launch that is being read */
	struct um_groups *groups;
	struct um_group_cursor **slots;
	um_device_id device;
};

/* --- allocations --- */

static bool can_migrate(const struct look *look, const struct um_allocation_row *row)
{
	int kind = um_word_code(um_allocation_words, row->kind);

	return look->any_kind || kind == UM_ALLOCATION_MANAGED || kind == UM_ALLOCATION_PAGEABLE;
}

static int note_allocation(const void *data, void *context)
{
	const struct um_allocation_row *row = data;
	struct look *look = context;
	size_t id = (size_t)row->allocation, count = look->allocations ? look->allocations : 64;
	int64_t pages = row->bytes > 0 ? (row->bytes - 1) / UM_PAGE_BYTES + 1 : 0, *grown;

	if (row->allocation <= 0 || row->allocation >= UM_ALLOC_IDS_END || pages > UINT32_MAX ||
	    !can_migrate(look, row))
		return 0;
	while (count <= id)
		count *= 2;
	if (count > look->allocations) {
		grown = realloc(look->pages, count * sizeof(*grown));
		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu allocations", count);
		memset(grown + look->allocations, 0, (count - look->allocations) * sizeof(*grown));
		look->pages = grown;
		look->allocations = count;
	}
	look->pages[id] = pages;
	return 0;
}

static int note_allocations(struct look *look)
{
	const struct um_policy *policy = look->state->policy;

	for (size_t i = 0; i < policy->rule_count; i++)
		look->any_kind |= policy->rules[i].allocate_as != NULL;
	return um_db_each(look->state->request->trace, &um_table_allocation, NULL, 0,
			  note_allocation, look);
}

/* Runs that leave their allocation the simulation will refuse when it comes to them. */
static int add_run(struct look *look, const struct um_access_run *run)
{
	int64_t pages = run->allocation < look->allocations ? look->pages[run->allocation] : 0;
	int64_t first = run->first_page;
	int64_t last = first + (int64_t)run->stride * ((int64_t)run->count - 1);

	if (first >= pages || last < 0 || last >= pages)
		return 0;
	return um_future_add(look->future, look->device, run, um_engine_now(look->clock));
}

/* --- launches --- */

/* The slot's next run, of the next group where one has ended; none where there is no group left. */
static int next_run(struct look *look, uint64_t slot, const struct um_access_run **run)
{
	int error = 0;

	*run = NULL;
	while (!*run && !error) {
		if (!look->slots[slot])
			look->slots[slot] = um_groups_next(look->groups, &error);
		if (error || !look->slots[slot])
			return error;
		*run = um_group_next(look->slots[slot], &error);
		if (*run || error)
			return error;
		um_group_close(look->slots[slot]);
		look->slots[slot] = NULL;
	}
	return error;
}

static int run_slot(void *context, uint64_t slot)
{
	struct look *look = context;
	const struct um_access_run *run;
	int error = next_run(look, slot, &run);

	if (error || !run)
		return error;
	error = add_run(look, run);
	return error ? error
		     : um_engine_schedule(look->clock, um_engine_now(look->clock) + run->count,
					  run_slot, look, slot);
}

static int run_slots(struct look *look, uint32_t count)
{
	int error = 0;

	for (uint32_t slot = 0; slot < count && !error; slot++)
		error = run_slot(look, slot);
	return error ? error : um_engine_run(look->clock);
}

static int look_at_launch(struct look *look, const struct um_op_row *op)
{
	const struct um_kernel_row *row = op->flags & (UM_OP_UNTRACED | UM_OP_UNSELECTED)
						  ? NULL
						  : um_source_kernel(look->source, op->op);
	uint32_t count;
	int error;

	if (!row)
		return 0;
	count = um_kernel_groups_in_flight(look->state->request->machine, row);
	look->slots = calloc(count, sizeof(struct um_group_cursor *));
	if (!look->slots)
		return um_fail(UM_ENOMEM, "no memory for %u groups in flight", count);
	error = um_groups_open(&look->groups, look->source, op->op);
	if (!error)
		error = run_slots(look, count);
	for (uint32_t slot = 0; slot < count; slot++)
		um_group_close(look->slots[slot]);
	free(look->slots);
	um_groups_close(look->groups);
	look->groups = NULL;
	return error;
}

static int pass_time(void *context, uint64_t argument)
{
	(void)context;
	(void)argument;
	return 0;
}

static int look_at_fill(struct look *look, const struct um_op_row *op)
{
	uint64_t offset = op->offset_bytes > 0 ? (uint64_t)op->offset_bytes : 0, end;
	struct um_access_run run = {.stride = 1, .write = true};
	int64_t pages;
	int error;

	if (op->allocation <= 0 || (uint64_t)op->allocation >= look->allocations || op->bytes <= 0)
		return 0;
	pages = look->pages[op->allocation];
	if (offset / UM_PAGE_BYTES >= (uint64_t)pages)
		return 0;
	end = (offset + (uint64_t)op->bytes - 1) / UM_PAGE_BYTES + 1;
	end = end < (uint64_t)pages ? end : (uint64_t)pages;
	run.allocation = (um_alloc_id)op->allocation;
	run.first_page = (um_page)(offset / UM_PAGE_BYTES);
	run.count = (uint32_t)(end - run.first_page);
	error = add_run(look, &run);
	if (!error)
		error = um_engine_schedule(look->clock, um_engine_now(look->clock) + run.count,
					   pass_time, NULL, 0);
	return error ? error : um_engine_run(look->clock);
}

/* --- all of it --- */

static int look_at_op(struct look *look, const struct um_op_row *op)
{
	if (op->result != UM_NULL && op->result != 0)
		return 0; /* it failed: nothing happened */
	look->device = um_simulation_device(look->state, op);
	switch (um_word_code(um_op_words, op->kind)) {
	case UM_OP_LAUNCH:
		return look_at_launch(look, op);
	case UM_OP_MEMSET:
		return look_at_fill(look, op);
	default:
		return 0;
	}
}

static int look_at_ops(struct look *look)
{
	const struct um_op_row *op;
	int error;

	while ((op = um_source_next(look->source, &error))) {
		error = look_at_op(look, op);
		if (error)
			break;
	}
	return error ? error : um_future_seal(look->future);
}

int um_look_ahead(struct um_future **out, struct um_simulation_state *state, uint64_t page_bytes)
{
	struct look look = {.state = state};
	int error = um_future_create(&look.future, (um_page)(page_bytes / UM_PAGE_BYTES));

	if (!error)
		error = um_source_open(&look.source, state->request->trace, state->request->cache);
	if (!error)
		error = um_engine_create(&look.clock);
	if (!error)
		error = note_allocations(&look);
	if (!error)
		error = look_at_ops(&look);
	um_engine_destroy(look.clock);
	um_source_close(look.source);
	free(look.pages);
	if (error)
		um_future_destroy(look.future);
	else
		*out = look.future;
	return error;
}
