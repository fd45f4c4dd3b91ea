/* nvidia_uvm: device memory by 2 MiB, and who leaves it (R25 to R28). */
#include "uvm.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <assert.h>

/* --- windows whose pages have all left; only of those that are one block of 2 MiB (R26) --- */

static void append_empty(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_window *youngest = uvm->youngest_empty[device];

	place->older = youngest;
	place->younger = NULL;
	*(youngest ? &youngest->place[uvm_place_of(device)].younger : &uvm->oldest_empty[device]) =
		window;
	uvm->youngest_empty[device] = window;
}

static void unlink_empty(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	uint32_t i = uvm_place_of(device);
	struct uvm_place *place = &window->place[i];

	*(place->older ? &place->older->place[i].younger : &uvm->oldest_empty[device]) =
		place->younger;
	*(place->younger ? &place->younger->place[i].older : &uvm->youngest_empty[device]) =
		place->older;
}

/* --- the order of those with pages --- */

/* What the window is in the orders: its pages of the first allocation. */
static struct um_page_range unit_of(const struct uvm_window *window)
{
	const struct uvm_piece *piece = window->pieces;

	assert(!window->own || window->owner_count);
	if (window->own)
		return (struct um_page_range){window->owners[0]->id, 0, window->owners[0]->pages};
	return (struct um_page_range){piece->allocation, piece->first_page,
				      piece->pages.end - piece->pages.first};
}

static void leave_order(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	um_evict_left(uvm->order[device], window->unit.allocation, window->unit.first_page);
	window->in_order &= ~uvm_bit(device);
}

static void leave_lists(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	if (window->in_order & uvm_bit(device))
		leave_order(uvm, window, device);
	else
		unlink_empty(uvm, window, device);
}

/* To the end of the order. */
static int enter_order(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	if (window->has_memory & uvm_bit(device))
		leave_lists(uvm, window, device);
	if (!window->in_order)
		window->unit = unit_of(window);
	window->in_order |= uvm_bit(device);
	return um_evict_arrived(uvm->order[device], &window->unit);
}

static struct uvm_window *window_of_unit(const struct uvm *uvm, const struct um_page_range *unit)
{
	uint32_t at;

	return um_uvm_window_at(um_uvm_find(uvm, unit->allocation), unit->first_page, &at);
}

static bool is_whole(const struct uvm_window *window)
{
	return window->blocks->pages.end == UVM_WINDOW_PAGES;
}

int um_uvm_used(struct uvm *uvm, const struct uvm_block *block, um_device_id device)
{
	struct uvm_window *window = block->window;

	if (device == UM_HOST || !is_whole(window) ||
	    uvm_is_empty(&window->place[uvm_place_of(device)].resident))
		return 0;
	return enter_order(uvm, window, device);
}

int um_uvm_rename(struct uvm *uvm, struct uvm_window *window)
{
	struct um_page_range unit = unit_of(window);
	int error = 0;

	for (um_device_id i = 0; i < uvm->devices && !error; i++) {
		if (!(window->in_order & uvm_bit(i)))
			continue;
		um_evict_left(uvm->order[i], window->unit.allocation, window->unit.first_page);
		error = um_evict_arrived(uvm->order[i], &unit);
	}
	window->unit = unit;
	return error;
}

void um_uvm_note_left(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	if (device == UM_HOST || !is_whole(window) || !(window->in_order & uvm_bit(device)) ||
	    !uvm_is_empty(&window->place[uvm_place_of(device)].resident))
		return;
	leave_order(uvm, window, device);
	append_empty(uvm, window, device);
}

/* --- giving and taking --- */

struct memory {
	struct uvm *uvm;
	um_device_id device;
	uint64_t missing_bytes;
};

static int reserve_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct memory *memory = context;

	(void)index;
	return um_machine_reserve(memory->uvm->machine, range, memory->device);
}

static int release_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct memory *memory = context;

	(void)index;
	um_machine_release(memory->uvm->machine, range, memory->device);
	return 0;
}

static const struct uvm_region whole = {0, UVM_WINDOW_PAGES};

static void release(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	struct memory memory = {uvm, device, 0};

	leave_lists(uvm, window, device);
	um_uvm_for_each_piece(uvm, window, whole, release_piece, &memory);
	window->has_memory &= ~uvm_bit(device);
}

void um_uvm_forget_memory(struct uvm *uvm, struct uvm_window *window)
{
	for (um_device_id i = 0; i < uvm->devices; i++) {
		if (!(window->has_memory & uvm_bit(i)))
			continue;
		leave_lists(uvm, window, i);
		window->has_memory &= ~uvm_bit(i);
	}
}

static int map_accessed_by(struct uvm *uvm, struct uvm_block *block, const struct um_why *why)
{
	int error = 0;

	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		if (block->policy.accessed_by & uvm_bit(i))
			error = um_uvm_map_accessed_by(uvm, block, i, why);
	return error;
}

static int evict(struct uvm *uvm, struct uvm_window *window, um_device_id device, uint32_t op,
		 um_ns *at)
{
	struct um_why why = {UM_CAUSE_EVICTION, op, 0};
	int error = 0;

	for (struct uvm_block *block = window->blocks; block && !error; block = block->next) {
		struct uvm_mask all = uvm_mask_of(block->pages);
		struct uvm_mask here = uvm_and(window->place[uvm_place_of(device)].resident, &all);
		struct uvm_move move = {.uvm = uvm,
					.block = block,
					.to = UM_HOST,
					.cause = UM_CAUSE_EVICTION,
					.op = op,
					.at = *at,
					.end = *at};

		if (uvm_is_empty(&here))
			continue;
		move.at += uvm->costs.evict_ns;
		error = um_uvm_make_resident(&move, &here);
		if (!error && block->policy.accessed_by && !uvm_is_read_mostly(block))
			error = map_accessed_by(uvm, block, &why);
		*at = uvm_later(*at, move.end);
	}
	return error;
}

/* The next victim is gone; false: there is none. */
static int evict_next(struct uvm *uvm, um_device_id device, uint32_t op, um_ns *at, bool *none)
{
	struct uvm_window *window = uvm->oldest_empty[device];
	struct um_page_range unit;
	int error = 0;

	*none = !window && !um_evict_victim(uvm->order[device], &unit);
	if (*none)
		return 0;
	if (!window)
		window = window_of_unit(uvm, &unit);
	error = evict(uvm, window, device, op, at);
	if (!error)
		release(uvm, window, device);
	return error;
}

static int make_room(struct uvm *uvm, um_device_id device, uint64_t bytes, uint32_t op, um_ns *at)
{
	bool none = false;
	int error = 0;

	while (um_machine_memory_free(uvm->machine, device) < bytes && !none && !error)
		error = evict_next(uvm, device, op, at, &none);
	return error;
}

static int count_missing(void *context, const struct um_page_range *range, uint32_t index)
{
	struct memory *memory = context;

	(void)index;
	memory->missing_bytes +=
		um_machine_unreserved(memory->uvm->machine, range, memory->device) * UM_PAGE_BYTES;
	return 0;
}

static uint64_t missing_bytes(struct uvm *uvm, const struct uvm_window *window, um_device_id device)
{
	struct memory memory = {uvm, device, 0};

	um_uvm_for_each_piece(uvm, window, whole, count_missing, &memory);
	return memory.missing_bytes;
}

int um_uvm_take_memory(struct uvm *uvm, struct uvm_window *window, um_device_id device, uint32_t op,
		       um_ns *at)
{
	struct memory memory = {uvm, device, 0};
	uint64_t bytes;
	int error;

	if (window->has_memory & uvm_bit(device))
		return 0;
	bytes = missing_bytes(uvm, window, device);
	error = make_room(uvm, device, bytes, op, at);
	if (!error && um_machine_memory_free(uvm->machine, device) < bytes)
		return um_fail(UM_ELIMIT,
			       "op %u: device %d has no 2 MiB left for managed memory: device "
			       "allocations hold all of it, and the program would end here",
			       op, device);
	if (!error)
		error = um_uvm_for_each_piece(uvm, window, whole, reserve_piece, &memory);
	if (error)
		return error;
	error = enter_order(uvm, window, device);
	window->has_memory |= uvm_bit(device);
	return error;
}

int um_uvm_on_pressure(struct um_driver *driver, const struct um_pressure *pressure, um_ns *done_at)
{
	struct uvm *uvm = uvm_of(driver);
	um_device_id device = pressure->device;
	char text[3][32];
	int error = make_room(uvm, device, pressure->bytes, pressure->op, done_at);

	if (error || um_machine_memory_free(uvm->machine, device) >= pressure->bytes)
		return error;
	return um_fail(
		UM_ELIMIT,
		"device %d: hipMalloc would fail with hipErrorOutOfMemory: %s do not fit where "
		"device allocations leave %s of %s; what a program does then its trace does not "
		"tell",
		device, um_format_bytes(text[0], sizeof(text[0]), pressure->bytes),
		um_format_bytes(text[1], sizeof(text[1]),
				um_machine_memory_free(uvm->machine, device)),
		um_format_bytes(text[2], sizeof(text[2]),
				um_machine_memory_total(uvm->machine, device)));
}

struct touch {
	struct uvm *uvm;
	um_device_id device;
	um_alloc_id allocation;
};

/* The order finds a window by the pages of one allocation. */
static int touch_window(void *context, struct uvm_block *block, struct uvm_region pages)
{
	const struct touch *touch = context;
	struct uvm_window *window = block->window;

	(void)pages;
	if (window->in_order & uvm_bit(touch->device) &&
	    window->unit.allocation != touch->allocation)
		um_evict_touched(touch->uvm->order[touch->device], &window->unit);
	return 0;
}

void um_uvm_on_touch(struct um_driver *driver, const struct um_page_range *pages,
		     um_device_id device, bool write)
{
	struct uvm *uvm = uvm_of(driver);
	struct touch touch = {uvm, device, pages->allocation};

	(void)write;
	um_uvm_thrash_unpin_due(uvm);
	um_uvm_counters_touched(uvm, pages, device);
	if (device == UM_HOST || !uvm->order[device]->ops->touched)
		return;
	um_evict_touched(uvm->order[device], pages);
	if (um_uvm_find(uvm, pages->allocation))
		um_uvm_for_each_block(uvm, pages, touch_window, &touch);
}
