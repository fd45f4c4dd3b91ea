/* What umtrace.h calls in the runtime: names of parts, and ranges as roctx has them. */
#include "api.h"
#include "policy_apply.h"

#define UM_ROCTX_HOOK
#include "roctx/roctx_hooks.h"
#include "trace/names/umtrace.h"

#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Behind the data of an allocation of Kokkos's lies nothing, before it a header of its own. */
#define LABEL_SLACK_BYTES UM_PAGE_BYTES

static int recording(void)
{
	um_enter(0);
	int on = um_tracer_ranges_on();

	um_leave(hipSuccess);
	return on;
}

/* What is named is at most what there is: false where that is none, or less than was asked for. */
static bool find_target(struct um_record_op *op, bool *whole, const void *pointer, uint64_t bytes,
			uint64_t slack_bytes)
{
	const struct um_allocation *allocation = um_memory_find(pointer);

	um_op_target(op, pointer, bytes);
	if (!allocation || op->offset >= allocation->bytes)
		return false;
	uint64_t most = allocation->bytes - op->offset;
	bool good = bytes <= most;

	if (bytes == 0 || !good || (op->offset == 0 && most - bytes < slack_bytes))
		op->bytes = most;
	*whole = op->offset == 0 && op->bytes == allocation->bytes;
	return good;
}

/* --- how long parts are, whose end has to tell what was touched of them --- */

struct part {
	uintptr_t start;
	uint64_t bytes; /* of the longest that begins there */
};
static void *parts;

static int compare_starts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Without memory it is forgotten: then its end tells less. */
static void remember(uintptr_t start, uint64_t bytes)
{
	struct part *added = malloc(sizeof(*added));
	struct part **found = NULL;

	if (!added)
		return;
	*added = (struct part){start, bytes};
	found = tsearch(added, &parts, compare_starts);
	if (found && *found != added && (*found)->bytes < bytes)
		(*found)->bytes = bytes;
	if (!found || *found != added)
		free(added);
}

static uint64_t forget(uintptr_t start)
{
	const struct part wanted = {.start = start};
	struct part **found = tfind(&wanted, &parts, compare_starts);
	struct part *part = found ? *found : NULL;
	uint64_t bytes = part ? part->bytes : 0;

	if (part)
		tdelete(part, &parts, compare_starts);
	free(part);
	return bytes;
}

/* --- names --- */

static void put_name(const void *pointer, uint64_t bytes, const char *text, uint64_t slack_bytes)
{
	struct um_record_op op = um_op(UM_OP_NAME, 0);
	bool whole = false;
	bool good = find_target(&op, &whole, pointer, bytes, slack_bytes) && text && *text;

	if (slack_bytes && !op.allocation)
		return; /* a label of memory of any kind */
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, good ? hipSuccess : hipErrorInvalidValue);
	if (!good)
		um_tracer_wrong_name(op.op);
	if (!op.allocation || !text || !*text)
		return;
	um_tracer_part(&op, text, whole);
	um_policy_named(&op, pointer);
	remember((uintptr_t)pointer, op.bytes);
}

static void put_unname(const void *pointer, bool is_label)
{
	struct um_record_op op = um_op(UM_OP_NAME_END, 0);

	um_op_target(&op, pointer, forget((uintptr_t)pointer));
	if (is_label && !op.allocation)
		return;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, op.allocation ? hipSuccess : hipErrorInvalidValue);
	um_policy_unnamed(pointer);
	if (!op.allocation)
		um_tracer_wrong_name(op.op);
}

static void name(const void *pointer, size_t bytes, const char *text)
{
	um_enter(UM_STACK_OWN_SLOT);
	if (um_tracer_ranges_on())
		put_name(pointer, bytes, text, 0);
	um_leave(hipSuccess);
}

static void unname(const void *pointer)
{
	um_enter(UM_STACK_OWN_SLOT);
	if (pointer && um_tracer_ranges_on())
		put_unname(pointer, false);
	um_leave(hipSuccess);
}

static void label(const void *pointer, size_t bytes, const char *text)
{
	um_enter(UM_STACK_OWN_SLOT);
	if (um_tracer_ranges_on())
		put_name(pointer, bytes, text, LABEL_SLACK_BYTES);
	um_leave(hipSuccess);
}

static void unlabel(const void *pointer)
{
	um_enter(UM_STACK_OWN_SLOT);
	if (pointer && um_tracer_ranges_on())
		put_unname(pointer, true);
	um_leave(hipSuccess);
}

static void range_push(const char *text)
{
	um_roctx_push(text, UM_STACK_OWN_SLOT);
}

/* Not an id that libroctx64.so gives, which count from 1. */
static uint64_t range_start(const char *text)
{
	static _Atomic uint64_t last_id = UINT64_C(1) << 63;
	uint64_t id = atomic_fetch_add(&last_id, 1);

	um_roctx_start(id, text, UM_STACK_OWN_SLOT);
	return id;
}

UM_API const struct um_trace_hooks *um_trace_hooks_cpu_1(void);

const struct um_trace_hooks *um_trace_hooks_cpu_1(void)
{
	static const struct um_trace_hooks hooks = {
		.bytes = sizeof(hooks),
		.recording = recording,
		.name = name,
		.unname = unname,
		.range_push = range_push,
		.range_pop = um_roctx_pop,
		.range_start = range_start,
		.range_stop = um_roctx_stop,
		.label = label,
		.unlabel = unlabel,
	};

	um_enter(0);
	bool on = um_tracer_uses_hip();

	um_leave(hipSuccess);
	return on ? &hooks : NULL;
}
