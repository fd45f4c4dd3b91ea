#include "evict_units.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct um_unit_pages {
	uint32_t *units; /* of each page, UM_NO_UNIT: in none */
	um_page count;
};

void um_evict_units_fini(struct um_evict_units *all)
{
	for (size_t id = 0; id < all->allocations; id++)
		free(all->pages[id].units);
	free(all->pages);
	free(all->units);
}

/* --- what grows --- */

static int grow_allocations(struct um_evict_units *all, um_alloc_id id)
{
	size_t count = all->allocations ? all->allocations : 64;
	struct um_unit_pages *grown;

	while (count <= id)
		count *= 2;
	grown = realloc(all->pages, count * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %zu allocations", count);
	memset(grown + all->allocations, 0, (count - all->allocations) * sizeof(*grown));
	all->pages = grown;
	all->allocations = count;
	return 0;
}

static int grow_pages(struct um_unit_pages *pages, uint64_t needed)
{
	uint64_t count = pages->count ? pages->count : 64;
	uint32_t *grown;

	while (count < needed)
		count *= 2;
	if (count > UINT32_MAX) /* more than needed then: the last page's number is below that */
		count = UINT32_MAX;
	grown = realloc(pages->units, count * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %llu pages",
			       (unsigned long long)count);
	memset(grown + pages->count, 0, (count - pages->count) * sizeof(*grown));
	pages->units = grown;
	pages->count = (um_page)count;
	return 0;
}

static int grow_units(struct um_evict_units *all)
{
	uint32_t capacity = all->capacity ? all->capacity * 2 : 1024;
	struct um_evict_unit *grown = realloc(all->units, (size_t)capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units", capacity);
	all->units = grown;
	all->capacity = capacity;
	return 0;
}

/* --- numbers --- */

static int take_number(struct um_evict_units *all, uint32_t *number)
{
	if (all->unused) {
		*number = all->unused;
		all->unused = all->units[*number].older;
		return 0;
	}
	if (all->count + 1 >= all->capacity && grow_units(all))
		return UM_ENOMEM;
	*number = ++all->count;
	return 0;
}

static void note_pages(struct um_evict_units *all, const struct um_page_range *range,
		       uint32_t number)
{
	uint32_t *units = all->pages[range->allocation].units + range->first_page;

	for (uint32_t i = 0; i < range->pages; i++)
		units[i] = number;
}

int um_evict_units_add(struct um_evict_units *all, const struct um_page_range *range,
		       uint32_t *number)
{
	uint64_t end = (uint64_t)range->first_page + range->pages;
	int error = 0;

	assert(range->pages);
	if (range->allocation >= all->allocations)
		error = grow_allocations(all, range->allocation);
	if (!error && end > all->pages[range->allocation].count)
		error = grow_pages(&all->pages[range->allocation], end);
	if (!error)
		error = take_number(all, number);
	if (error)
		return error;
	assert(!um_evict_units_find(all, range->allocation, range->first_page));
	all->units[*number].pages = *range;
	note_pages(all, range, *number);
	return 0;
}

void um_evict_units_remove(struct um_evict_units *all, uint32_t number)
{
	note_pages(all, &all->units[number].pages, UM_NO_UNIT);
	all->units[number].older = all->unused;
	all->unused = number;
}

/* --- looking --- */

uint32_t um_evict_units_find(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	if (id >= all->allocations || page >= all->pages[id].count)
		return UM_NO_UNIT;
	return all->pages[id].units[page];
}

uint32_t um_evict_units_begun(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	uint32_t number = um_evict_units_find(all, id, page);

	return number && all->units[number].pages.first_page == page ? number : UM_NO_UNIT;
}

uint32_t um_evict_units_next(const struct um_evict_units *all, um_alloc_id id, um_page *page,
			     um_page end)
{
	const struct um_page_range *range;
	uint32_t number;

	if (id >= all->allocations)
		return UM_NO_UNIT;
	if (end > all->pages[id].count)
		end = all->pages[id].count;
	while (*page < end && !all->pages[id].units[*page])
		++*page;
	if (*page >= end)
		return UM_NO_UNIT;
	number = all->pages[id].units[*page];
	range = &all->units[number].pages;
	*page = range->first_page + range->pages;
	return number;
}
