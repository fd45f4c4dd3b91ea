/*
 * amdgpu_svm's faults on ranges that were validated a moment ago (R16): their accesses stay stalled,
 * and come back when the range accepts faults again (A2).
 */
#include "svm.h"

#include "trace/base/error.h"

#include <stdlib.h>

static void leave_dropping(struct svm *svm, const struct svm_range *range)
{
	for (size_t i = 0; i < svm->dropping.count; i++)
		if (svm->dropping.at[i] == range) {
			svm->dropping.at[i] = svm->dropping.at[--svm->dropping.count];
			return;
		}
}

void um_svm_forget_dropped(struct svm *svm, struct svm_range *range)
{
	if (range->dropped_first != range->dropped_end)
		leave_dropping(svm, range);
	range->dropped_first = range->dropped_end = 0;
}

int um_svm_drop(struct svm *svm, struct svm_range *range, const struct um_fault *fault)
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

int um_svm_share_dropped(struct svm *svm, struct svm_range *range, struct svm_range *tail)
{
	uint32_t first = range->dropped_first, end = range->dropped_end;
	int error = 0;

	um_svm_forget_dropped(svm, range);
	for (uint32_t i = first; i < end && !error; i++) {
		struct um_fault fault = range->dropped[i];

		error = um_svm_drop(svm, fault.page < tail->first_page ? range : tail, &fault);
	}
	return error;
}

int um_svm_wake(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		um_device_id device, um_ns at)
{
	uint32_t first = range->dropped_first, end = range->dropped_end;
	int error = 0;

	um_svm_forget_dropped(svm, range);
	for (uint32_t i = first; i < end && !error; i++) {
		struct um_fault fault = range->dropped[i];
		bool inside = fault.page >= part->first_page &&
			      fault.page - part->first_page < part->pages;

		if (fault.device != device || !inside)
			error = um_svm_drop(svm, range, &fault);
	}
	return error ? error
		     : um_fault_buffer_done(um_fault_buffer_of(svm->env->faults, device), part, at);
}

struct um_fault um_svm_take_dropped(struct svm *svm, struct svm_range *range)
{
	struct um_fault fault = range->dropped[range->dropped_first++];

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
