/* nvidia_uvm: addresses in windows of 2 MiB, and their blocks (R1, R2). */
#include "uvm.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- what a window is made of --- */

static int add_piece(struct uvm_window *window, const struct uvm_piece *piece)
{
	uint32_t at = 0;

	if (window->piece_count == window->piece_capacity) {
		uint32_t capacity = window->piece_capacity ? window->piece_capacity * 2 : 2;
		struct uvm_piece *grown = realloc(window->pieces, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u parts of 2 MiB", capacity);
		window->pieces = grown;
		window->piece_capacity = capacity;
	}
	while (at < window->piece_count && window->pieces[at].pages.first < piece->pages.first)
		at++;
	memmove(&window->pieces[at + 1], &window->pieces[at],
		(window->piece_count - at) * sizeof(*piece));
	window->pieces[at] = *piece;
	window->piece_count++;
	return 0;
}

/* Pages that nobody asked for. */
static int add_own_piece(struct uvm *uvm, struct uvm_window *window, struct uvm_region pages)
{
	struct uvm_piece piece = {.pages = pages};
	int error;

	if (pages.first == pages.end)
		return 0;
	error = um_machine_add_own(uvm->machine, pages.end - pages.first, &piece.allocation);
	return error ? error : add_piece(window, &piece);
}

static void drop_piece(struct uvm_window *window, uint32_t at)
{
	window->piece_count--;
	memmove(&window->pieces[at], &window->pieces[at + 1],
		(window->piece_count - at) * sizeof(*window->pieces));
}

int um_uvm_for_each_piece(const struct uvm_window *window, struct uvm_region run, uvm_piece_fn call,
			  void *context)
{
	uint32_t index = 0;
	int error = 0;

	for (uint32_t i = 0; i < window->piece_count && !error; i++) {
		const struct uvm_piece *piece = &window->pieces[i];
		uint32_t first = run.first > piece->pages.first ? run.first : piece->pages.first;
		uint32_t end = run.end < piece->pages.end ? run.end : piece->pages.end;
		struct um_page_range range = {piece->allocation,
					      piece->first_page + (first - piece->pages.first),
					      end - first};

		if (first < end)
			error = call(context, &range, index++);
	}
	return error;
}

/* --- blocks --- */

static struct uvm_block *new_block(struct uvm_window *window, struct uvm_region pages)
{
	struct uvm_block *block = calloc(1, sizeof(*block));

	if (!block) {
		um_fail(UM_ENOMEM, "no memory for a block");
		return NULL;
	}
	*block = (struct uvm_block){.window = window,
				    .pages = pages,
				    .policy = {.preferred = UVM_NOBODY},
				    .last_destination = UVM_NOBODY};
	return block;
}

struct uvm_block *um_uvm_block_at(const struct uvm_window *window, uint32_t page)
{
	struct uvm_block *block = window->blocks;

	while (block->pages.end <= page)
		block = block->next;
	return block;
}

int um_uvm_split(struct uvm *uvm, struct uvm_window *window, uint32_t page)
{
	struct uvm_block *block = um_uvm_block_at(window, page), *tail;

	if (block->pages.first == page) {
		block->starts_range = true;
		return 0;
	}
	tail = new_block(window, (struct uvm_region){page, block->pages.end});
	if (!tail)
		return UM_ENOMEM;
	um_uvm_thrash_forget(uvm, block);
	tail->policy = block->policy;
	tail->starts_range = true;
	tail->next = block->next;
	block->next = tail;
	block->pages.end = page;
	return 0;
}

/* --- windows --- */

static struct uvm_window *make_window(struct uvm *uvm, uint32_t pages)
{
	struct uvm_window *window =
		calloc(1, sizeof(*window) + uvm_places(uvm) * sizeof(struct uvm_place));

	if (!window) {
		um_fail(UM_ENOMEM, "no memory for 2 MiB of managed memory");
		return NULL;
	}
	window->number = uvm->windows_made++;
	window->served = UVM_NOBODY;
	window->blocks = new_block(window, (struct uvm_region){0, pages});
	if (!window->blocks) {
		free(window);
		return NULL;
	}
	return window;
}

static void leave_pool(struct uvm *uvm, const struct uvm_window *window)
{
	struct uvm_window **link = &uvm->pool;

	while (*link && *link != window)
		link = &(*link)->next_in_pool;
	if (*link)
		*link = window->next_in_pool;
}

static void destroy_window(struct uvm *uvm, struct uvm_window *window)
{
	struct uvm_block *block = window->blocks;

	um_uvm_forget_memory(uvm, window);
	um_uvm_counters_forget(uvm, window);
	while (block) {
		struct uvm_block *next = block->next;

		um_uvm_thrash_forget(uvm, block);
		free(block);
		block = next;
	}
	for (uint32_t i = 0; i < window->piece_count; i++)
		if (window->pieces[i].allocation >= UM_OWN_PAGES)
			um_machine_remove(uvm->machine, window->pieces[i].allocation);
	leave_pool(uvm, window);
	free(window->pieces);
	free(window);
}

/* --- the pool of small allocations (A2) --- */

/* The machine learns again where pages are that were the driver's own. */
struct restore {
	struct uvm *uvm;
	um_device_id device;
	enum um_mapping_state map;
};

static const struct um_why no_op = {.cause = UM_CAUSE_HOST_FAULT};

static int restore_memory(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct restore *restore = context;

	(void)index;
	return um_machine_reserve(restore->uvm->machine, range, restore->device);
}

static int restore_pages(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct restore *restore = context;
	int error = um_machine_populate(restore->uvm->machine, range, restore->device, &no_op);

	(void)index;
	if (!error)
		um_machine_fill(restore->uvm->machine, range, restore->device, 0);
	return error;
}

static int restore_mapping(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct restore *restore = context;

	(void)index;
	return um_machine_map(restore->uvm->machine, range, restore->device, restore->map, &no_op);
}

static int for_each_run(const struct uvm_window *window, const struct uvm_mask *pages,
			uvm_piece_fn call, struct restore *restore)
{
	struct uvm_region run = {0, 0};
	int error = 0;

	while (!error && uvm_next_run(pages, run.end, &run))
		error = um_uvm_for_each_piece(window, run, call, restore);
	return error;
}

static bool has_room(const struct uvm *uvm, const struct uvm_mask *pages, um_device_id device)
{
	return device == UM_HOST || um_machine_memory_free(uvm->machine, device) >=
					    (uint64_t)uvm_count(pages) * UM_PAGE_BYTES;
}

static int restore_place(struct uvm *uvm, struct uvm_window *window, const struct uvm_mask *pages,
			 um_device_id device)
{
	const struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_mask here = uvm_and(place->resident, pages);
	struct restore restore = {uvm, device, UM_MAP_NONE};
	int error = 0;

	if (window->has_memory & uvm_bit(device) && has_room(uvm, pages, device))
		error = for_each_run(window, pages, restore_memory, &restore);
	return error ? error : for_each_run(window, &here, restore_pages, &restore);
}

static int restore_mappings(struct uvm *uvm, struct uvm_window *window,
			    const struct uvm_mask *pages, um_device_id device)
{
	const struct uvm_place *place = &window->place[uvm_place_of(device)];
	struct uvm_mask mapped = uvm_and(place->mapped, pages);
	struct uvm_mask local = uvm_and(mapped, &place->resident);
	struct uvm_mask remote = uvm_and_not(mapped, &place->resident);
	struct uvm_mask written = uvm_and(local, &place->writable);
	struct uvm_mask read = uvm_and_not(local, &place->writable);
	struct restore restore = {uvm, device, UM_MAP_LOCAL};
	int error = for_each_run(window, &written, restore_mapping, &restore);

	restore.map = UM_MAP_LOCAL_READ;
	if (!error)
		error = for_each_run(window, &read, restore_mapping, &restore);
	restore.map = UM_MAP_REMOTE;
	return error ? error : for_each_run(window, &remote, restore_mapping, &restore);
}

/* Of duplicates one stays: nobody has looked at these pages. */
static void end_duplicates(struct uvm *uvm, struct uvm_window *window, const struct uvm_mask *pages)
{
	struct uvm_mask seen = {{0}};

	for (uint32_t i = 0; i < uvm_places(uvm); i++) {
		struct uvm_mask here = uvm_and(window->place[i].resident, pages);
		struct uvm_mask again = uvm_and(here, &seen);

		uvm_remove(&window->place[i].resident, &again);
		uvm_remove(&window->place[i].mapped, &again);
		uvm_remove(&window->place[i].writable, &again);
		uvm_add(&seen, &here);
	}
	uvm_remove(&window->duplicated, pages);
}

static int restore_all(struct uvm *uvm, struct uvm_window *window, struct uvm_region region)
{
	struct uvm_mask pages = uvm_mask_of(region);
	int error = 0;

	end_duplicates(uvm, window, &pages);
	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		error = restore_place(uvm, window, &pages, i);
	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		error = restore_mappings(uvm, window, &pages, i);
	return error;
}

/* A new one, behind the others. */
static int widen_pool(struct uvm *uvm)
{
	struct uvm_window **link = &uvm->pool;
	struct uvm_window *window = make_window(uvm, UVM_WINDOW_PAGES);
	int error;

	if (!window)
		return UM_ENOMEM;
	error = add_own_piece(uvm, window, (struct uvm_region){0, UVM_WINDOW_PAGES});
	if (error) {
		destroy_window(uvm, window);
		return error;
	}
	window->blocks->starts_range = true;
	while (*link)
		link = &(*link)->next_in_pool;
	*link = window;
	return 0;
}

static uint32_t pages_of(const struct uvm_piece *piece)
{
	return piece->pages.end - piece->pages.first;
}

static bool is_hole(const struct uvm_piece *piece)
{
	return piece->allocation >= UM_OWN_PAGES;
}

/* The smallest hole that has as many pages, of those the first: its piece; NULL: there is none. */
static struct uvm_window *find_hole(const struct uvm *uvm, uint32_t pages, uint32_t *at)
{
	struct uvm_window *found = NULL;

	*at = 0;
	for (struct uvm_window *window = uvm->pool; window; window = window->next_in_pool)
		for (uint32_t i = 0; i < window->piece_count; i++) {
			const struct uvm_piece *piece = &window->pieces[i];

			if (!is_hole(piece) || pages_of(piece) < pages ||
			    (found && pages_of(&found->pieces[*at]) <= pages_of(piece)))
				continue;
			found = window;
			*at = i;
		}
	return found;
}

/* The hole's pages are no own ones any more. */
static struct uvm_region take_hole(struct uvm *uvm, struct uvm_window *window, uint32_t at)
{
	struct uvm_region pages = window->pieces[at].pages;

	um_machine_remove(uvm->machine, window->pieces[at].allocation);
	drop_piece(window, at);
	return pages;
}

static int take_from_pool(struct uvm *uvm, struct uvm_allocation *allocation)
{
	uint32_t at;
	struct uvm_window *window = find_hole(uvm, allocation->pages, &at);
	struct uvm_region hole;
	struct uvm_piece piece;
	int error = window ? 0 : widen_pool(uvm);

	if (!error && !window)
		window = find_hole(uvm, allocation->pages, &at);
	if (error)
		return error;
	hole = take_hole(uvm, window, at);
	piece = (struct uvm_piece){allocation->id, 0, {hole.first, hole.first + allocation->pages}};
	error = add_piece(window, &piece);
	if (!error)
		error = add_own_piece(uvm, window, (struct uvm_region){piece.pages.end, hole.end});
	allocation->windows[0] = window;
	allocation->offset = hole.first;
	window->allocations++;
	return error ? error : restore_all(uvm, window, hole);
}

/*
 * The allocation's memory is not free yet, and its pages need some before: where there is none left,
 * the device loses them.
 */
static void lose_what_has_no_room(struct uvm *uvm, struct uvm_window *window,
				  struct uvm_region region)
{
	struct uvm_mask pages = uvm_mask_of(region);

	for (um_device_id i = 0; i < uvm->devices; i++) {
		struct uvm_place *place = &window->place[uvm_place_of(i)];

		if (has_room(uvm, &pages, i))
			continue;
		uvm_remove(&place->resident, &pages);
		uvm_remove(&place->mapped, &pages);
		uvm_remove(&place->writable, &pages);
		um_uvm_note_left(uvm, window, i);
	}
}

/* With the holes before and behind it: one. */
static struct uvm_region join_holes(struct uvm *uvm, struct uvm_window *window,
				    struct uvm_region region)
{
	for (uint32_t i = window->piece_count; i-- > 0;) {
		const struct uvm_piece *piece = &window->pieces[i];
		struct uvm_region pages = piece->pages;

		if (!is_hole(piece) || (pages.end != region.first && pages.first != region.end))
			continue;
		take_hole(uvm, window, i);
		region.first = pages.first < region.first ? pages.first : region.first;
		region.end = pages.end > region.end ? pages.end : region.end;
	}
	return region;
}

/* Pages of a small allocation that is gone are the driver's own again, where they are. */
static int give_to_pool(struct uvm *uvm, struct uvm_window *window,
			const struct uvm_allocation *allocation)
{
	struct uvm_region region = {allocation->offset, allocation->offset + allocation->pages};
	int error;

	for (uint32_t i = 0; i < window->piece_count; i++)
		if (window->pieces[i].allocation == allocation->id) {
			drop_piece(window, i);
			break;
		}
	error = um_uvm_rename(uvm, window);
	region = join_holes(uvm, window, region);
	lose_what_has_no_room(uvm, window, region);
	if (!error)
		error = add_own_piece(uvm, window, region);
	return error ? error : restore_all(uvm, window, region);
}

/* --- allocations --- */

struct uvm_allocation *um_uvm_find(const struct uvm *uvm, um_alloc_id id)
{
	return id < uvm->allocation_slots ? uvm->allocations[id] : NULL;
}

struct uvm_window *um_uvm_window_at(const struct uvm_allocation *allocation, um_page page,
				    uint32_t *at)
{
	uint64_t address = (uint64_t)allocation->offset + page;

	*at = (uint32_t)(address % UVM_WINDOW_PAGES);
	return allocation->windows[address / UVM_WINDOW_PAGES];
}

static bool is_small(const struct uvm_allocation *allocation)
{
	return allocation->pages < UVM_WINDOW_PAGES;
}

uint64_t um_uvm_end_of(const struct uvm_allocation *allocation)
{
	return is_small(allocation) ? UVM_WINDOW_PAGES : allocation->pages;
}

static int make_slot(struct uvm *uvm, um_alloc_id id)
{
	size_t slots = uvm->allocation_slots ? uvm->allocation_slots : 64;
	struct uvm_allocation **grown;

	if (id < uvm->allocation_slots)
		return 0;
	while (slots <= id)
		slots *= 2;
	grown = realloc(uvm->allocations, slots * sizeof(struct uvm_allocation *));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", slots);
	memset(grown + uvm->allocation_slots, 0,
	       (slots - uvm->allocation_slots) * sizeof(struct uvm_allocation *));
	uvm->allocations = grown;
	uvm->allocation_slots = slots;
	return 0;
}

static int make_windows(struct uvm *uvm, struct uvm_allocation *allocation)
{
	int error = 0;

	for (uint32_t i = 0; i < allocation->window_count && !error; i++) {
		um_page first = i * UVM_WINDOW_PAGES, left = allocation->pages - first;
		uint32_t pages = left < UVM_WINDOW_PAGES ? left : UVM_WINDOW_PAGES;
		struct uvm_piece piece = {allocation->id, first, {0, pages}};

		allocation->windows[i] = make_window(uvm, pages);
		if (!allocation->windows[i])
			return UM_ENOMEM;
		allocation->windows[i]->allocations = 1;
		allocation->windows[i]->blocks->starts_range = i == 0;
		error = add_piece(allocation->windows[i], &piece);
	}
	return error;
}

int um_uvm_add_allocation(struct uvm *uvm, um_alloc_id id)
{
	um_page pages = um_machine_pages(uvm->machine, id);
	uint32_t windows = pages / UVM_WINDOW_PAGES + (pages % UVM_WINDOW_PAGES > 0);
	struct uvm_allocation *allocation;
	int error = make_slot(uvm, id);

	if (error || !pages)
		return error;
	allocation = calloc(1, sizeof(*allocation) + windows * sizeof(struct uvm_window *));
	if (!allocation)
		return um_fail(UM_ENOMEM, "no memory for allocation %u", id);
	allocation->id = id;
	allocation->pages = pages;
	allocation->window_count = windows;
	uvm->allocations[id] = allocation;
	return is_small(allocation) ? take_from_pool(uvm, allocation)
				    : make_windows(uvm, allocation);
}

void um_uvm_drop_allocation(struct uvm *uvm, struct uvm_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->window_count; i++)
		if (allocation->windows[i] && !--allocation->windows[i]->allocations)
			destroy_window(uvm, allocation->windows[i]);
	uvm->allocations[allocation->id] = NULL;
	free(allocation);
}

int um_uvm_remove_allocation(struct uvm *uvm, struct uvm_allocation *allocation)
{
	int error = 0;

	for (uint32_t i = 0; i < allocation->window_count && !error; i++) {
		struct uvm_window *window = allocation->windows[i];

		if (!window)
			continue;
		if (!--window->allocations)
			destroy_window(uvm, window);
		else
			error = give_to_pool(uvm, window, allocation);
	}
	uvm->allocations[allocation->id] = NULL;
	free(allocation);
	return error;
}

/* --- walks --- */

static int walk_window(struct uvm_window *window, struct uvm_region region, uvm_block_fn call,
		       void *context)
{
	uint32_t page = region.first;
	int error = 0;

	while (page < region.end && !error) {
		struct uvm_block *block = um_uvm_block_at(window, page);
		uint32_t end = block->pages.end < region.end ? block->pages.end : region.end;

		error = call(context, block, (struct uvm_region){page, end});
		page = end;
	}
	return error;
}

int um_uvm_walk(const struct uvm_allocation *allocation, uint64_t first, uint64_t end,
		uvm_block_fn call, void *context)
{
	int error = 0;

	while (first < end && !error) {
		uint64_t window = first / UVM_WINDOW_PAGES, from = window * UVM_WINDOW_PAGES;
		uint64_t next = from + UVM_WINDOW_PAGES < end ? from + UVM_WINDOW_PAGES : end;
		struct uvm_region region = {(uint32_t)(first - from), (uint32_t)(next - from)};

		error = walk_window(allocation->windows[window], region, call, context);
		first = next;
	}
	return error;
}

int um_uvm_for_each_block(struct uvm *uvm, const struct um_page_range *range, uvm_block_fn call,
			  void *context)
{
	const struct uvm_allocation *allocation = um_uvm_find(uvm, range->allocation);
	uint64_t first = (uint64_t)allocation->offset + range->first_page;

	return um_uvm_walk(allocation, first, first + range->pages, call, context);
}
