/*
 * Stays are collected as they are added, then sorted by cell and position. A reader keeps for each
 * cell where it is among the cell's stays, and its next position; over an allocation's cells a tree
 * of those, once it was asked for several at a time, so that a unit of many cells costs a few steps.
 */
#include "evict_future.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A stay in a cell: its first position above, how many touches below, so that they sort. */
#define TOUCH_BITS  24
#define TOUCHES_MAX ((1u << TOUCH_BITS) - 1)

static uint64_t make_stay(uint64_t position, uint32_t touches)
{
	return position << TOUCH_BITS | touches;
}

static uint64_t position_of(uint64_t stay)
{
	return stay >> TOUCH_BITS;
}

static uint32_t touches_of(uint64_t stay)
{
	return stay & TOUCHES_MAX;
}

struct raw_stay {
	um_alloc_id allocation;
	uint32_t cell;
	uint64_t stay;
};

struct allocation_cells {
	uint32_t cells;
	size_t first; /* of all cells of the device */
};

struct device_future {
	struct raw_stay *raw; /* until it is sealed */
	size_t raw_count, raw_capacity;
	struct allocation_cells *allocations; /* by id */
	size_t allocation_slots;
	size_t cells;
	size_t *starts; /* of each cell, and one behind the last: its stays are [this, next) */
	uint64_t *stays;
};

struct um_future {
	um_page cell_pages;
	bool sealed;
	struct device_future devices[UM_DEVICES_MAX];
};

int um_future_create(struct um_future **out, um_page cell_pages)
{
	struct um_future *future = calloc(1, sizeof(*future));

	assert(cell_pages && !(cell_pages & (cell_pages - 1)));
	if (!future)
		return um_fail(UM_ENOMEM, "no memory for what comes");
	future->cell_pages = cell_pages;
	*out = future;
	return 0;
}

void um_future_destroy(struct um_future *future)
{
	if (!future)
		return;
	for (size_t i = 0; i < UM_DEVICES_MAX; i++) {
		free(future->devices[i].raw);
		free(future->devices[i].allocations);
		free(future->devices[i].starts);
		free(future->devices[i].stays);
	}
	free(future);
}

/* --- collecting --- */

static int grow_raw(struct device_future *future)
{
	size_t capacity = future->raw_capacity ? future->raw_capacity * 2 : 1024;
	struct raw_stay *grown = realloc(future->raw, capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for what comes: %zu stays in pages", capacity);
	future->raw = grown;
	future->raw_capacity = capacity;
	return 0;
}

/* The last stay goes on. */
static bool extend(struct device_future *future, um_alloc_id id, uint32_t cell, uint64_t position,
		   uint32_t touches)
{
	struct raw_stay *last = future->raw_count ? &future->raw[future->raw_count - 1] : NULL;

	if (!last || last->allocation != id || last->cell != cell ||
	    position_of(last->stay) + touches_of(last->stay) != position ||
	    touches_of(last->stay) + touches > TOUCHES_MAX)
		return false;
	last->stay += touches;
	return true;
}

static int add_stay(struct device_future *future, um_alloc_id id, uint32_t cell, uint64_t position,
		    uint32_t touches)
{
	if (position >= UM_FUTURE_POSITIONS)
		position = UM_FUTURE_POSITIONS - 1;
	if (extend(future, id, cell, position, touches))
		return 0;
	if (future->raw_count == future->raw_capacity && grow_raw(future))
		return UM_ENOMEM;
	future->raw[future->raw_count++] =
		(struct raw_stay){id, cell, make_stay(position, touches)};
	return 0;
}

/* How many touches from `page` on, at most `limit`, are in its cell. */
static uint32_t touches_in_cell(um_page cell_pages, int64_t page, int32_t stride, uint32_t limit)
{
	int64_t in_cell = page % cell_pages;
	int64_t room = stride > 0 ? (cell_pages - 1 - in_cell) / stride
		       : stride	  ? in_cell / -(int64_t)stride
				  : limit;

	return room + 1 < limit ? (uint32_t)room + 1 : limit;
}

int um_future_add(struct um_future *future, um_device_id device, const struct um_access_run *run,
		  uint64_t position)
{
	struct device_future *of_device = &future->devices[device];
	int64_t page = run->first_page;
	uint32_t done = 0;
	int error = 0;

	assert(!future->sealed);
	while (done < run->count && !error) {
		uint32_t left = run->count - done;
		uint32_t touches = touches_in_cell(future->cell_pages, page, run->stride,
						   left < TOUCHES_MAX ? left : TOUCHES_MAX);

		error = add_stay(of_device, run->allocation, (uint32_t)(page / future->cell_pages),
				 position + done, touches);
		page += (int64_t)run->stride * touches;
		done += touches;
	}
	return error;
}

/* --- sorting --- */

static int number_cells(struct device_future *future)
{
	size_t slots = 0;

	for (size_t i = 0; i < future->raw_count; i++)
		if (future->raw[i].allocation >= slots)
			slots = (size_t)future->raw[i].allocation + 1;
	future->allocations = calloc(slots + 1, sizeof(*future->allocations));
	if (!future->allocations)
		return um_fail(UM_ENOMEM, "no memory for the future of %zu allocations", slots);
	future->allocation_slots = slots;
	for (size_t i = 0; i < future->raw_count; i++) {
		struct allocation_cells *cells = &future->allocations[future->raw[i].allocation];

		if (future->raw[i].cell >= cells->cells)
			cells->cells = future->raw[i].cell + 1;
	}
	for (size_t i = 0; i < slots; i++) {
		future->allocations[i].first = future->cells;
		future->cells += future->allocations[i].cells;
	}
	if (future->cells > UM_FUTURE_CELLS_MAX)
		return um_fail(UM_ELIMIT,
			       "an eviction order that looks ahead takes at most %llu pages of the "
			       "driver, and what the trace touches reaches over %zu: a larger page "
			       "size makes fewer",
			       (unsigned long long)UM_FUTURE_CELLS_MAX, future->cells);
	return 0;
}

static size_t cell_of(const struct device_future *future, const struct raw_stay *raw)
{
	return future->allocations[raw->allocation].first + raw->cell;
}

static int by_position(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static bool is_sorted(const uint64_t *stays, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (stays[i - 1] > stays[i])
			return false;
	return true;
}

/* Sorts by cell: counted, then each put in its place; starts[] are ends until that is done. */
static void place_stays(struct device_future *future)
{
	size_t sum = 0;

	for (size_t i = 0; i < future->raw_count; i++)
		future->starts[cell_of(future, &future->raw[i])]++;
	for (size_t cell = 0; cell <= future->cells; cell++)
		sum = future->starts[cell] += sum;
	for (size_t i = future->raw_count; i-- > 0;)
		future->stays[--future->starts[cell_of(future, &future->raw[i])]] =
			future->raw[i].stay;
	for (size_t cell = 0; cell < future->cells; cell++) {
		uint64_t *stays = future->stays + future->starts[cell];
		size_t count = future->starts[cell + 1] - future->starts[cell];

		if (!is_sorted(stays, count))
			qsort(stays, count, sizeof(*stays), by_position);
	}
}

static int seal(struct device_future *future)
{
	int error = number_cells(future);

	if (error)
		return error;
	future->starts = calloc(future->cells + 1, sizeof(*future->starts));
	future->stays = malloc((future->raw_count + 1) * sizeof(*future->stays));
	if (!future->starts || !future->stays)
		return um_fail(UM_ENOMEM, "no memory for what comes: %zu stays in %zu pages",
			       future->raw_count, future->cells);
	place_stays(future);
	free(future->raw);
	future->raw = NULL;
	return 0;
}

int um_future_seal(struct um_future *future)
{
	int error = 0;

	for (size_t i = 0; i < UM_DEVICES_MAX && !error; i++)
		error = seal(&future->devices[i]);
	future->sealed = true;
	return error;
}

/* --- a reader --- */

struct place_in_cell {
	size_t stay;
	uint32_t touched; /* of the stay */
};

struct um_foresight {
	const struct device_future *future;
	um_page cell_pages;
	struct place_in_cell *places; /* of each cell */
	/*
	 * Of each allocation 2 * cells numbers from 2 * its first on: [cells + i] is the next
	 * position of cell i; [i] is the lower of [2i] and [2i + 1], where has_tree says so.
	 */
	uint64_t *trees;
	bool *has_tree; /* by allocation */
};

static uint64_t next_of_cell(const struct um_foresight *foresight, size_t cell)
{
	const struct place_in_cell *place = &foresight->places[cell];

	if (place->stay == foresight->future->starts[cell + 1])
		return UM_NOT_AGAIN;
	return position_of(foresight->future->stays[place->stay]) + place->touched;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void begin(struct um_foresight *foresight, const struct allocation_cells *allocation)
{
	uint64_t *tree = foresight->trees + 2 * allocation->first;

	for (uint32_t i = 0; i < allocation->cells; i++) {
		size_t cell = allocation->first + i;

		foresight->places[cell].stay = foresight->future->starts[cell];
		tree[allocation->cells + i] = next_of_cell(foresight, cell);
	}
}

static void plant(struct um_foresight *foresight, um_alloc_id id)
{
	const struct allocation_cells *allocation = &foresight->future->allocations[id];
	uint64_t *tree = foresight->trees + 2 * allocation->first;

	for (uint32_t i = allocation->cells; i-- > 1;)
		tree[i] = lower(tree[2 * i], tree[2 * i + 1]);
	foresight->has_tree[id] = true;
}

int um_foresight_create(struct um_foresight **out, const struct um_future *future,
			um_device_id device)
{
	struct um_foresight *foresight = calloc(1, sizeof(*foresight));
	const struct device_future *of_device = &future->devices[device];

	assert(future->sealed);
	if (!foresight)
		return um_fail(UM_ENOMEM, "no memory for what comes");
	foresight->future = of_device;
	foresight->cell_pages = future->cell_pages;
	foresight->places = calloc(of_device->cells + 1, sizeof(*foresight->places));
	foresight->trees = calloc(2 * of_device->cells + 1, sizeof(*foresight->trees));
	foresight->has_tree = calloc(of_device->allocation_slots + 1, sizeof(*foresight->has_tree));
	if (!foresight->places || !foresight->trees || !foresight->has_tree) {
		um_foresight_destroy(foresight);
		return um_fail(UM_ENOMEM, "no memory for what comes in %zu pages",
			       of_device->cells);
	}
	for (size_t id = 0; id < of_device->allocation_slots; id++)
		begin(foresight, &of_device->allocations[id]);
	*out = foresight;
	return 0;
}

void um_foresight_destroy(struct um_foresight *foresight)
{
	if (!foresight)
		return;
	free(foresight->places);
	free(foresight->trees);
	free(foresight->has_tree);
	free(foresight);
}

static void pass_cell(struct um_foresight *foresight, size_t cell, uint32_t touches)
{
	struct place_in_cell *place = &foresight->places[cell];

	while (touches && place->stay < foresight->future->starts[cell + 1]) {
		uint32_t left = touches_of(foresight->future->stays[place->stay]) - place->touched;

		if (touches < left) {
			place->touched += touches;
			return;
		}
		touches -= left;
		place->stay++;
		place->touched = 0;
	}
}

/* A cell's next position is another. */
static void climb(uint64_t *tree, uint32_t leaf)
{
	for (uint32_t i = leaf / 2; i; i /= 2) {
		uint64_t of_both = lower(tree[2 * i], tree[2 * i + 1]);

		if (tree[i] == of_both)
			return;
		tree[i] = of_both;
	}
}

/* NULL if the device touches nothing of it; *first and *end are cells with touches, if any. */
static const struct allocation_cells *cells_of(const struct um_foresight *foresight,
					       const struct um_page_range *range, uint32_t *first,
					       uint32_t *end)
{
	const struct allocation_cells *allocation;

	if (range->allocation >= foresight->future->allocation_slots || !range->pages)
		return NULL;
	allocation = &foresight->future->allocations[range->allocation];
	*first = range->first_page / foresight->cell_pages;
	*end = (range->first_page + range->pages - 1) / foresight->cell_pages + 1;
	*end = *end < allocation->cells ? *end : allocation->cells;
	return *first < *end ? allocation : NULL;
}

void um_foresight_pass(struct um_foresight *foresight, const struct um_page_range *range)
{
	uint32_t cell, end;
	const struct allocation_cells *allocation = cells_of(foresight, range, &cell, &end);
	um_page page = range->first_page, last = range->first_page + range->pages;
	uint64_t *tree;

	if (!allocation)
		return;
	for (tree = foresight->trees + 2 * allocation->first; cell < end; cell++) {
		um_page cell_end = (cell + 1) * foresight->cell_pages;
		um_page to = cell_end && cell_end < last ? cell_end : last;

		pass_cell(foresight, allocation->first + cell, to - page);
		tree[allocation->cells + cell] = next_of_cell(foresight, allocation->first + cell);
		if (foresight->has_tree[range->allocation])
			climb(tree, allocation->cells + cell);
		page = to;
	}
}

void um_foresight_ahead(const struct um_foresight *foresight, um_alloc_id id, um_page page)
{
	struct um_page_range range = {id, page, 1};
	uint32_t cell, end;
	const struct allocation_cells *allocation = cells_of(foresight, &range, &cell, &end);

	if (!allocation)
		return;
	__builtin_prefetch(&foresight->places[allocation->first + cell], 1);
	__builtin_prefetch(&foresight->future->starts[allocation->first + cell + 1]);
	__builtin_prefetch(&foresight->trees[2 * allocation->first + allocation->cells + cell], 1);
}

uint64_t um_foresight_next(struct um_foresight *foresight, const struct um_page_range *range)
{
	uint32_t first, end;
	const struct allocation_cells *allocation = cells_of(foresight, range, &first, &end);
	const uint64_t *tree;
	uint64_t next = UM_NOT_AGAIN;

	if (!allocation)
		return UM_NOT_AGAIN;
	tree = foresight->trees + 2 * allocation->first;
	if (end - first == 1)
		return tree[allocation->cells + first];
	if (!foresight->has_tree[range->allocation])
		plant(foresight, range->allocation);
	for (first += allocation->cells, end += allocation->cells; first < end;
	     first /= 2, end /= 2) {
		if (first & 1)
			next = lower(next, tree[first++]);
		if (end & 1)
			next = lower(next, tree[--end]);
	}
	return next;
}
