/* amdgpu_svm's mappings: for whom, and when they go (R11, R27). */
#include "svm.h"

/* svm_range_map_to_gpus passes over who cannot reach the buffer object, wherever the pages are. */
static uint32_t within_reach(const struct svm *svm, const struct svm_range *range, uint32_t devices)
{
	uint32_t within = 0;

	if (!range->holds_bo)
		return devices;
	for (; devices; devices &= devices - 1)
		if (svm_in_hive(svm, __builtin_ctz(devices), range->bo->device))
			within |= devices & -devices;
	return within;
}

uint32_t um_svm_map_targets(const struct svm *svm, const struct svm_range *range)
{
	uint32_t devices = range->in_place;

	if (!svm->xnack)
		return within_reach(svm, range, devices | range->access);
	if (range->actual != UM_HOST && range->access >> range->actual & 1)
		devices |= 1u << range->actual;
	if (!devices && range->mapped_to_gpu)
		devices = range->access;
	return within_reach(svm, range, devices);
}

/* --- mapping --- */

/* Pages of the part that are nowhere are made in host memory (R15, R29). */
static int make_pages(struct svm *svm, const struct um_page_range *part, const struct um_why *why)
{
	um_page page = part->first_page, end = part->first_page + part->pages;
	int error = 0;

	while (page < end && !error) {
		um_device_id holder;
		bool nowhere;
		um_page next = um_machine_holder_end(svm->machine, part->allocation, page, end,
						     &holder, &nowhere);
		struct um_page_range run = {part->allocation, page, next - page};

		page = next;
		if (!nowhere)
			continue;
		error = um_machine_populate(svm->machine, &run, UM_HOST, why);
		if (!error)
			error = um_machine_map(svm->machine, &run, UM_HOST, UM_MAP_LOCAL, why);
		if (!error)
			um_machine_fill(svm->machine, &run, UM_HOST, why->op);
	}
	return error;
}

static int map_for(struct svm *svm, const struct um_page_range *part, um_device_id device,
		   const struct um_why *why, uint64_t *pages)
{
	um_page page = part->first_page, end = part->first_page + part->pages;
	int error = 0;

	*pages = 0;
	while (page < end && !error) {
		enum um_mapping_state map, wanted = UM_MAP_LOCAL;
		um_device_id holder;
		uint32_t place;
		bool nowhere;
		um_page next = um_machine_run_end(svm->machine, part->allocation, page, end, device,
						  &place, &map);
		struct um_page_range run = {part->allocation, page, 0};

		if (!(place & UM_PAGE_DEVICE)) {
			next = um_machine_holder_end(svm->machine, part->allocation, page, next,
						     &holder, &nowhere);
			wanted = holder == UM_HOST || svm_in_hive(svm, device, holder)
					 ? UM_MAP_REMOTE
					 : UM_MAP_NONE;
		}
		run.pages = next - page;
		page = next;
		if (map == wanted)
			continue;
		*pages += run.pages;
		error = um_machine_map(svm->machine, &run, device, wanted, why);
	}
	return error;
}

static int map(struct svm *svm, const struct um_page_range *part, uint32_t devices,
	       const struct um_why *why, uint64_t *pages)
{
	int error = make_pages(svm, part, why);

	*pages = 0;
	for (; devices && !error; devices &= devices - 1) {
		um_device_id device = __builtin_ctz(devices);
		uint64_t changed;

		error = map_for(svm, part, device, why, &changed);
		*pages = changed > *pages ? changed : *pages;
	}
	return error;
}

int um_svm_validate(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		    uint32_t devices, bool moved, const struct um_why *why, um_ns at, um_ns *end)
{
	uint64_t pages;
	int error;

	*end = at;
	if (!devices)
		return 0;
	error = map(svm, part, devices, why, &pages);
	*end += moved ? 0 : pages * svm->costs.page_update_ns;
	range->mapped_to_gpu = true;
	range->accepts_at = *end + svm->costs.duplicate_ns;
	for (; devices && !error; devices &= devices - 1)
		error = um_svm_wake(svm, range, part, __builtin_ctz(devices), *end);
	return error;
}

/* --- invalidation --- */

static int unmap(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		 const struct um_why *why)
{
	uint32_t devices = range->access | range->in_place;
	int error = 0;

	if (part->pages == range->pages)
		range->mapped_to_gpu = false;
	for (; devices && !error; devices &= devices - 1)
		error = um_machine_map(svm->machine, part, __builtin_ctz(devices), UM_MAP_NONE,
				       why);
	return error;
}

int um_svm_invalidate(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
		      const struct um_why *why)
{
	if (!range->mapped_to_gpu)
		return 0;
	return svm->xnack ? unmap(svm, range, part, why) : um_svm_stop_queues(svm, range, why);
}
