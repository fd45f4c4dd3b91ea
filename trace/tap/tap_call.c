#include "tap_apply.h"

#include "../spool/spool_variable.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* Calls that wait or free and have begun: as many as threads are in one. Others are not noted. */
#define NOTES 4096u

struct note {
	uint64_t start_ns;
	uint32_t begun;
	struct um_tap_block freed;
	uint32_t next; /* of those that are free */
};

static struct note notes[NOTES]; /* the first is not used */
static uint32_t free_notes, note_count;
static _Atomic int captures;

/* --- what is known of every call --- */

struct um_record_op um_tap_op(struct um_tap_call *call, enum um_op_kind kind)
{
	if (!call->site)
		call->site = um_tap_site(call->stack);
	return (struct um_record_op){
		.op = call->begun,
		.kind = (uint16_t)kind,
		.flags = call->row->flags & UM_TAP_ASYNC ? UM_OP_ASYNC : 0,
		.stream = um_tap_stream(call->stream, call->row->flags & UM_TAP_PER_THREAD),
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.result = call->result,
		.site = call->site,
		.device = call->device,
	};
}

void um_tap_op_target(struct um_record_op *op, uint64_t address, uint64_t bytes)
{
	const struct um_tap_block *block = um_tap_memory_find(address);

	op->bytes = bytes;
	if (!block)
		return;
	op->allocation = block->allocation;
	op->offset = address - block->address;
}

void um_tap_op_source(struct um_record_op *op, uint64_t address)
{
	const struct um_tap_block *block = um_tap_memory_find(address);

	if (!block)
		return;
	op->source_allocation = block->allocation;
	op->source_offset = address - block->address;
}

/* --- capture --- */

void um_tap_capture(struct um_tap_call *call)
{
	if (call->result == 0)
		atomic_fetch_add(&captures, call->row->what ? 1 : -1);
}

/* Without the lock. Work on a stream that is captured goes into a graph, which is launched later. */
static bool is_captured(const struct um_tap_call *call)
{
	bool per_thread = call->row->flags & UM_TAP_PER_THREAD;
	int (*ask)(void *, int *) =
		per_thread ? um_tap.cupti.is_capturing_ptsz : um_tap.cupti.is_capturing;
	int status = 0;

	if (call->row->stream_at == UM_TAP_NO_STREAM || !ask ||
	    atomic_load_explicit(&captures, memory_order_relaxed) <= 0)
		return false;
	return ask(call->stream, &status) == 0 && status == UM_CUDA_STREAM_CAPTURING;
}

/* --- the two halves --- */

static void *stream_of(const struct um_tap_call_row *row, const void *params)
{
	void *stream = NULL;

	if (row->stream_at == UM_TAP_STREAM_IN_CONFIG)
		return ((const struct um_params_launch_ex *)params)->config->stream;
	if (row->stream_at != UM_TAP_NO_STREAM && params)
		memcpy(&stream, (const char *)params + row->stream_at, sizeof(stream));
	return stream;
}

static uint32_t take_note(const struct note *note)
{
	uint32_t at = free_notes;

	if (at)
		free_notes = notes[at].next;
	else if (note_count + 1 < NOTES)
		at = ++note_count;
	if (at)
		notes[at] = *note;
	return at;
}

static void drop_note(uint32_t at)
{
	notes[at].next = free_notes;
	free_notes = at;
}

static void note_begin(struct um_tap_call *call, const struct um_cupti_call *data)
{
	struct um_stack stack;
	struct note note = {.start_ns = call->start_ns};

	stack.known_site = 0;
	stack.depth = 0;
	call->stack = &stack;
	if (call->row->flags & UM_TAP_WAITS) {
		call->device = um_tap_device(data->context);
		um_tap_unwind(&stack);
	}
	if (!um_tap_lock())
		return;
	if (call->row->flags & UM_TAP_WAITS) {
		call->row->write(call);
		note.begun = call->begun;
	} else {
		um_cuda_pointer address = ((const struct um_params_free *)call->params)->address;

		um_tap_memory_remove(address, &note.freed);
	}
	*data->correlation_data = take_note(&note);
	um_tap_unlock();
}

static void on_enter(struct um_tap_call *call, const struct um_cupti_call *data)
{
	*data->correlation_data = 0;
	if (call->row->flags & (UM_TAP_WAITS | UM_TAP_FREES))
		note_begin(call, data);
	else
		*data->correlation_data = call->start_ns;
}

/* With the lock held. */
static void recall_begin(struct um_tap_call *call, uint64_t slot)
{
	call->start_ns = slot;
	if (call->row->flags & (UM_TAP_WAITS | UM_TAP_FREES)) {
		const struct note *note = notes + (slot < NOTES ? slot : 0);

		call->start_ns = note->start_ns;
		call->begun = note->begun;
		call->freed = note->freed;
		if (slot)
			drop_note((uint32_t)slot);
	}
	if (!call->start_ns)
		call->start_ns = call->end_ns; /* its beginning was not seen */
}

/* The names of variables are asked for with one function, of those that are managed and not. */
static bool is_managed_global(const struct um_tap_call *call)
{
	const struct um_params_global *global = call->params;
	int is_managed = 0;

	if (call->row->write != um_tap_global || call->result != 0 || !global->address)
		return false;
	return um_tap.cupti.pointer_attribute(&is_managed, UM_CUDA_POINTER_IS_MANAGED,
					      *global->address) == 0 &&
	       is_managed;
}

/*
 * Without the lock. The runtime gives the driver a variable of its own, and stores into the program's when
 * the driver has returned.
 */
static void find_variable(struct um_tap_call *call, struct um_variable *variable)
{
	struct um_tap_thread *thread = um_tap_thread();
	size_t hidden;

	if (!(call->row->flags & UM_TAP_STORES) || call->result != 0)
		return;
	call->out =
		thread->out
			? thread->out
			: (const void *)((const struct um_params_stores *)call->params)->pointer;
	thread->out = NULL;
	call->variable = variable;
	hidden = um_tap_hidden(call->stack);
	if (!um_variable_in_frame(variable, call->stack, hidden, call->out))
		um_variable_search(variable, call->stack, hidden, call->out);
}

static void on_exit_of(struct um_tap_call *call, const struct um_cupti_call *data)
{
	struct um_variable variable;
	struct um_stack stack;

	call->end_ns = um_tap_now_ns();
	call->result = data->result ? *(const int32_t *)data->result : 0;
	bool captured = is_captured(call), left_out = um_tap_apply_exit(call);

	call->device = um_tap_device(data->context);
	call->is_managed = is_managed_global(call);
	call->stack = &stack;
	um_tap_unwind(&stack);
	find_variable(call, &variable);
	if (!um_tap_lock())
		return;
	recall_begin(call, *data->correlation_data);
	if (left_out)
		;
	else if (!captured)
		call->row->write(call);
	else if (call->freed.address)
		um_tap_memory_add(&call->freed);
	um_tap_unlock();
	um_tap_apply_due();
	um_tap_note_call();
	um_tap_ask_addresses();
}

void um_tap_on_call(uint32_t number, const struct um_cupti_call *data)
{
	const struct um_tap_call_row *row = um_tap_call_row(number);
	int saved = errno;

	if (!row || um_tap_thread()->acts)
		return;
	struct um_tap_call call = {
		.row = row,
		.params = data->params,
		.symbol = data->symbol,
		.correlation = data->correlation,
		.stream = stream_of(row, data->params),
	};

	if (data->site == UM_CUPTI_ENTER) {
		um_tap_thread()->calls++;
		um_tap_apply_enter(&call, is_captured(&call));
		call.start_ns = um_tap_now_ns();
		on_enter(&call, data);
	} else {
		on_exit_of(&call, data);
		um_tap_thread()->calls--;
	}
	errno = saved;
}

void um_tap_on_runtime_call(uint32_t number, const struct um_cupti_call *data)
{
	const struct um_params_stores *params = data->params;

	(void)number; /* those that were asked for are all alike */
	um_tap_thread()->out = data->site == UM_CUPTI_ENTER && params ? params->pointer : NULL;
}

/* Of those that store an address where the program wants it. */
static void enable_runtime_calls(void)
{
	static const uint16_t stores[] = {
		UM_CUDA_RUNTIME_MALLOC,
		UM_CUDA_RUNTIME_MALLOC_PITCH,
		UM_CUDA_RUNTIME_MALLOC_HOST,
		UM_CUDA_RUNTIME_HOST_ALLOC,
		UM_CUDA_RUNTIME_MALLOC_MANAGED,
		UM_CUDA_RUNTIME_MALLOC_ASYNC,
		UM_CUDA_RUNTIME_MALLOC_ASYNC_PTSZ,
		UM_CUDA_RUNTIME_MALLOC_FROM_POOL,
		UM_CUDA_RUNTIME_MALLOC_FROM_POOL_PTSZ,
	};

	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		um_tap.cupti.enable_callback(1, um_tap.subscriber, UM_CUPTI_RUNTIME_API, stores[i]);
}

void um_tap_enable_calls(void)
{
	const struct um_tap_call_row *row = NULL;

	/* A number that this CUPTI does not know is refused: the driver has no such function. */
	while ((row = um_tap_call_next(row)))
		um_tap.cupti.enable_callback(1, um_tap.subscriber, UM_CUPTI_DRIVER_API,
					     row->number);
	enable_runtime_calls();
}
