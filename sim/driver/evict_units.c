#include "evict_units.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void um_evict_units_fini(struct um_evict_units *all)
{
	for (size_t id = 0; id < all->allocation_slots; id++) {
		um_unit_starts_fini(&all->allocations[id].starts);
		free(all->allocations[id].chunks);
	}
	free(all->allocations);
	free(all->chunks);
	free(all->firsts);
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

static int grow_pages(struct um_unit_allocation *allocation, uint64_t needed)
{
	uint64_t pages = allocation->starts.capacity ? allocation->starts.capacity : UM_EVICT_CHUNK;
	struct um_chunk_numbers *grown;
	uint32_t chunks;

	while (pages < needed)
		pages *= 2;
	if (pages >= UM_NO_PAGE)
		pages = UM_NO_PAGE - 1;
	chunks = (uint32_t)((pages + UM_EVICT_CHUNK - 1) >> UM_EVICT_CHUNK_SHIFT);
	grown = realloc(allocation->chunks, chunks * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %llu pages",
			       (unsigned long long)pages);
	memset(grown + allocation->chunk_count, 0,
	       (chunks - allocation->chunk_count) * sizeof(*grown));
	allocation->chunks = grown;
	allocation->chunk_count = chunks;
	return um_unit_starts_grow(&allocation->starts, (um_page)pages);
}

static int grow_chunks(struct um_evict_units *all)
{
	uint64_t chunks = all->chunk_capacity ? (uint64_t)all->chunk_capacity * 2 : 16;
	struct um_evict_place *grown = realloc(all->chunks, chunks * sizeof(*grown));
	uint32_t *pages = realloc(all->pages, (chunks * sizeof(*pages)) << UM_EVICT_CHUNK_SHIFT);

	all->chunks = grown ? grown : all->chunks;
	all->pages = pages ? pages : all->pages;
	if (!grown || !pages)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %llu pages",
			       (unsigned long long)chunks << UM_EVICT_CHUNK_SHIFT);
	all->chunk_capacity = (uint32_t)chunks;
	return 0;
}

/* --- numbers --- */

#define NUMBERS_MAX (UINT32_MAX - UM_EVICT_CHUNK)

/* A chunk of numbers, all of which no unit has. */
static int take_chunk(struct um_evict_units *all, struct um_evict_place place, uint32_t *first)
{
	if (all->capacity >= NUMBERS_MAX)
		return um_fail(UM_ELIMIT, "an eviction order of more than %u pages", NUMBERS_MAX);
	if (!all->capacity)
		all->capacity = UM_EVICT_CHUNK; /* nobody's: 0 is no unit */
	if (all->capacity >> UM_EVICT_CHUNK_SHIFT >= all->chunk_capacity && grow_chunks(all))
		return UM_ENOMEM;
	*first = all->capacity;
	all->capacity += UM_EVICT_CHUNK;
	memset(all->pages + *first, 0, UM_EVICT_CHUNK * sizeof(*all->pages));
	all->chunks[*first >> UM_EVICT_CHUNK_SHIFT] = place;
	return 0;
}

static int grow_firsts(struct um_evict_units *all)
{
	uint32_t capacity = all->first_capacity ? all->first_capacity * 2 : UM_EVICT_CHUNK;
	struct um_evict_place *grown = realloc(all->firsts, capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u chunks", capacity);
	all->firsts = grown;
	all->first_capacity = capacity;
	return 0;
}

static int number_first(struct um_evict_units *all, struct um_evict_place place, uint32_t *number)
{
	int error = 0;

	if (!(all->next_first & (UM_EVICT_CHUNK - 1)))
		error = take_chunk(all, (struct um_evict_place){0, all->first_count},
				   &all->next_first);
	if (!error && all->first_count == all->first_capacity)
		error = grow_firsts(all);
	if (error)
		return error;
	all->firsts[all->first_count++] = place;
	*number = all->next_first++;
	return 0;
}

/* Numbers for a place where no unit has begun yet. */
static int number_place(struct um_evict_units *all, um_alloc_id id, um_page page)
{
	struct um_chunk_numbers *numbers =
		&all->allocations[id].chunks[page >> UM_EVICT_CHUNK_SHIFT];
	struct um_evict_place chunk = {id, page & ~(UM_EVICT_CHUNK - 1)};

	return page == chunk.first_page ? number_first(all, chunk, &numbers->first)
					: take_chunk(all, chunk, &numbers->pages);
}

int um_evict_units_add(struct um_evict_units *all, const struct um_page_range *range,
		       uint32_t *number)
{
	uint64_t end = (uint64_t)range->first_page + range->pages;
	struct um_unit_allocation *allocation;
	int error = 0;

	assert(range->pages && end < UM_NO_PAGE);
	if (range->allocation >= all->allocation_slots && grow_slots(all, range->allocation))
		return UM_ENOMEM;
	allocation = &all->allocations[range->allocation];
	if (end > allocation->starts.capacity && grow_pages(allocation, end))
		return UM_ENOMEM;
	if (!um_evict_units_number(all, range->allocation, range->first_page))
		error = number_place(all, range->allocation, range->first_page);
	if (error)
		return error;
	*number = um_evict_units_number(all, range->allocation, range->first_page);
	all->pages[*number] = range->pages;
	um_unit_starts_add(&allocation->starts, range->first_page);
	return 0;
}

void um_evict_units_remove(struct um_evict_units *all, uint32_t number)
{
	struct um_page_range range = um_evict_units_range(all, number);

	um_unit_starts_remove(&all->allocations[range.allocation].starts, range.first_page);
	all->pages[number] = 0;
}

/* --- looking --- */

uint32_t um_evict_units_begun(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	uint32_t number = um_evict_units_number(all, id, page);

	return number && all->pages[number] ? number : UM_NO_UNIT;
}

/* The unit of the page's chunk, if only one ever began there, at its first page. */
static uint32_t only_unit(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	const struct um_chunk_numbers *numbers =
		&all->allocations[id].chunks[page >> UM_EVICT_CHUNK_SHIFT];

	bool holds = numbers->first && !numbers->pages &&
		     (page & (UM_EVICT_CHUNK - 1)) < all->pages[numbers->first];

	return holds ? numbers->first : UM_NO_UNIT;
}

/* The unit that the page is in, or else the first that begins behind it. */
static uint32_t at_or_behind(const struct um_evict_units *all, um_alloc_id id, um_page page)
{
	const struct um_unit_starts *starts = &all->allocations[id].starts;
	uint32_t only = only_unit(all, id, page);
	um_page before, behind;

	if (only)
		return only;
	before = um_unit_starts_before(starts, page);
	if (before != UM_NO_PAGE) {
		uint32_t number = um_evict_units_number(all, id, before);

		if (page - before < all->pages[number])
			return number;
	}
	behind = um_unit_starts_from(starts, page);
	return behind == UM_NO_PAGE ? UM_NO_UNIT : um_evict_units_number(all, id, behind);
}

uint32_t um_evict_units_next(const struct um_evict_units *all, um_alloc_id id, um_page *page,
			     um_page end)
{
	uint32_t number;
	struct um_page_range range;

	if (id >= all->allocation_slots || *page >= end ||
	    *page >= all->allocations[id].starts.capacity)
		return UM_NO_UNIT;
	number = um_evict_units_begun(all, id, *page); /* the most frequent by far */
	if (!number)
		number = at_or_behind(all, id, *page);
	if (!number)
		return UM_NO_UNIT;
	range = um_evict_units_range(all, number);
	if (range.first_page >= end)
		return UM_NO_UNIT;
	*page = end - range.first_page < range.pages ? end : range.first_page + range.pages;
	return number;
}
