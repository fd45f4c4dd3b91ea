/*
 * amdgpu_svm's faults: one after another, the oldest first (R30), but for those on a range that was
 * validated a moment ago, which come back later (svm_dropped.c).
 */
#include "svm.h"

#include "trace/base/error.h"

#include <assert.h>

#define UNREGISTERED_PAGES 512 /* the block of R19: 2 MiB */

/* --- a device's --- */

static struct um_fault_buffer *buffer_of(const struct svm *svm, const struct um_fault *fault)
{
	return um_fault_buffer_of(svm->env->faults, fault->device);
}

/* Of memory that nobody registered a fault makes the range (R19). */
static int find_or_make_range(struct svm *svm, struct svm_allocation *allocation, um_page page,
			      struct svm_range **range)
{
	struct svm_range gap = {.owner = allocation, .first_page = 0, .pages = allocation->pages};
	uint32_t place = um_svm_range_place(allocation, page);
	struct um_page_range block;
	int error;

	*range = um_svm_range_at(allocation, page);
	if (*range)
		return 0;
	if (place < allocation->count)
		gap.pages = allocation->ranges[place]->first_page;
	if (place > 0)
		gap.first_page = svm_range_end(allocation->ranges[place - 1]);
	gap.pages -= gap.first_page;
	block = um_svm_block(&gap, page, UNREGISTERED_PAGES);
	error = um_svm_new_range(svm, allocation, block.first_page, block.pages, range);
	if (!error && allocation->heap_or_stack)
		(*range)->preferred = UM_HOST;
	return error;
}

/* svm_range_best_restore_location (R13) */
static um_device_id restore_location(const struct svm *svm, const struct svm_range *range,
				     um_device_id device)
{
	if (svm->apu)
		return UM_HOST;
	if (range->preferred == UM_HOST ||
	    (range->preferred != SVM_UNDEFINED && svm_in_hive(svm, device, range->preferred)))
		return range->preferred;
	if (range->access >> device & 1)
		return device;
	assert(range->in_place >> device & 1); /* HIP never takes access away (R7) */
	return range->actual != UM_HOST && svm_in_hive(svm, device, range->actual) ? range->actual
										   : UM_HOST;
}

/* Whether pages can have to move there (R14). */
static bool moves(const struct svm *svm, const struct svm_range *range, um_device_id target)
{
	if (svm->kernel < SVM_KERNEL_6_8)
		return range->actual != target;
	return range->actual != UM_HOST || target != UM_HOST;
}

/* The cause becomes out_of_memory where the device refuses the pages (R18). */
static int bring(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		 um_device_id target, struct um_why *why, um_ns at, um_ns *end)
{
	bool refused, elsewhere;
	int error;

	if (target == UM_HOST)
		return um_svm_move_to_host(svm, range, part, why, at, end);
	error = um_svm_move_to_device(svm, range, target, part, why, at, end, &refused);
	if (error || !refused)
		return error;
	elsewhere = range->actual != UM_HOST && range->actual != target;
	if (elsewhere)
		error = um_svm_move_to_host(svm, range, part, why, *end, end);
	why->cause = UM_CAUSE_OUT_OF_MEMORY;
	return error;
}

static int serve_device(struct svm *svm, struct svm_range *range, const struct um_fault *fault)
{
	struct um_why why = {UM_CAUSE_DEVICE_FAULT, fault->op, ++svm->served};
	um_device_id target = restore_location(svm, range, fault->device);
	bool moved = moves(svm, range, target);
	struct um_page_range part = svm_pages_of(range);
	um_ns at = um_machine_now(svm->machine) + svm->costs.fault_ns;
	int error = 0;

	if (svm->kernel >= SVM_KERNEL_6_8) /* R14 */
		part = um_svm_block(range, fault->page, svm->block_pages);
	if (moved)
		error = bring(svm, range, &part, target, &why, at, &at);
	if (!error)
		error = um_svm_validate(svm, range, &part, 1u << fault->device,
					moved && why.cause == UM_CAUSE_DEVICE_FAULT, &why, at, &at);
	if (error)
		return error;
	svm->busy_until = at;
	um_fault_buffer_report(buffer_of(svm, fault), fault, 1, svm->served, at);
	return 0;
}

/* R29, R31 */
static int refuse_fault(const struct svm *svm, const struct um_fault *fault)
{
	return um_fail(UM_EINVAL,
		       "op %u: device %d touches page %u of allocation %u, which it has not "
		       "mapped: %s, and the program would end here",
		       fault->op, fault->device, fault->page, fault->allocation,
		       svm->xnack ? "without HMM no fault is served"
				  : "without XNACK no fault is served (--xnack on)");
}

/* Served now, or dropped (R16). */
static int take_device_fault(struct svm *svm, const struct um_fault *fault)
{
	struct svm_allocation *allocation = um_svm_find(svm, fault->allocation);
	struct svm_range *range;
	int error;

	if (!svm->xnack || !svm->hmm)
		return refuse_fault(svm, fault);
	error = find_or_make_range(svm, allocation, fault->page, &range);
	if (error)
		return error;
	return range->accepts_at > um_machine_now(svm->machine) ? um_svm_drop(svm, range, fault)
								: serve_device(svm, range, fault);
}

/* --- the host's --- */

/* How far pages from the fault's on are nowhere, within what the access is about to touch. */
static uint32_t untouched_ahead(const struct svm *svm, const struct um_fault *fault)
{
	um_page left = um_machine_pages(svm->machine, fault->allocation) - fault->page;
	um_page limit = fault->page + (fault->pages_ahead < left ? fault->pages_ahead : left);
	um_device_id holder;
	bool nowhere;
	um_page end = um_machine_holder_end(svm->machine, fault->allocation, fault->page, limit,
					    &holder, &nowhere);

	return nowhere ? end - fault->page : 0;
}

/* R24 */
static int touch_first(struct svm *svm, const struct um_fault *fault, uint32_t pages)
{
	struct um_page_range range = {fault->allocation, fault->page, pages};
	struct um_why why = {UM_CAUSE_HOST_FAULT, fault->op, 0};
	int error = um_machine_populate(svm->machine, &range, UM_HOST, &why);

	if (!error)
		error = um_machine_map(svm->machine, &range, UM_HOST, UM_MAP_LOCAL, &why);
	return error ? error
		     : um_fault_buffer_done(buffer_of(svm, fault), &range,
					    um_machine_now(svm->machine));
}

/* Kernels before 6.8 make the block a range of its own (R25). */
static int split_off_block(struct svm *svm, struct svm_range **range, um_page page)
{
	struct um_page_range block = um_svm_block(*range, page, svm->block_pages);
	struct svm_range *tail;
	int error = 0;

	if (svm->kernel >= SVM_KERNEL_6_8)
		return 0;
	if (block.first_page > (*range)->first_page)
		error = um_svm_split(svm, *range, block.first_page, range);
	if (!error && block.first_page + block.pages < svm_range_end(*range))
		error = um_svm_split(svm, *range, block.first_page + block.pages, &tail);
	return error;
}

/* R25 */
static int serve_host(struct svm *svm, const struct um_fault *fault)
{
	struct um_why why = {UM_CAUSE_HOST_FAULT, fault->op, ++svm->served};
	struct svm_range *range = um_svm_range_at(um_svm_find(svm, fault->allocation), fault->page);
	um_ns end = um_machine_now(svm->machine) + svm->costs.fault_ns;
	struct um_page_range part;
	int error;

	assert(range && range->actual != UM_HOST); /* what the host has, it has mapped */
	error = split_off_block(svm, &range, fault->page);
	if (error)
		return error;
	part = um_svm_block(range, fault->page, svm->block_pages);
	error = um_svm_move_to_host(svm, range, &part, &why, end, &end);
	if (error)
		return error;
	svm->busy_until = end;
	um_fault_buffer_report(buffer_of(svm, fault), fault, 1, svm->served, end);
	return um_fault_buffer_done(buffer_of(svm, fault), &part, end);
}

static bool host_has_mapped(const struct svm *svm, const struct um_fault *fault)
{
	enum um_mapping_state map;
	uint32_t place;

	um_machine_run_end(svm->machine, fault->allocation, fault->page, fault->page + 1, UM_HOST,
			   &place, &map);
	return map != UM_MAP_NONE;
}

static int take_host_fault(struct svm *svm, const struct um_fault *fault)
{
	struct um_page_range page = {fault->allocation, fault->page, 1};
	uint32_t untouched = untouched_ahead(svm, fault);

	if (untouched)
		return touch_first(svm, fault, untouched);
	if (host_has_mapped(svm, fault)) /* it came back while the fault waited */
		return um_fault_buffer_done(buffer_of(svm, fault), &page,
					    um_machine_now(svm->machine));
	return serve_host(svm, fault);
}

/* --- in order --- */

/* The buffer whose oldest fault is the oldest of all, NULL if none waits. */
static struct um_fault_buffer *oldest_buffer(const struct svm *svm)
{
	struct um_fault_buffer *oldest = NULL;
	uint64_t number = UINT64_MAX;

	for (um_device_id i = UM_HOST; i < svm->devices; i++) {
		struct um_fault_buffer *buffer = um_fault_buffer_of(svm->env->faults, i);
		const struct um_fault *fault = um_fault_buffer_oldest(buffer);

		if (fault && fault->number < number) {
			number = fault->number;
			oldest = buffer;
		}
	}
	return oldest;
}

/* The oldest fault that can be served now (R30); false if there is none. */
static bool take_next(struct svm *svm, struct um_fault *fault)
{
	struct um_fault_buffer *buffer = oldest_buffer(svm);
	struct svm_range *range = um_svm_oldest_dropped(svm);

	if (buffer && (!range || um_fault_buffer_oldest(buffer)->number <
					 range->dropped[range->dropped_first].number))
		return um_fault_buffer_take(buffer, fault, 1);
	if (range)
		*fault = um_svm_take_dropped(svm, range);
	return range;
}

static int serve_due(void *context, uint64_t due);

static int look_again_at(struct svm *svm, um_ns at)
{
	if (at >= svm->service_due)
		return 0;
	svm->service_due = at;
	return um_engine_schedule(svm->env->engine, at, serve_due, svm, at);
}

/* As long as that takes no time. */
static int serve(struct svm *svm)
{
	um_ns now = um_machine_now(svm->machine), next;
	struct um_fault fault;
	int error = 0;

	while (svm->busy_until <= now && !error && take_next(svm, &fault))
		error = fault.device == UM_HOST ? take_host_fault(svm, &fault)
						: take_device_fault(svm, &fault);
	if (error)
		return error;
	next = oldest_buffer(svm) ? now : um_svm_next_acceptance(svm);
	return next == UM_NEVER ? 0 : look_again_at(svm, svm_later(next, svm->busy_until));
}

static int serve_due(void *context, uint64_t due)
{
	struct svm *svm = context;

	if (due != svm->service_due)
		return 0; /* another event took its place */
	svm->service_due = UM_NEVER;
	return serve(svm);
}

/* First touches are the operating system's and wait for nobody (R24). */
static int serve_first_touches(struct svm *svm)
{
	struct um_fault_buffer *buffer = um_fault_buffer_of(svm->env->faults, UM_HOST);
	const struct um_fault *oldest;
	int error = 0;

	while (!error && (oldest = um_fault_buffer_oldest(buffer))) {
		struct um_fault fault = *oldest;
		uint32_t untouched = untouched_ahead(svm, &fault);

		if (!untouched)
			break;
		error = touch_first(svm, &fault, untouched);
	}
	return error;
}

int um_svm_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct svm *svm = svm_of(driver);
	int error = serve_first_touches(svm);

	(void)faults; /* the oldest of all comes first */
	return error ? error : serve(svm);
}
