/*
 * amdgpu_svm's faults on ranges that were validated a moment ago (R16): their accesses stay stalled,
 * and come back when the range accepts faults again (A2).
 */
#include "svm.h"

#include "sim/probe/probe.h"
#include "trace/base/error.h"

#include <stdlib.h>

/* --- how long they wait --- */

static void count_waiting(struct svm *svm)
{
	struct svm_waiting *waiting = &svm->waiting;
	um_ns now = um_machine_now(svm->machine);

	waiting->waited_ns += waiting->now * (now - waiting->counted_at);
	waiting->counted_at = now;
}

static void begin_waiting(struct svm *svm, const struct um_fault *fault)
{
	um_ns now = um_machine_now(svm->machine);

	if (!svm->waiting.now)
		svm->waiting = (struct svm_waiting){
			.began = now, .counted_at = now, .op = fault->op, .device = fault->device};
	count_waiting(svm);
	svm->waiting.now++;
	svm->waiting.all++;
}

static void end_waiting(struct svm *svm, uint32_t count)
{
	const struct svm_waiting *waiting = &svm->waiting;

	if (!count)
		return;
	count_waiting(svm);
	svm->waiting.now -= count;
	if (waiting->now)
		return;
	struct um_driver_event_row row = {
		.op = waiting->op,
		.device = waiting->device,
		.kind = UM_EVENT_FAULT_DROPPED,
		.reason = "duplicate",
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = UM_NULL,
		.count = (int64_t)waiting->all,
		.start_ns = (int64_t)waiting->began,
		.end_ns = (int64_t)waiting->counted_at,
		.waited_ns = (int64_t)waiting->waited_ns,
	};
	um_probe_driver_event(svm->env->probe, &row);
}

/* --- what a range keeps --- */

static void leave_dropping(struct svm *svm, const struct svm_range *range)
{
	for (size_t i = 0; i < svm->dropping.count; i++)
		if (svm->dropping.at[i] == range) {
			svm->dropping.at[i] = svm->dropping.at[--svm->dropping.count];
			return;
		}
}

static void clear(struct svm *svm, struct svm_range *range)
{
	if (range->dropped_first != range->dropped_end)
		leave_dropping(svm, range);
	range->dropped_first = range->dropped_end = 0;
}

void um_svm_forget_dropped(struct svm *svm, struct svm_range *range)
{
	end_waiting(svm, range->dropped_end - range->dropped_first);
	clear(svm, range);
}

static int keep(struct svm *svm, struct svm_range *range, const struct um_fault *fault)
{
	bool first = range->dropped_first == range->dropped_end;

	if (range->dropped_end == range->dropped_capacity) {
		uint32_t capacity = range->dropped_capacity ? range->dropped_capacity * 2 : 16;
		struct um_fault *grown = realloc(range->dropped, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u dropped faults", capacity);
		range->dropped = grown;
		range->dropped_capacity = capacity;
	}
	range->dropped[range->dropped_end++] = *fault;
	return first ? um_svm_ranges_add(&svm->dropping, range) : 0;
}

int um_svm_drop(struct svm *svm, struct svm_range *range, const struct um_fault *fault)
{
	begin_waiting(svm, fault);
	return keep(svm, range, fault);
}

int um_svm_share_dropped(struct svm *svm, struct svm_range *range, struct svm_range *tail)
{
	uint32_t first = range->dropped_first, end = range->dropped_end;
	int error = 0;

	clear(svm, range);
	for (uint32_t i = first; i < end && !error; i++) {
		struct um_fault fault = range->dropped[i];

		error = keep(svm, fault.page < tail->first_page ? range : tail, &fault);
	}
	return error;
}

int um_svm_wake(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		um_device_id device, um_ns at)
{
	uint32_t first = range->dropped_first, end = range->dropped_end, woken = 0;
	int error = 0;

	clear(svm, range);
	for (uint32_t i = first; i < end && !error; i++) {
		struct um_fault fault = range->dropped[i];
		bool inside = fault.page >= part->first_page &&
			      fault.page - part->first_page < part->pages;

		if (fault.device == device && inside)
			woken++;
		else
			error = keep(svm, range, &fault);
	}
	end_waiting(svm, woken);
	return error ? error
		     : um_fault_buffer_done(um_fault_buffer_of(svm->env->faults, device), part, at);
}

struct um_fault um_svm_take_dropped(struct svm *svm, struct svm_range *range)
{
	struct um_fault fault = range->dropped[range->dropped_first++];

	end_waiting(svm, 1);
	if (range->dropped_first == range->dropped_end) {
		range->dropped_first = range->dropped_end = 0;
		leave_dropping(svm, range);
	}
	return fault;
}

struct svm_range *um_svm_oldest_dropped(const struct svm *svm)
{
	um_ns now = um_machine_now(svm->machine);
	struct svm_range *oldest = NULL;
	uint64_t number = UINT64_MAX;

	for (size_t i = 0; i < svm->dropping.count; i++) {
		struct svm_range *range = svm->dropping.at[i];
		uint64_t of_range = range->dropped[range->dropped_first].number;

		if (range->accepts_at <= now && of_range < number) {
			number = of_range;
			oldest = range;
		}
	}
	return oldest;
}

um_ns um_svm_next_acceptance(const struct svm *svm)
{
	um_ns next = UM_NEVER;

	for (size_t i = 0; i < svm->dropping.count; i++) {
		um_ns at = svm->dropping.at[i]->accepts_at;

		next = at < next ? at : next;
	}
	return next;
}
