/* amdgpu_svm's buffer objects: device memory by the range (R20 to R23). */
#include "out_of_memory.h"
#include "svm.h"

#include "trace/base/error.h"
#include "sim/probe/probe.h"

#include <assert.h>
#include <stdlib.h>

/* --- life --- */

/* No range points to it from now on. */
static void forget(struct svm_allocation *allocation, const struct svm_bo *bo)
{
	um_page end = bo->pages.first_page + bo->pages.pages;

	for (uint32_t i = um_svm_range_place(allocation, bo->pages.first_page);
	     i < allocation->count && allocation->ranges[i]->first_page < end; i++)
		if (allocation->ranges[i]->bo == bo)
			allocation->ranges[i]->bo = NULL;
}

static void free_bo(struct svm *svm, struct svm_allocation *allocation, struct svm_bo *bo)
{
	forget(allocation, bo);
	um_evict_left(svm->order[bo->device], bo->pages.allocation, bo->pages.first_page);
	um_machine_release(svm->machine, &bo->pages, bo->device);
	svm->bo_pages[bo->device] -= bo->pages.pages;
	free(bo);
}

void um_svm_drop_memory(struct svm *svm, struct svm_range *range)
{
	struct svm_bo *bo = range->bo;

	assert(range->holds_bo && bo->holders > 0);
	range->holds_bo = false;
	if (!--bo->holders)
		free_bo(svm, range->owner, bo);
}

/* R20 */
static int make_bo(struct svm *svm, struct svm_range *range, um_device_id device)
{
	struct svm_bo *bo = calloc(1, sizeof(*bo));
	int error;

	if (!bo)
		return um_fail(UM_ENOMEM, "no memory for a buffer object");
	*bo = (struct svm_bo){device, svm_pages_of(range), 1};
	error = um_machine_reserve(svm->machine, &bo->pages, device);
	if (!error)
		error = um_evict_arrived(svm->order[device], &bo->pages);
	if (error) {
		free(bo);
		return error;
	}
	svm->bo_pages[device] += bo->pages.pages;
	range->bo = bo;
	range->holds_bo = true;
	return 0;
}

static void hold(struct svm_range *range, struct svm_bo *bo)
{
	range->bo = bo;
	range->holds_bo = true;
	bo->holders++;
}

/*
 * An object on the device that the range's pages were part of when it was made, NULL if there is
 * none: a piece comes back to it (R20, A7).
 */
static struct svm_bo *old_place(const struct svm *svm, const struct svm_range *range,
				um_device_id device)
{
	const struct svm_allocation *allocation = range->owner;
	struct um_page_range pages = svm_pages_of(range);

	if (range->bo && range->bo->device == device)
		return range->bo;
	if (um_machine_unreserved(svm->machine, &pages, device))
		return NULL;
	for (uint32_t i = 0; i < allocation->count; i++) {
		struct svm_bo *bo = allocation->ranges[i]->bo;

		if (bo && bo->device == device && bo->pages.first_page <= range->first_page &&
		    bo->pages.first_page + bo->pages.pages >= svm_range_end(range))
			return bo;
	}
	return NULL;
}

/* --- eviction --- */

/* The object that begins with this unit. */
static struct svm_bo *find_bo(const struct svm_allocation *allocation, um_device_id device,
			      const struct um_page_range *unit)
{
	um_page end = unit->first_page + unit->pages;

	for (uint32_t i = um_svm_range_place(allocation, unit->first_page);
	     i < allocation->count && allocation->ranges[i]->first_page < end; i++) {
		struct svm_bo *bo = allocation->ranges[i]->bo;

		if (bo && bo->device == device && bo->pages.first_page == unit->first_page)
			return bo;
	}
	return NULL;
}

/* All of its ranges go to the host, which frees it (R23). */
static int evict_bo(struct svm *svm, struct svm_allocation *allocation, struct svm_bo *bo,
		    uint32_t op, um_ns at, um_ns *end)
{
	struct um_why why = {UM_CAUSE_EVICTION, op, 0};
	struct um_page_range unit = bo->pages;
	um_page behind = unit.first_page + unit.pages;
	int error = 0;

	*end = at;
	for (uint32_t i = um_svm_range_place(allocation, unit.first_page);
	     i < allocation->count && allocation->ranges[i]->first_page < behind && !error; i++) {
		struct svm_range *range = allocation->ranges[i];
		struct um_page_range pages = svm_pages_of(range);

		if (range->bo == bo && range->holds_bo)
			error = um_svm_move_to_host(svm, range, &pages, &why, *end, end);
	}
	return error;
}

/* R22 */
static int make_room(struct svm *svm, um_device_id device, uint64_t bytes, uint32_t op, um_ns at,
		     um_ns *end)
{
	struct um_page_range unit;
	int error = 0;

	*end = at;
	while (um_machine_memory_free(svm->machine, device) < bytes && !error &&
	       um_evict_victim(svm->order[device], &unit)) {
		struct svm_allocation *allocation = um_svm_find(svm, unit.allocation);
		struct svm_bo *bo = find_bo(allocation, device, &unit);

		assert(bo);
		error = evict_bo(svm, allocation, bo, op, *end, end);
	}
	return error;
}

static void report_refusal(const struct svm *svm, const struct um_page_range *pages,
			   um_device_id device, uint32_t op)
{
	struct um_driver_event_row row = {
		.op = op ? op : UM_NULL,
		.device = device,
		.kind = UM_EVENT_VRAM_REFUSED,
		.reason = "ENOSPC", /* what svm_migrate_ram_to_vram says */
		.allocation = pages->allocation,
		.first_page = pages->first_page,
		.pages = pages->pages,
		.count = 1,
		.start_ns = (int64_t)um_machine_now(svm->machine),
		.end_ns = (int64_t)um_machine_now(svm->machine),
		.waited_ns = UM_NULL,
	};

	um_probe_driver_event(svm->env->probe, &row);
}

/* What device allocations leave of the device's memory (R21). */
static uint64_t bytes_for_ranges(const struct svm *svm, um_device_id device)
{
	return um_machine_memory_free(svm->machine, device) + svm->bo_pages[device] * UM_PAGE_BYTES;
}

int um_svm_get_memory(struct svm *svm, struct svm_range *range, um_device_id device,
		      const struct um_why *why, um_ns at, um_ns *end, bool *refused)
{
	struct um_page_range pages = svm_pages_of(range);
	uint64_t bytes = (uint64_t)range->pages * UM_PAGE_BYTES;
	struct svm_bo *old;
	int error;

	*end = at;
	*refused = bytes > bytes_for_ranges(svm, device);
	if (*refused) {
		report_refusal(svm, &pages, device, why->op);
		return 0;
	}
	if (range->holds_bo) {
		assert(range->bo->device == device);
		return 0;
	}
	old = old_place(svm, range, device);
	if (old) {
		hold(range, old);
		return 0;
	}
	error = make_room(svm, device, bytes, why->op, at, end);
	*end += range->pages * svm->costs.page_alloc_ns;
	return error ? error : make_bo(svm, range, device);
}

int um_svm_on_pressure(struct um_driver *driver, const struct um_pressure *pressure, um_ns *done_at)
{
	struct svm *svm = svm_of(driver);
	um_device_id device = pressure->device;
	uint64_t room = bytes_for_ranges(svm, device);
	int error;

	if (pressure->bytes > room)
		return um_refuse_device_allocation(svm->machine, device, pressure->bytes, room);
	error = make_room(svm, device, pressure->bytes, pressure->op, um_machine_now(svm->machine),
			  done_at);
	assert(error || um_machine_memory_free(svm->machine, device) >= pressure->bytes);
	return error;
}

void um_svm_on_touch(struct um_driver *driver, const struct um_page_range *pages,
		     um_device_id device, bool write)
{
	(void)write;
	if (device != UM_HOST)
		um_evict_touched(svm_of(driver)->order[device], pages);
}
