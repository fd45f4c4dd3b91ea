/* nvidia_uvm: addresses in windows of 2 MiB, and their blocks (R1, R2). */
#include "uvm.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- what a window is made of --- */

typedef struct um_page_range (*name_fn)(const struct uvm_window *, const struct uvm_piece *,
					uint32_t first);

static struct um_page_range name_of(const struct uvm_window *window, const struct uvm_piece *piece,
				    uint32_t first)
{
	(void)window;
	return (struct um_page_range){piece->allocation,
				      piece->first_page + (first - piece->pages.first), 0};
}

static struct um_page_range pages_of(const struct uvm_window *window, const struct uvm_piece *piece,
				     uint32_t first)
{
	return window->own ? (struct um_page_range){window->own, first, 0}
			   : name_of(window, piece, first);
}

static int walk_pieces(const struct uvm_window *window, struct uvm_region run, name_fn name,
		       uvm_piece_fn call, void *context)
{
	uint32_t index = 0;
	int error = 0;

	for (uint32_t i = 0; i < window->piece_count && !error; i++) {
		const struct uvm_piece *piece = &window->pieces[i];
		uint32_t first = run.first > piece->pages.first ? run.first : piece->pages.first;
		uint32_t end = run.end < piece->pages.end ? run.end : piece->pages.end;
		struct um_page_range range;

		if (first >= end)
			continue;
		range = name(window, piece, first);
		range.pages = end - first;
		error = call(context, &range, index++);
	}
	return error;
}

int um_uvm_for_each_name(const struct uvm_window *window, struct uvm_region run, uvm_piece_fn call,
			 void *context)
{
	return walk_pieces(window, run, name_of, call, context);
}

/* Its pages that have bytes on these pages of the window; *range: none if it has no pages. */
static void pages_on(const struct uvm_allocation *owner, struct uvm_region run,
		     struct um_page_range *range)
{
	uint32_t begin = owner->offset, end = begin + owner->lies_on, last = owner->pages - 1;

	*range = (struct um_page_range){owner->id, 0, 0};
	run.first = run.first > begin ? run.first : begin;
	run.end = run.end < end ? run.end : end;
	if (run.first >= run.end)
		return;
	run.first = run.first - begin < last ? run.first - begin : last;
	run.end = run.end - begin < owner->pages ? run.end - begin : owner->pages;
	range->first_page = run.first;
	range->pages = run.end - run.first;
}

int um_uvm_for_each_owner(const struct uvm_window *window, struct uvm_region run, uvm_piece_fn call,
			  void *context)
{
	uint32_t index = 0;
	int error = 0;

	if (!window->own)
		return walk_pieces(window, run, name_of, call, context);
	for (uint32_t i = 0; i < window->owner_count && !error; i++) {
		struct um_page_range range;

		pages_on(window->owners[i], run, &range);
		if (range.pages)
			error = call(context, &range, index++);
	}
	return error;
}

static int follow(void *context, const struct um_page_range *range, uint32_t index)
{
	struct uvm *uvm = context;

	(void)index;
	um_machine_follow(uvm->machine, range);
	return 0;
}

int um_uvm_for_each_piece(struct uvm *uvm, const struct uvm_window *window, struct uvm_region run,
			  uvm_piece_fn call, void *context)
{
	int error = walk_pieces(window, run, pages_of, call, context);

	if (!error && window->own)
		error = um_uvm_for_each_owner(window, run, follow, uvm);
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

static struct uvm_window *make_window(struct uvm *uvm, uint32_t pages, uint32_t pieces)
{
	struct uvm_window *window =
		calloc(1, sizeof(*window) + uvm_places(uvm) * sizeof(struct uvm_place));

	if (!window) {
		um_fail(UM_ENOMEM, "no memory for 2 MiB of managed memory");
		return NULL;
	}
	window->number = uvm->windows_made++;
	window->served = UVM_NOBODY;
	window->pieces = calloc(pieces, sizeof(*window->pieces));
	window->blocks = new_block(window, (struct uvm_region){0, pages});
	if (!window->blocks || !window->pieces) {
		um_fail(UM_ENOMEM, "no memory for the parts of 2 MiB");
		free(window->pieces);
		free(window->blocks);
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
	if (window->own)
		um_machine_remove(uvm->machine, window->own);
	leave_pool(uvm, window);
	free(window->owners);
	free(window->pieces);
	free(window);
}

/* --- the pool of small allocations (A2) --- */

static uint32_t end_of(const struct uvm_allocation *allocation)
{
	return allocation->at + allocation->cells;
}

/* In front of the owner with that number, or behind the last. */
struct hole {
	struct uvm_window *window;
	uint32_t owner, at, cells;
};

static struct hole hole_before(struct uvm_window *window, uint32_t owner)
{
	uint32_t at = owner ? end_of(window->owners[owner - 1]) : 0;
	uint32_t end = owner < window->owner_count ? window->owners[owner]->at : UVM_WINDOW_CELLS;

	return (struct hole){window, owner, at, end - at};
}

static void note_largest_hole(struct uvm_window *window)
{
	window->largest_hole = 0;
	for (uint32_t i = 0; i <= window->owner_count; i++) {
		uint32_t cells = hole_before(window, i).cells;

		window->largest_hole = cells > window->largest_hole ? cells : window->largest_hole;
	}
}

/* The smallest with room for as many, of those the first; its window is NULL if there is none. */
static struct hole find_hole(const struct uvm *uvm, uint32_t cells)
{
	struct hole found = {NULL, 0, 0, UINT32_MAX};

	for (struct uvm_window *window = uvm->pool; window; window = window->next_in_pool) {
		if (window->largest_hole < cells)
			continue;
		for (uint32_t i = 0; i <= window->owner_count; i++) {
			struct hole hole = hole_before(window, i);

			if (hole.cells >= cells && hole.cells < found.cells)
				found = hole;
		}
	}
	return found;
}

/* Another window, behind the others. */
static int widen_pool(struct uvm *uvm)
{
	struct uvm_window **link = &uvm->pool;
	struct uvm_window *window = make_window(uvm, UVM_WINDOW_PAGES, UVM_WINDOW_PAGES);
	int error;

	if (!window)
		return UM_ENOMEM;
	error = um_machine_add_own(uvm->machine, UVM_WINDOW_PAGES, &window->own);
	if (error) {
		destroy_window(uvm, window);
		return error;
	}
	window->largest_hole = UVM_WINDOW_CELLS;
	window->blocks->starts_range = true;
	while (*link)
		link = &(*link)->next_in_pool;
	*link = window;
	return 0;
}

/* Up to there they are nobody's. */
static void add_own_piece(struct uvm_window *window, uint32_t *page, uint32_t end)
{
	if (*page >= end)
		return;
	window->pieces[window->piece_count++] =
		(struct uvm_piece){window->own, *page, {*page, end}};
	*page = end;
}

/* A page is the first's that has bytes in it; one that is no page of its trace is named by others. */
static void share_out(struct uvm_window *window)
{
	uint32_t page = 0;

	window->piece_count = 0;
	for (uint32_t i = 0; i < window->owner_count; i++) {
		const struct uvm_allocation *owner = window->owners[i];
		uint32_t end = owner->offset + owner->pages;

		add_own_piece(window, &page, owner->offset);
		if (page >= end)
			continue;
		window->pieces[window->piece_count++] =
			(struct uvm_piece){owner->id, page - owner->offset, {page, end}};
		page = end;
	}
	add_own_piece(window, &page, UVM_WINDOW_PAGES);
}

/* Who the pages are of has changed. */
static int owners_changed(struct uvm *uvm, struct uvm_window *window)
{
	int error = 0;

	note_largest_hole(window);
	share_out(window);
	for (uint32_t i = 0; i < window->piece_count && !error; i++) {
		const struct uvm_piece *piece = &window->pieces[i];
		struct um_page_range pages = {window->own, piece->pages.first,
					      piece->pages.end - piece->pages.first};

		error = um_machine_name_own(uvm->machine, &pages,
					    piece->allocation == window->own ? 0
									     : piece->allocation,
					    piece->first_page);
	}
	return error;
}

static int make_room_for_owner(struct uvm_window *window)
{
	uint32_t capacity = window->owner_capacity ? window->owner_capacity * 2 : 4;
	struct uvm_allocation **grown;

	if (window->owner_count < window->owner_capacity)
		return 0;
	grown = realloc(window->owners, capacity * sizeof(struct uvm_allocation *));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %u parts of 2 MiB", capacity);
	window->owners = grown;
	window->owner_capacity = capacity;
	return 0;
}

/* At the beginning of the hole. */
static int take_hole(struct uvm *uvm, struct uvm_allocation *allocation, struct hole hole)
{
	struct uvm_window *window = hole.window;
	struct um_page_range all = {allocation->id, 0, allocation->pages};
	int error = make_room_for_owner(window);

	if (error)
		return error;
	allocation->at = hole.at;
	allocation->offset = hole.at / UVM_PAGE_CELLS;
	allocation->lies_on = (end_of(allocation) - 1) / UVM_PAGE_CELLS + 1 - allocation->offset;
	allocation->windows[0] = window;
	memmove(&window->owners[hole.owner + 1], &window->owners[hole.owner],
		(window->owner_count - hole.owner) * sizeof(*window->owners));
	window->owners[hole.owner] = allocation;
	window->owner_count++;
	um_machine_lay_on(uvm->machine, allocation->id, window->own, allocation->offset,
			  allocation->lies_on > allocation->pages);
	um_machine_follow(uvm->machine, &all);
	return owners_changed(uvm, window);
}

static int take_from_pool(struct uvm *uvm, struct uvm_allocation *allocation)
{
	struct hole hole = find_hole(uvm, allocation->cells);
	int error = hole.window ? 0 : widen_pool(uvm);

	if (error)
		return error;
	if (!hole.window)
		hole = find_hole(uvm, allocation->cells);
	error = take_hole(uvm, allocation, hole);
	if (error && !hole.window->owner_count)
		destroy_window(uvm, hole.window);
	return error;
}

static void drop_owner(struct uvm_window *window, const struct uvm_allocation *allocation)
{
	uint32_t at = 0;

	while (window->owners[at] != allocation)
		at++;
	window->owner_count--;
	memmove(&window->owners[at], &window->owners[at + 1],
		(window->owner_count - at) * sizeof(*window->owners));
}

/* What a small allocation that is gone lay on is where it was. */
static int leave_window(struct uvm *uvm, struct uvm_window *window,
			const struct uvm_allocation *allocation)
{
	int error;

	drop_owner(window, allocation);
	if (!window->owner_count) {
		destroy_window(uvm, window);
		return 0;
	}
	error = um_uvm_rename(uvm, window);
	return error ? error : owners_changed(uvm, window);
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

struct uvm_span um_uvm_span_of(const struct uvm_allocation *allocation,
			       const struct um_page_range *range)
{
	uint64_t first = (uint64_t)allocation->offset + range->first_page;
	uint64_t end = first + range->pages;

	if (range->pages && range->first_page + range->pages == allocation->pages)
		end = (uint64_t)allocation->offset + allocation->lies_on;
	return (struct uvm_span){first, end};
}

/* More than a page that is fought over takes until it is pinned. */
#define SERVICES_ON_TWO_MOST 64

/* Whether accesses go on. */
static bool goes_on(struct uvm_allocation *allocation, const struct um_fault *fault,
		    uint64_t service)
{
	if (fault->op > allocation->last_op) {
		allocation->last_op = fault->op;
		allocation->services_on_two = 0;
	}
	allocation->services_on_two += service != allocation->last_service;
	allocation->last_service = service;
	return allocation->services_on_two <= SERVICES_ON_TWO_MOST;
}

static void give_up_second(struct uvm *uvm, struct uvm_allocation *allocation)
{
	struct um_page_range last = {allocation->id, allocation->pages - 1, 1};

	allocation->lies_on = allocation->pages;
	um_machine_lay_on(uvm->machine, allocation->id, allocation->windows[0]->own,
			  allocation->offset, false);
	um_machine_follow(uvm->machine, &last);
}

struct uvm_window *um_uvm_pages_of_fault(struct uvm *uvm, const struct um_fault *fault,
					 struct uvm_region *pages)
{
	struct uvm_allocation *allocation = um_uvm_find(uvm, fault->allocation);
	uint32_t page;
	struct uvm_window *window = um_uvm_window_at(allocation, fault->page, &page);
	bool two = uvm_lies_on_two(allocation, fault->page);

	if (two && !goes_on(allocation, fault, uvm->server[uvm_place_of(fault->device)].served)) {
		give_up_second(uvm, allocation);
		two = false;
	}
	*pages = (struct uvm_region){page, page + 1 + two};
	return window;
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
	for (uint32_t i = 0; i < allocation->window_count; i++) {
		um_page first = i * UVM_WINDOW_PAGES, left = allocation->pages - first;
		uint32_t pages = left < UVM_WINDOW_PAGES ? left : UVM_WINDOW_PAGES;
		struct uvm_window *window = make_window(uvm, pages, 1);

		if (!window)
			return UM_ENOMEM;
		window->blocks->starts_range = i == 0;
		window->pieces[window->piece_count++] =
			(struct uvm_piece){allocation->id, first, {0, pages}};
		allocation->windows[i] = window;
	}
	return 0;
}

int um_uvm_add_allocation(struct uvm *uvm, um_alloc_id id, uint64_t bytes)
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
	allocation->pages = allocation->lies_on = pages;
	allocation->cells = (uint32_t)((bytes + UVM_CELL_BYTES - 1) / UVM_CELL_BYTES);
	allocation->window_count = windows;
	uvm->allocations[id] = allocation;
	return is_small(allocation) ? take_from_pool(uvm, allocation)
				    : make_windows(uvm, allocation);
}

static void forget(struct uvm *uvm, struct uvm_allocation *allocation)
{
	uvm->allocations[allocation->id] = NULL;
	free(allocation);
}

void um_uvm_drop_allocation(struct uvm *uvm, struct uvm_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->window_count; i++) {
		struct uvm_window *window = allocation->windows[i];

		if (window && window->own)
			drop_owner(window, allocation);
		if (window && !window->owner_count)
			destroy_window(uvm, window);
	}
	forget(uvm, allocation);
}

int um_uvm_remove_allocation(struct uvm *uvm, struct uvm_allocation *allocation)
{
	int error = 0;

	if (is_small(allocation)) {
		error = leave_window(uvm, allocation->windows[0], allocation);
		forget(uvm, allocation);
	} else {
		um_uvm_drop_allocation(uvm, allocation);
	}
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
	struct uvm_span span = um_uvm_span_of(allocation, range);

	return um_uvm_walk(allocation, span.first, span.end, call, context);
}
