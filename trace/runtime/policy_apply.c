#include "policy_apply.h"

#include "../spool/apply_state.h"

/* The number of our own stream: none that the program's come to. */
#define OWN_STREAM 0x7fffffffu

static struct um_apply *apply;
static bool has_looked;
/* Of the allocation that was recorded last. */
static struct um_apply_event *pending;

static struct um_apply *table(void)
{
	size_t bytes = 0;

	if (!um_tracer_on())
		return NULL;
	if (!has_looked) {
		void *found = um_tracer_apply_table(&bytes);

		has_looked = true;
		apply = um_apply_begin(found, bytes);
	}
	return apply;
}

void um_policy_site(const struct um_record_site *site)
{
	if (table())
		um_apply_note_site(apply, site);
}

/* --- acting --- */

static void advise(struct um_apply_action *action, const void *address, uint64_t bytes)
{
	struct um_record_op op = um_op(UM_OP_ADVISE, 0);

	op.flags |= UM_OP_POLICY;
	um_op_target(&op, address, bytes);
	op.device = action->device;
	op.advice = action->advice;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
	action->outcome = UM_APPLY_MADE;
}

struct wanted {
	uint32_t number;
	const struct um_stream *found;
};

static void look_at_stream(struct um_stream *stream, void *context)
{
	struct wanted *wanted = context;

	if (stream->id == wanted->number)
		wanted->found = stream;
}

static const struct um_stream *find_number(const struct um_apply_action *action)
{
	struct wanted wanted = {.number = action->stream_number};

	if (!wanted.number)
		return um_is_device(action->stream_device) ? um_stream_null(action->stream_device)
							   : NULL;
	um_stream_each(look_at_stream, &wanted);
	return wanted.found;
}

/* It is none that the program could find, and so none of its table. */
static const struct um_stream *own_stream(void)
{
	static struct um_stream own = {.id = OWN_STREAM, .flags = hipStreamNonBlocking};
	static bool is_made;

	if (is_made)
		return &own;
	is_made = true;
	struct um_record_op op = um_stream_op(UM_OP_STREAM_CREATE, &own);

	op.flags = UM_OP_NON_BLOCKING | UM_OP_POLICY;
	op.value = hipStreamNonBlocking;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
	return &own;
}

static const struct um_stream *stream_of(const struct um_apply_action *action,
					 const struct um_stream *launched_on)
{
	switch (action->stream) {
	case UM_APPLY_STREAM_OWN:
		return own_stream();
	case UM_APPLY_STREAM_NUMBER:
		return find_number(action);
	case UM_APPLY_STREAM_LAUNCH:
		return launched_on;
	default:
		return um_stream_null(0);
	}
}

static void prefetch(struct um_apply_action *action, const void *address, uint64_t bytes,
		     const struct um_stream *launched_on)
{
	const struct um_stream *stream = stream_of(action, launched_on);

	if (!stream) {
		action->outcome = UM_APPLY_NO_STREAM;
		return;
	}
	struct um_record_op op = um_stream_op(UM_OP_PREFETCH, stream);

	um_op_target(&op, address, bytes);
	op.value = (uint32_t)stream->device;
	op.device = action->device;
	op.flags = UM_OP_ASYNC | UM_OP_POLICY;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
	action->outcome = UM_APPLY_MADE;
}

static void act(const struct um_apply_event *event, const struct um_stream *launched_on)
{
	struct um_apply_action *action;
	uint64_t address, bytes;
	uint32_t at = 0;

	while ((action = um_apply_action(apply, event, &at))) {
		if (!um_apply_where(apply, action, &address, &bytes))
			continue;
		if (action->device != hipCpuDeviceId && !um_is_device(action->device)) {
			action->outcome = UM_APPLY_REFUSED;
			action->result = hipErrorInvalidDevice;
		} else if (action->op == UM_OP_ADVISE) {
			advise(action, (const void *)(uintptr_t)address, bytes);
		} else {
			prefetch(action, (const void *)(uintptr_t)address, bytes, launched_on);
		}
	}
}

/* --- when --- */

enum um_allocation_kind um_policy_allocation(const struct um_allocation *allocation,
					     const struct um_record_op *op, const char *name)
{
	pending = NULL;
	if (allocation->kind == UM_ALLOCATION_PAGEABLE || !table())
		return allocation->kind;
	pending = um_apply_next(apply, UM_APPLY_ALLOCATION, op->site, name);
	if (!pending)
		return allocation->kind;
	um_apply_bind(apply, pending, (uintptr_t)um_memory_start(allocation), allocation->bytes);
	pending->is_switched = pending->allocate_as != 0;
	return pending->allocate_as ? (enum um_allocation_kind)pending->allocate_as
				    : allocation->kind;
}

void um_policy_allocated(void)
{
	const struct um_apply_event *event = pending;

	pending = NULL;
	if (event && table())
		act(event, NULL);
}

void um_policy_freed(const struct um_allocation *allocation)
{
	if (table())
		um_apply_unbind(apply, (uintptr_t)um_memory_start(allocation), allocation->bytes);
}

void um_policy_named(const struct um_record_op *op, const void *pointer)
{
	const struct um_apply_event *event =
		table() ? um_apply_next(apply, UM_APPLY_NAME, op->site, "") : NULL;

	if (!event)
		return;
	um_apply_bind(apply, event, (uintptr_t)pointer, op->bytes);
	act(event, NULL);
}

void um_policy_unnamed(const void *pointer)
{
	if (table())
		um_apply_unbind_part(apply, (uintptr_t)pointer);
}

void um_policy_before_launch(const char *symbol, const struct um_stream *stream)
{
	const struct um_apply_event *event =
		table() ? um_apply_next(apply, UM_APPLY_LAUNCH, 0, symbol) : NULL;

	if (!event || !event->actions)
		return;
	um_tracer_split();
	act(event, stream);
}

bool um_policy_leaves_out(struct um_record_op *op)
{
	if (!table() ||
	    !um_apply_leaves_out(apply,
				 op->kind == UM_OP_ADVISE ? UM_APPLY_ADVISE : UM_APPLY_PREFETCH,
				 op->site))
		return false;
	um_tracer_pass_over(op);
	return true;
}
