/*
 * Ranges that the program names: what libroctx64.so.4 (roctx/) tells of them. Those that are pushed
 * are a stack of each thread; those that are started are found by their id.
 */
#include "api.h"
#include "launch_selection.h"
#include "range_table.h"

#define UM_ROCTX_HOOK UM_API
#include "roctx/roctx_hooks.h"

#include <stdlib.h>

struct range {
	struct um_range_link started; /* of one that was started */
	struct range *below;	      /* pushed before it by its thread; or started, and selects */
	struct range **link; /* to it among those that were started and select; NULL: none */
	bool selects;	     /* launches within it: umtrace --ranges */
	struct um_record_op op;
};

static _Thread_local struct range *pushed;
static struct um_range_table started;
static struct range *selecting; /* of those started, the last first */

static void enter(uintptr_t caller)
{
	um_enter(caller);
}

static void leave(void)
{
	um_leave(hipSuccess);
}

static const char *text(const char *name)
{
	return name ? name : "";
}

/* NULL where nothing is recorded, or without memory: then that is said in the trace. */
static struct range *new_range(uint64_t id, const char *name)
{
	struct range *range = um_tracer_ranges_on() ? malloc(sizeof(*range)) : NULL;

	if (range) {
		*range = (struct range){.started = {.id = id},
					.selects = um_range_selects(text(name)),
					.op = um_op(UM_OP_RANGE, 0)};
		um_tracer_range_begin(&range->op, text(name));
	} else if (um_tracer_ranges_on()) {
		um_tracer_loss(0, UM_LOSS_DROPPED, 1, "ranges: no memory");
	}
	return range;
}

static void add_selecting(struct range *range)
{
	range->below = selecting;
	range->link = &selecting;
	if (selecting)
		selecting->link = &range->below;
	selecting = range;
}

static void remove_selecting(struct range *range)
{
	*range->link = range->below;
	if (range->below)
		range->below->link = range->link;
}

/* NULL is legal. */
static void end(struct range *range)
{
	if (!range)
		return;
	if (range->link)
		remove_selecting(range);
	um_tracer_range_end(&range->op);
	free(range);
}

static bool any_selects(const struct range *range, uint32_t thread)
{
	while (range && !(range->selects && range->op.thread == thread))
		range = range->below;
	return range != NULL;
}

/* One that was started is of the thread that did so, as in umanalyze. */
bool um_in_selecting_range(void)
{
	uint32_t thread = um_tracer_thread();

	return any_selects(pushed, thread) || any_selects(selecting, thread);
}

void um_roctx_push(const char *name, uintptr_t caller)
{
	struct range *range;

	enter(caller);
	range = new_range(0, name);
	if (range) {
		range->below = pushed;
		pushed = range;
	}
	leave();
}

void um_roctx_pop(void)
{
	struct range *range = pushed;

	enter(0);
	if (range)
		pushed = range->below;
	end(range);
	leave();
}

void um_roctx_start(uint64_t id, const char *name, uintptr_t caller)
{
	struct range *range;

	enter(caller);
	range = new_range(id, name);
	if (range && um_range_table_put(&started, &range->started) != 0)
		end(range);
	else if (range && range->selects)
		add_selecting(range);
	leave();
}

void um_roctx_stop(uint64_t id)
{
	enter(0);
	/* The link is the first in it. */
	end((struct range *)um_range_table_take(&started, id));
	leave();
}

void um_roctx_mark(const char *name, uintptr_t caller)
{
	enter(caller);
	if (um_tracer_ranges_on()) {
		struct um_record_op op = um_op(UM_OP_RANGE, 0);

		um_tracer_mark(&op, text(name));
	}
	leave();
}
