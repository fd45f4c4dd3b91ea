#include "page_walk.h"

int um_for_each_run(const struct um_machine *machine, const struct um_page_range *range,
		    um_device_id device, um_run_fn call, void *context)
{
	um_page page = range->first_page, end = range->first_page + range->pages;
	int error = 0;

	while (page < end && !error) {
		struct um_state_run run = {.range = {range->allocation, page, 0}};
		um_page next = um_machine_run_end(machine, range->allocation, page, end, device,
						  &run.place, &run.map);

		run.range.pages = next - page;
		error = call(context, &run);
		page = next;
	}
	return error;
}

struct link_walk {
	struct um_machine *machine;
	um_device_id device;
	const struct um_why *why;
};

static int map_run(void *context, const struct um_state_run *run)
{
	const struct link_walk *walk = context;

	if (!(run->place & UM_PAGE_HOST) || run->place & UM_PAGE_DEVICE || run->map != UM_MAP_NONE)
		return 0;
	return um_machine_map(walk->machine, &run->range, walk->device, UM_MAP_REMOTE, walk->why);
}

static int unmap_run(void *context, const struct um_state_run *run)
{
	const struct link_walk *walk = context;

	if (run->map != UM_MAP_REMOTE)
		return 0;
	return um_machine_map(walk->machine, &run->range, walk->device, UM_MAP_NONE, walk->why);
}

int um_map_over_link(struct um_machine *machine, const struct um_page_range *range,
		     um_device_id device, const struct um_why *why)
{
	struct link_walk walk = {machine, device, why};

	return um_for_each_run(machine, range, device, map_run, &walk);
}

int um_unmap_over_link(struct um_machine *machine, const struct um_page_range *range,
		       um_device_id device, const struct um_why *why)
{
	struct link_walk walk = {machine, device, why};

	return um_for_each_run(machine, range, device, unmap_run, &walk);
}
