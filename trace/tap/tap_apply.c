#include "tap_apply.h"

#include "../spool/apply_state.h"

#include <stdatomic.h>

/* The number of our own stream: none that the program's come to. */
#define OWN_STREAM     0x7fffffffu
#define DUMMY_BYTES    65536u
#define ADVICE_OF_CUDA 6u /* those of AMD's alone have higher numbers */

static struct um_apply *apply;
static void *own_stream;
static um_cuda_pointer dummy; /* managed memory that hints are led to; 0: none yet */
/* Whether the driver reads parameters again: -1 it does not, 0 not known, 1 it does. */
static _Atomic int is_led;

void um_tap_apply_begin(void)
{
	size_t bytes = 0;
	void *table = um_spool_apply_table(um_tap.writer, &bytes);

	apply = um_apply_begin(table, bytes);
}

void um_tap_apply_site(const struct um_record_site *site)
{
	if (apply)
		um_apply_note_site(apply, site);
}

/* --- what happens --- */

void um_tap_apply_allocated(const struct um_record_op *op, const struct um_tap_block *block,
			    const char *name)
{
	struct um_tap_thread *thread = um_tap_thread();

	if (!apply)
		return;
	thread->due = um_apply_next(apply, UM_APPLY_ALLOCATION, op->site, name);
	thread->due_site = op->site;
	if (thread->due)
		um_apply_bind(apply, thread->due, block->address, block->bytes);
}

void um_tap_apply_freed(const struct um_tap_block *block)
{
	if (apply && block->address)
		um_apply_unbind(apply, block->address, block->bytes);
}

void um_tap_apply_named(const struct um_record_op *op, uint64_t address)
{
	struct um_tap_thread *thread = um_tap_thread();

	if (!apply)
		return;
	thread->due = um_apply_next(apply, UM_APPLY_NAME, op->site, "");
	thread->due_site = op->site;
	if (thread->due)
		um_apply_bind(apply, thread->due, address, op->bytes);
}

void um_tap_apply_unnamed(uint64_t address)
{
	if (apply)
		um_apply_unbind_part(apply, address);
}

/* --- acting --- */

/* At which call it is due. */
struct occasion {
	uint32_t site;
	void *stream; /* of the launch */
	uint32_t stream_number;
};

struct target {
	um_cuda_pointer address;
	uint64_t bytes;
	void *stream;
	uint32_t stream_number;
};

static void put_op(const struct um_record_op *op)
{
	struct um_record_op copy = *op;

	um_tap_put_op(&copy, 0);
}

/* Without the lock. */
static bool make_own_stream(uint32_t site)
{
	struct um_record_op op = {
		.kind = UM_OP_STREAM_CREATE,
		.flags = UM_OP_POLICY | UM_OP_NON_BLOCKING,
		.stream = OWN_STREAM,
		.site = site,
		.start_ns = um_tap_now_ns(),
	};

	if (own_stream)
		return true;
	if (!um_tap.cupti.stream_create ||
	    um_tap.cupti.stream_create(&own_stream, UM_CUDA_STREAM_NON_BLOCKING) != 0)
		return false;
	op.end_ns = um_tap_now_ns();
	if (um_tap_lock()) {
		put_op(&op);
		um_tap_unlock();
	}
	return true;
}

/* With the lock held; false: there is no such stream. */
static bool find_stream(const struct um_apply_action *action, const struct occasion *occasion,
			struct target *target)
{
	switch (action->stream) {
	case UM_APPLY_STREAM_OWN:
		target->stream = own_stream;
		target->stream_number = OWN_STREAM;
		return own_stream != NULL;
	case UM_APPLY_STREAM_LAUNCH:
		target->stream = occasion->stream;
		target->stream_number = occasion->stream_number;
		return true;
	case UM_APPLY_STREAM_NUMBER:
		if (action->stream_number && action->stream_number != occasion->stream_number) {
			target->stream = um_tap_stream_handle(action->stream_number);
			target->stream_number = action->stream_number;
			return target->stream != NULL;
		}
		target->stream = action->stream_number ? occasion->stream : NULL;
		target->stream_number = action->stream_number;
		return true;
	default:
		return true;
	}
}

static int call_driver(const struct um_apply_action *action, const struct target *target)
{
	int device = -1;

	if (action->device >= 0 && um_tap.cupti.device_get(&device, action->device) != 0)
		return 101; /* CUDA_ERROR_INVALID_DEVICE */
	if (action->op == UM_OP_ADVISE)
		return um_tap.cupti.mem_advise(target->address, target->bytes, (int)action->advice,
					       device);
	return um_tap.cupti.mem_prefetch(target->address, target->bytes, device, target->stream);
}

static bool is_possible(const struct um_apply_action *action)
{
	return um_tap.cupti.mem_advise && um_tap.cupti.mem_prefetch &&
	       !(action->op == UM_OP_ADVISE && action->advice > ADVICE_OF_CUDA);
}

/* Where to, with the lock held; false: its outcome says why not. */
static bool aim(struct um_apply_action *action, const struct occasion *occasion,
		struct target *target)
{
	*target = (struct target){0};
	if (!is_possible(action)) {
		action->outcome = UM_APPLY_IMPOSSIBLE;
		return false;
	}
	if (!um_apply_where(apply, action, &target->address, &target->bytes))
		return false;
	if (action->op == UM_OP_PREFETCH && !find_stream(action, occasion, target)) {
		action->outcome = UM_APPLY_NO_STREAM;
		return false;
	}
	return true;
}

static void tell(struct um_apply_action *action, const struct occasion *occasion,
		 const struct target *target, struct um_record_op *op)
{
	action->outcome = op->result == 0 ? UM_APPLY_MADE : UM_APPLY_REFUSED;
	action->result = op->result;
	op->kind = (uint16_t)action->op;
	op->flags = UM_OP_POLICY | (action->op == UM_OP_PREFETCH ? UM_OP_ASYNC : 0);
	op->stream = target->stream_number;
	op->site = occasion->site;
	op->device = action->device;
	op->advice = action->advice;
	um_tap_op_target(op, target->address, target->bytes);
	put_op(op);
}

static void act_once(struct um_apply_action *action, const struct occasion *occasion)
{
	struct um_record_op op = {0};
	struct target target;

	if (action->stream == UM_APPLY_STREAM_OWN && action->op == UM_OP_PREFETCH)
		make_own_stream(occasion->site);
	if (!um_tap_lock())
		return;
	bool is_aimed = aim(action, occasion, &target);

	um_tap_unlock();
	if (!is_aimed)
		return;
	op.start_ns = um_tap_now_ns();
	op.result = call_driver(action, &target);
	op.end_ns = um_tap_now_ns();
	if (!um_tap_lock())
		return;
	tell(action, occasion, &target, &op);
	um_tap_unlock();
}

static void act(const struct um_apply_event *event, const struct occasion *occasion)
{
	struct um_tap_thread *thread = um_tap_thread();
	struct um_apply_action *action;
	uint32_t at = 0;

	thread->acts = true;
	while ((action = um_apply_action(apply, event, &at)))
		act_once(action, occasion);
	thread->acts = false;
}

void um_tap_apply_due(void)
{
	struct um_tap_thread *thread = um_tap_thread();
	const struct um_apply_event *event = thread->due;
	const struct occasion occasion = {.site = thread->due_site};

	thread->due = NULL;
	if (apply && event && event->actions)
		act(event, &occasion);
}

/* --- launches --- */

static bool is_launch(const struct um_tap_call_row *row)
{
	return row->write == um_tap_launch || row->write == um_tap_launch_ex ||
	       row->write == um_tap_launch_grid || row->write == um_tap_launch_one ||
	       row->write == um_tap_graph_launch;
}

static const char *symbol_of(const struct um_tap_call *call)
{
	if (call->row->write == um_tap_graph_launch)
		return "cuGraphLaunch";
	return call->symbol ? call->symbol : "";
}

static void before_launch(struct um_tap_call *call)
{
	bool per_thread = call->row->flags & UM_TAP_PER_THREAD;
	struct occasion occasion = {
		.stream = !call->stream && per_thread ? UM_CUDA_STREAM_PER_THREAD : call->stream};
	const struct um_apply_event *event;
	struct um_stack stack;

	if (!um_tap_lock())
		return;
	event = um_apply_next(apply, UM_APPLY_LAUNCH, 0, symbol_of(call));
	um_tap_unlock();
	if (!event || !event->actions)
		return;
	um_tap_unwind(&stack);
	if (!um_tap_lock())
		return;
	occasion.site = um_tap_site(&stack);
	occasion.stream_number = um_tap_stream(call->stream, per_thread);
	um_tap_unlock();
	act(event, &occasion);
}

/* --- the program's own hints --- */

/* Where the parameters of a hint say what it is about; NULL: it is none that can be led elsewhere. */
static um_cuda_pointer *hint_of(const struct um_tap_call *call, enum um_apply_kind *kind)
{
	bool advises = call->row->write == um_tap_advise || call->row->write == um_tap_advise_1;
	bool prefetches =
		call->row->write == um_tap_prefetch || call->row->write == um_tap_prefetch_1;

	*kind = advises ? UM_APPLY_ADVISE : UM_APPLY_PREFETCH;
	/* An address and a number of bytes are the first of all of these. */
	return advises || prefetches ? (um_cuda_pointer *)(uintptr_t)call->params : NULL;
}

static bool wants_to_leave_out(enum um_apply_kind kind)
{
	struct um_stack stack;
	bool wants = false;

	um_tap_unwind(&stack);
	if (um_tap_lock()) {
		wants = um_apply_leaves_out(apply, kind, um_tap_site(&stack));
		um_tap_unlock();
	}
	return wants;
}

static bool have_dummy(void)
{
	struct um_tap_thread *thread = um_tap_thread();

	if (dummy)
		return true;
	thread->acts = true;
	int result = um_tap.cupti.alloc_managed ? um_tap.cupti.alloc_managed(&dummy, DUMMY_BYTES,
									     UM_CUDA_ATTACH_GLOBAL)
						: -1;
	thread->acts = false;
	return result == 0;
}

static void lead_away(struct um_tap_call *call)
{
	enum um_apply_kind kind;
	um_cuda_pointer *params = hint_of(call, &kind);
	struct um_tap_thread *thread = um_tap_thread();

	if (!params || atomic_load(&is_led) < 0 || !wants_to_leave_out(kind) || !have_dummy())
		return;
	thread->kept_address = params[0];
	thread->kept_bytes = params[1];
	params[0] = dummy;
	params[1] = DUMMY_BYTES;
	thread->left_out = true;
}

/* What a hint leaves behind where it took effect; the others leave nothing that could be told from none. */
static const struct mark {
	uint32_t advice; /* 0: a prefetch */
	int attribute;
	int32_t none;
} marks[] = {
	{0, UM_CUDA_RANGE_LAST_PREFETCH, -2},
	{1, UM_CUDA_RANGE_READ_MOSTLY, 0},
	{3, UM_CUDA_RANGE_PREFERRED, -2},
};

static const struct mark *mark_of(const struct um_tap_call *call)
{
	enum um_apply_kind kind;
	uint32_t advice = 0;

	if (hint_of(call, &kind) && kind == UM_APPLY_ADVISE)
		advice = ((const struct um_params_advise_1 *)call->params)->advice;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (marks[i].advice == advice)
			return marks + i;
	return NULL;
}

/* The first of which it can be told. */
static void look_whether_led(const struct um_tap_call *call)
{
	const struct mark *mark = mark_of(call);
	int32_t value = 0;

	if (atomic_load(&is_led) || !mark || call->result != 0 || !um_tap.cupti.range_attribute)
		return;
	um_tap_thread()->acts = true;
	int result = um_tap.cupti.range_attribute(&value, sizeof(value), mark->attribute, dummy,
						  DUMMY_BYTES);
	um_tap_thread()->acts = false;
	if (result == 0)
		atomic_store(&is_led, value == mark->none ? -1 : 1);
	if (atomic_load(&is_led) >= 0 || !um_tap_lock())
		return;
	um_tap_put_loss(UM_LOSS_POLICY, 1,
			"the program's own hints stay: this driver cannot be kept from them");
	um_tap_unlock();
}

void um_tap_apply_enter(struct um_tap_call *call, bool is_captured)
{
	if (!apply || is_captured)
		return;
	if (is_launch(call->row))
		before_launch(call);
	else
		lead_away(call);
}

bool um_tap_apply_exit(const struct um_tap_call *call)
{
	struct um_tap_thread *thread = um_tap_thread();
	enum um_apply_kind kind;
	um_cuda_pointer *params = hint_of(call, &kind);

	if (!thread->left_out || !params)
		return false;
	thread->left_out = false;
	look_whether_led(call);
	params[0] = thread->kept_address;
	params[1] = thread->kept_bytes;
	return atomic_load(&is_led) >= 0;
}
