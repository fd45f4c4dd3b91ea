#include "evict_units.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void um_evict_units_fini(struct um_evict_units *all)
{
	for (size_t id = 0; id < all->allocation_slots; id++) {
		um_unit_starts_fini(&all->allocations[id].starts);
		free(all->allocations[id].units);
	}
	free(all->allocations);
	free(all->pages);
}

/* --- what grows --- */

static int grow_slots(struct um_evict_units *all, um_alloc_id id)
{
	size_t count = all->allocation_slots ? all->allocation_slots : 64;
	struct um_unit_allocation *grown;

	while (count <= id)
		count *= 2;
	grown = realloc(all->allocations, count * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %zu allocations", count);
	memset(grown + all->allocation_slots, 0, (count - all->allocation_slots) * sizeof(*grown));
	all->allocations = grown;
	all->allocation_slots = count;
	return 0;
}

/* The page array is not cleared: `starts` tells what of it counts. */
static int grow_pages(struct um_unit_allocation *allocation, uint64_t needed)
{
	uint64_t count = allocation->starts.capacity ? allocation->starts.capacity : 64;
	uint32_t *grown;

	while (count < needed)
		count *= 2;
	if (count >= UM_NO_PAGE)
		count = UM_NO_PAGE - 1;
	grown = realloc(allocation->units, count * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %llu pages",
			       (unsigned long long)count);
	allocation->units = grown;
	return um_unit_starts_grow(&allocation->starts, (um_page)count);
}

static int grow_numbers(struct um_evict_units *all)
{
	uint32_t capacity = all->capacity ? all->capacity * 2 : 1024;
	struct um_page_range *grown = realloc(all->pages, (size_t)capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units", capacity);
	all->pages = grown;
	all->capacity = capacity;
	return 0;
}

/* --- numbers --- */

static int take_number(struct um_evict_units *all, uint32_t *number)
{
	if (all->unused) {
		*number = all->unused;
		all->unused = all->pages[*number].first_page;
		return 0;
	}
	if (all->count + 1 >= all->capacity && grow_numbers(all))
		return UM_ENOMEM;
	*number = ++all->count;
	return 0;
}

int um_evict_units_add(struct um_evict_units *all, const struct um_page_range *range,
		       uint32_t *number)
{
	uint64_t end = (uint64_t)range->first_page + range->pages;
	struct um_unit_allocation *allocation;

	assert(range->pages && end < UM_NO_PAGE);
	if (range->allocation >= all->allocation_slots && grow_slots(all, range->allocation))
		return UM_ENOMEM;
	allocation = &all->allocations[range->allocation];
	if (end > allocation->starts.capacity && grow_pages(allocation, end))
		return UM_ENOMEM;
	if (take_number(all, number))
		return UM_ENOMEM;
	all->pages[*number] = *range;
	allocation->units[range->first_page] = *number;
	um_unit_starts_add(&allocation->starts, range->first_page);
	return 0;
}

void um_evict_units_remove(struct um_evict_units *all, uint32_t number)
{
	struct um_page_range *pages = &all->pages[number];

	um_unit_starts_remove(&all->allocations[pages->allocation].starts, pages->first_page);
	pages->first_page = all->unused;
	all->unused = number;
}

/* --- looking --- */

static bool begins(const struct um_unit_allocation *allocation, um_page page)
{
	return allocation->starts.words[0][page / 64] >> page % 64 & 1;
}

uint32_t um_evict_units_begun(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	const struct um_unit_allocation *allocation;

	if (id >= all->allocation_slots)
		return UM_NO_UNIT;
	allocation = &all->allocations[id];
	return page < allocation->starts.capacity && begins(allocation, page)
		       ? allocation->units[page]
		       : UM_NO_UNIT;
}

/* The unit that the page is in, or else the first that begins behind it. */
static uint32_t at_or_behind(const struct um_evict_units *all,
			     const struct um_unit_allocation *allocation, um_page page)
{
	um_page before, behind;

	if (begins(allocation, page))
		return allocation->units[page];
	before = um_unit_starts_before(&allocation->starts, page);
	if (before != UM_NO_PAGE) {
		uint32_t number = allocation->units[before];

		if (page - before < all->pages[number].pages)
			return number;
	}
	behind = um_unit_starts_from(&allocation->starts, page);
	return behind == UM_NO_PAGE ? UM_NO_UNIT : allocation->units[behind];
}

uint32_t um_evict_units_next(const struct um_evict_units *all, um_alloc_id id, um_page *page,
			     um_page end)
{
	const struct um_unit_allocation *allocation;
	const struct um_page_range *range;
	uint32_t number;

	if (id >= all->allocation_slots)
		return UM_NO_UNIT;
	allocation = &all->allocations[id];
	if (*page >= end || *page >= allocation->starts.capacity)
		return UM_NO_UNIT;
	if (end - *page == 1 && begins(allocation, *page)) /* the most frequent by far */
		return allocation->units[(*page)++];
	number = at_or_behind(all, allocation, *page);
	range = &all->pages[number];
	if (!number || range->first_page >= end)
		return UM_NO_UNIT;
	*page = end - range->first_page < range->pages ? end : range->first_page + range->pages;
	return number;
}
