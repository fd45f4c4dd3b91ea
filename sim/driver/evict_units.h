/*
 * The units of an order: numbers for them, which are places in arrays that an order keeps beside
 * them, and for every page the unit that it is in, in a few steps whatever its size.
 *
 * A number is that of the page that the unit begins at: pages are numbered in chunks of
 * UM_EVICT_CHUNK, each chunk of an allocation when a unit first begins there. So a page's unit is
 * found without a look at anything kept for each page, but for the order's own array. The first
 * pages of chunks, where large units begin, have numbers of their own, beside each other.
 *
 * Memory: 4 bytes for each page of a chunk that units begin in (but at its first page), and a little
 * more than a bit.
 */
#ifndef UM_EVICT_UNITS_H
#define UM_EVICT_UNITS_H

#include "unit_starts.h"

#define UM_NO_UNIT	     0u
#define UM_EVICT_CHUNK_SHIFT 9
#define UM_EVICT_CHUNK	     (1u << UM_EVICT_CHUNK_SHIFT) /* pages */

struct um_evict_place {
	um_alloc_id allocation;
	um_page first_page;
};

struct um_evict_units {
	uint32_t *pages;   /* of the unit that begins at a page, by number; 0: none does */
	uint32_t capacity; /* numbers are below; whole chunks, of which the first is nobody's */
	/* Of a chunk of numbers, [capacity / UM_EVICT_CHUNK]; no allocation: a chunk of first pages, and
	 * where it begins in `firsts`. */
	struct um_evict_place *chunks;
	uint32_t chunk_capacity;
	struct um_evict_place *firsts; /* first pages of chunks */
	uint32_t first_count, first_capacity,
		next_first;			/* a number; its chunk's end: there is none */
	struct um_unit_allocation *allocations; /* by id */
	size_t allocation_slots;
};

struct um_unit_allocation {
	struct um_unit_starts starts;
	struct um_chunk_numbers {
		uint32_t first, pages; /* of its first page, and that less the others'; 0: none */
	} * chunks;
	uint32_t chunk_count;
};

void um_evict_units_fini(struct um_evict_units *);
/*
 * Its number, from UM_EVICT_CHUNK and below the capacity, which grows by whole chunks. UM_ENOMEM.
 */
int um_evict_units_add(struct um_evict_units *, const struct um_page_range *, uint32_t *number);
void um_evict_units_remove(struct um_evict_units *, uint32_t number);
/* The capacity that there is room for: arrays beside it that grow to that grow seldom. */
static inline uint32_t um_evict_units_room(const struct um_evict_units *all)
{
	return all->chunk_capacity >= UINT32_MAX >> UM_EVICT_CHUNK_SHIFT
		       ? UINT32_MAX
		       : all->chunk_capacity << UM_EVICT_CHUNK_SHIFT;
}
/* The number that a unit has, or would have, that begins at the page; UM_NO_UNIT: none ever did near it. */
static inline uint32_t um_evict_units_number(const struct um_evict_units *all, um_alloc_id id,
					     um_page page)
{
	uint32_t chunk = page >> UM_EVICT_CHUNK_SHIFT, in_chunk = page & (UM_EVICT_CHUNK - 1);
	const struct um_chunk_numbers *numbers;

	if (id >= all->allocation_slots || chunk >= all->allocations[id].chunk_count)
		return UM_NO_UNIT;
	numbers = &all->allocations[id].chunks[chunk];
	if (!in_chunk)
		return numbers->first;
	return numbers->pages ? numbers->pages + in_chunk : UM_NO_UNIT;
}
/* The pages of a unit. */
static inline struct um_page_range um_evict_units_range(const struct um_evict_units *all,
							uint32_t number)
{
	const struct um_evict_place *place = &all->chunks[number >> UM_EVICT_CHUNK_SHIFT];
	uint32_t in_chunk = number & (UM_EVICT_CHUNK - 1);

	if (place->allocation)
		return (struct um_page_range){place->allocation, place->first_page + in_chunk,
					      all->pages[number]};
	place = &all->firsts[place->first_page + in_chunk];
	return (struct um_page_range){place->allocation, place->first_page, all->pages[number]};
}
/* The unit that begins at the page, or UM_NO_UNIT. */
uint32_t um_evict_units_begun(const struct um_evict_units *, um_alloc_id, um_page);
/*
 * The first unit with pages of [*page, end), or UM_NO_UNIT; *page becomes the first behind it, or
 * `end` if it reaches that.
 */
uint32_t um_evict_units_next(const struct um_evict_units *, um_alloc_id, um_page *page,
			     um_page end);

#endif
