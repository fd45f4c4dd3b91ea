/* What umtrace.h calls in the tap: names of parts, and ranges as NVTX has them. */
#include "tap_apply.h"
#include "tap_memory.h"
#include "tap.h"
#include "trace/names/umtrace.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* Behind the data of an allocation of Kokkos's lies nothing, before it a header of its own. */
#define LABEL_SLACK_BYTES UM_PAGE_BYTES
#define INVALID_VALUE	  1 /* hipErrorInvalidValue, cudaErrorInvalidValue */

static atomic_bool announced;

static int recording(void)
{
	return um_tap_is_on() && um_tap.subscriber;
}

static void put_part(const struct um_record_op *op, const char *name, bool whole)
{
	size_t name_bytes = strnlen(name, UM_RANGE_NAME_BYTES - 1);
	size_t bytes = (sizeof(struct um_record_part) + name_bytes + 8) & ~(size_t)7;
	struct um_record_part *part = um_tap_reserve(bytes);

	if (!part)
		return;
	memset(part, 0, bytes);
	*part = (struct um_record_part){
		.header = {(uint32_t)bytes, UM_RECORD_PART, 0},
		.op = op->op,
		.allocation = op->allocation,
		.offset = op->offset,
		.bytes = op->bytes,
		.site = op->site,
		.whole = whole,
	};
	memcpy(part->name, name, name_bytes);
	um_tap_commit();
}

/* What is named is at most what there is: false where that is none, or less than was asked for. */
static bool find_target(struct um_record_op *op, bool *whole, uint64_t address,
			uint64_t slack_bytes)
{
	const struct um_tap_block *block = um_tap_memory_find(address);

	if (!block || !block->allocation || address - block->address >= block->bytes)
		return false;
	op->allocation = block->allocation;
	op->offset = address - block->address;
	uint64_t most = block->bytes - op->offset;
	bool good = op->bytes <= most;

	if (op->bytes == 0 || !good || (op->offset == 0 && most - op->bytes < slack_bytes))
		op->bytes = most;
	*whole = op->offset == 0 && op->bytes == block->bytes;
	return good;
}

/* With the lock held. Labels (slack_bytes) are of memory of any kind. */
static void put(struct um_record_op *op, const void *pointer, const char *name,
		uint64_t slack_bytes)
{
	bool is_end = op->kind == UM_OP_NAME_END, has_name = name && *name, whole = false;
	bool found = find_target(op, &whole, (uintptr_t)pointer, slack_bytes);
	bool good = found && (is_end || has_name);

	if (slack_bytes && !op->allocation)
		return;
	op->bytes = is_end ? 0 : op->bytes;
	op->result = good ? 0 : INVALID_VALUE;
	op->end_ns = um_tap_now_ns();
	if (!good)
		um_tap_lost(UM_LOSS_NAME, 1, UM_WRONG_NAME_TEXT);
	if (um_tap_put_op(op, 0) && op->allocation && !is_end && has_name)
		put_part(op, name, whole);
	if (is_end)
		um_tap_apply_unnamed((uintptr_t)pointer);
	else if (op->allocation && has_name)
		um_tap_apply_named(op, (uintptr_t)pointer);
}

static void tell(enum um_op_kind kind, const void *pointer, uint64_t bytes, const char *name,
		 uint64_t slack_bytes)
{
	struct um_stack stack;
	struct um_record_op op = {
		.kind = (uint16_t)kind,
		.start_ns = um_tap_now_ns(),
		.bytes = bytes,
		.device = um_tap_thread()->device,
	};
	int saved = errno;

	if (!recording())
		return;
	um_tap_unwind(&stack);
	if (um_tap_lock()) {
		op.site = um_tap_site(&stack);
		put(&op, pointer, name, slack_bytes);
		um_tap_unlock();
		um_tap_apply_due();
	}
	errno = saved;
}

static void name(const void *pointer, size_t bytes, const char *text)
{
	tell(UM_OP_NAME, pointer, bytes, text, 0);
}

static void unname(const void *pointer)
{
	if (pointer)
		tell(UM_OP_NAME_END, pointer, 0, NULL, 0);
}

static void label(const void *pointer, size_t bytes, const char *text)
{
	tell(UM_OP_NAME, pointer, bytes, text, LABEL_SLACK_BYTES);
}

static void unlabel(const void *pointer)
{
	if (pointer)
		tell(UM_OP_NAME_END, pointer, 0, NULL, LABEL_SLACK_BYTES);
}

/* --- ranges --- */

static void range_push(const char *text)
{
	if (!recording() || !um_tap_lock())
		return;
	um_tap_range_push(text);
	um_tap_unlock();
}

static void range_pop(void)
{
	if (!recording() || !um_tap_lock())
		return;
	um_tap_range_pop();
	um_tap_unlock();
}

/* Not an id that NVTX gives, which count up from small ones or are addresses. */
static uint64_t range_start(const char *text)
{
	static _Atomic uint64_t last_id = UINT64_C(1) << 63;
	uint64_t id = atomic_fetch_add(&last_id, 1);

	if (!recording() || !um_tap_lock())
		return id;
	um_tap_range_start(text, id);
	um_tap_unlock();
	return id;
}

static void range_stop(uint64_t id)
{
	if (!recording() || !um_tap_lock())
		return;
	um_tap_range_stop(id);
	um_tap_unlock();
}

/* --- how it is found --- */

__attribute__((visibility("default"))) const struct um_trace_hooks *um_trace_hooks_tap_1(void);

/* Also while the tap starts: whoever asks then is told that there is one. */
const struct um_trace_hooks *um_trace_hooks_tap_1(void)
{
	static const struct um_trace_hooks hooks = {
		.bytes = sizeof(hooks),
		.recording = recording,
		.name = name,
		.unname = unname,
		.range_push = range_push,
		.range_pop = range_pop,
		.range_start = range_start,
		.range_stop = range_stop,
		.label = label,
		.unlabel = unlabel,
	};

	return atomic_load(&announced) ? &hooks : NULL;
}

void um_tap_announce_names(void)
{
	atomic_store(&announced, true);
}
