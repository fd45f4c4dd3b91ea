/* nvidia_uvm: who has pages mapped (R17, R18, R23). */
#include "uvm.h"

struct mapping {
	struct uvm *uvm;
	um_device_id device;
	enum um_mapping_state state;
	const struct um_why *why;
};

static int map_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct mapping *mapping = context;

	(void)index;
	if (mapping->state == UM_MAP_REMOTE)
		um_machine_record_next(mapping->uvm->machine);
	return um_machine_map(mapping->uvm->machine, range, mapping->device, mapping->state,
			      mapping->why);
}

/* Runs; each that comes to be mapped from afar is a record (R18). */
static int map_runs(struct uvm *uvm, const struct uvm_window *window, um_device_id device,
		    const struct uvm_mask *pages, enum um_mapping_state state,
		    const struct um_why *why)
{
	struct mapping mapping = {uvm, device, state, why};
	struct uvm_region run = {0, 0};
	int error = 0;

	while (!error && uvm_next_run(pages, run.end, &run)) {
		error = um_uvm_for_each_piece(uvm, window, run, map_piece, &mapping);
		uvm->remote_runs += state == UM_MAP_REMOTE;
	}
	return error;
}

int um_uvm_map(struct uvm *uvm, struct uvm_window *window, um_device_id device,
	       const struct uvm_mask *pages, bool writable, const struct um_why *why)
{
	struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_mask local = uvm_and(*pages, &place->resident);
	struct uvm_mask remote = uvm_and_not(*pages, &place->resident);
	int error = map_runs(uvm, window, device, &local,
			     writable ? UM_MAP_LOCAL : UM_MAP_LOCAL_READ, why);

	if (!error)
		error = map_runs(uvm, window, device, &remote, UM_MAP_REMOTE, why);
	uvm_add(&place->mapped, pages);
	uvm_remove(&place->writable, &local);
	uvm_add(&place->writable, writable ? pages : &remote);
	return error;
}

int um_uvm_unmap(struct uvm *uvm, struct uvm_window *window, um_device_id device,
		 const struct uvm_mask *pages, const struct um_why *why)
{
	struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_mask mapped = uvm_and(*pages, &place->mapped);

	uvm_remove(&place->mapped, pages);
	uvm_remove(&place->writable, pages);
	return map_runs(uvm, window, device, &mapped, UM_MAP_NONE, why);
}

int um_uvm_revoke(struct uvm *uvm, struct uvm_window *window, um_device_id device,
		  const struct uvm_mask *pages, const struct um_why *why)
{
	struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_mask mapped = uvm_and(*pages, &place->mapped);

	return um_uvm_map(uvm, window, device, &mapped, false, why);
}

int um_uvm_map_others(struct uvm *uvm, struct uvm_block *block, um_device_id to, um_device_id by,
		      const struct uvm_mask *pages, uint32_t besides, const struct um_why *why)
{
	struct uvm_mask single = uvm_and_not(*pages, &block->window->duplicated);
	um_device_id preferred = block->policy.preferred;
	uint32_t who = block->policy.accessed_by | besides;
	int error = 0;

	if (uvm_is_read_mostly(block) || uvm_is_empty(&single))
		return 0;
	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		if (who & uvm_bit(i) && i != by && uvm_can_access(uvm, i, to) &&
		    (i != preferred || to == preferred))
			error = um_uvm_map(uvm, block->window, i, &single, true, why);
	return error;
}

int um_uvm_map_accessed_by(struct uvm *uvm, struct uvm_block *block, um_device_id device,
			   const struct um_why *why)
{
	const struct uvm_window *window = block->window;
	struct uvm_mask pages = uvm_mask_of(block->pages), found = {{0}};

	uvm_remove(&pages, &window->duplicated);
	uvm_remove(&pages, &window->place[uvm_place_of(device)].writable);
	for (um_device_id i = UM_HOST; i < uvm->devices; i++) {
		struct uvm_mask there = uvm_and(pages, &window->place[uvm_place_of(i)].resident);

		if (uvm_can_access(uvm, device, i))
			uvm_add(&found, &there);
	}
	return um_uvm_map(uvm, block->window, device, &found, true, why);
}
