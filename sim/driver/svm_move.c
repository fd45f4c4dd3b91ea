/* amdgpu_svm moves pages: what is collected, what it costs (A1), where it is then. */
#include "svm.h"

#include <assert.h>

#define COPY_PAGES 512 /* of one copy: AMDGPU_GTT_MAX_TRANSFER_SIZE */

/* What a part of a range has to move. */
struct load {
	uint64_t pages;
	uint64_t copies; /* of up to COPY_PAGES that are next to each other */
};

/* Pages of the part that `device` does not have, and how many copies fill them. */
static struct load load_to_device(const struct svm *svm, const struct um_page_range *part,
				  um_device_id device)
{
	um_page page = part->first_page, end = part->first_page + part->pages;
	struct load load = {0, 0};

	while (page < end) {
		enum um_mapping_state map;
		uint32_t place;
		um_page next = um_machine_run_end(svm->machine, part->allocation, page, end, device,
						  &place, &map);

		if (!(place & UM_PAGE_DEVICE)) {
			load.pages += next - page;
			if (place & UM_PAGE_POPULATED)
				load.copies += (next - page + COPY_PAGES - 1) / COPY_PAGES;
		}
		page = next;
	}
	return load;
}

/* The first run of the part's pages from `page` on that are on the device; empty if there is none.
 */
static struct um_page_range next_on_device(const struct svm *svm, const struct um_page_range *part,
					   um_page page, um_device_id device)
{
	um_page end = part->first_page + part->pages;
	struct um_page_range run = {part->allocation, end, 0};

	while (page < end) {
		um_device_id holder;
		bool nowhere;
		um_page next = um_machine_holder_end(svm->machine, part->allocation, page, end,
						     &holder, &nowhere);

		if (nowhere || holder != device) {
			if (run.pages)
				break;
		} else {
			run.first_page = run.pages ? run.first_page : page;
			run.pages += next - page;
		}
		page = next;
	}
	return run;
}

static struct load load_to_host(const struct svm *svm, const struct um_page_range *part,
				um_device_id device)
{
	struct um_page_range run = next_on_device(svm, part, part->first_page, device);
	struct load load = {0, 0};

	while (run.pages) {
		load.pages += run.pages;
		load.copies += (run.pages + COPY_PAGES - 1) / COPY_PAGES;
		run = next_on_device(svm, part, run.first_page + run.pages, device);
	}
	return load;
}

static um_ns cost_of(const struct svm *svm, const struct load *load)
{
	return load->pages * svm->costs.page_update_ns + load->copies * svm->costs.copy_setup_ns;
}

/* --- to the host --- */

static int move_runs_to_host(struct svm *svm, const struct um_page_range *part, um_device_id from,
			     const struct um_why *why, um_ns at, um_ns *end)
{
	struct um_page_range run = next_on_device(svm, part, part->first_page, from);
	int error = 0;

	*end = at;
	while (run.pages && !error) {
		um_ns there;

		error = um_machine_migrate(svm->machine, &run, UM_HOST, why, at, &there);
		if (!error)
			error = um_machine_map(svm->machine, &run, UM_HOST, UM_MAP_LOCAL, why);
		*end = svm_later(*end, there);
		run = next_on_device(svm, part, run.first_page + run.pages, from);
	}
	return error;
}

int um_svm_move_to_host(struct svm *svm, struct svm_range *range, const struct um_page_range *part,
			const struct um_why *why, um_ns at, um_ns *end)
{
	struct load load;
	int error;

	*end = at;
	if (range->actual == UM_HOST)
		return 0;
	error = um_svm_invalidate(svm, range, part, why);
	if (error)
		return error;
	load = load_to_host(svm, part, range->actual);
	error = move_runs_to_host(svm, part, range->actual, why, at + cost_of(svm, &load), end);
	if (error)
		return error;
	assert(load.pages <= range->device_pages);
	range->device_pages -= (uint32_t)load.pages;
	if (!range->device_pages) {
		range->actual = UM_HOST;
		um_svm_drop_memory(svm, range);
	}
	return 0;
}

/* --- to a device --- */

static int move_from_host(struct svm *svm, struct svm_range *range, um_device_id device,
			  const struct um_page_range *part, const struct um_why *why, um_ns at,
			  um_ns *end)
{
	struct load load = load_to_device(svm, part, device);
	int error = um_svm_invalidate(svm, range, part, why);

	*end = at;
	if (!error)
		error = um_machine_migrate(svm->machine, part, device, why,
					   at + cost_of(svm, &load), end);
	if (error)
		return error;
	um_machine_fill(svm->machine, part, device, why->op); /* R15 */
	if (svm->coherent)				      /* R26 */
		error = um_machine_map(svm->machine, part, UM_HOST, UM_MAP_REMOTE, why);
	range->device_pages += (uint32_t)load.pages;
	range->actual = range->device_pages ? device : UM_HOST;
	if (!range->device_pages)
		um_svm_drop_memory(svm, range);
	return error;
}

int um_svm_move_to_device(struct svm *svm, struct svm_range *range, um_device_id device,
			  const struct um_page_range *part, const struct um_why *why, um_ns at,
			  um_ns *end, bool *refused)
{
	struct um_page_range whole = svm_pages_of(range);
	int error = 0;

	*end = at;
	if (range->actual != UM_HOST && range->actual != device) /* R17 */
		error = um_svm_move_to_host(svm, range, &whole, why, at, end);
	if (!error)
		error = um_svm_get_memory(svm, range, device, why, *end, end, refused);
	if (error || *refused)
		return error;
	return move_from_host(svm, range, device, part, why, *end, end);
}
