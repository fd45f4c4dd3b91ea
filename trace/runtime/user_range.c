/*
 * Ranges that the program names: what libroctx64.so.4 (roctx/) tells of them. Those that are pushed
 * are a stack of each thread; those that are started are found by their id.
 */
#include "api.h"
#include "range_table.h"

#define UM_ROCTX_HOOK UM_API
#include "roctx/roctx_hooks.h"

#include <stdlib.h>

struct range {
	struct um_range_link started; /* of one that was started */
	struct range *below;	      /* pushed before it by its thread */
	struct um_record_op op;
};

static _Thread_local struct range *pushed;
static struct um_range_table started;

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
		*range = (struct range){.started = {.id = id}, .op = um_op(UM_OP_RANGE, 0)};
		um_tracer_range_begin(&range->op, text(name));
	} else if (um_tracer_ranges_on()) {
		um_tracer_loss(0, UM_LOSS_DROPPED, 1, "ranges: no memory");
	}
	return range;
}

/* NULL is legal. */
static void end(struct range *range)
{
	if (!range)
		return;
	um_tracer_range_end(&range->op);
	free(range);
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
