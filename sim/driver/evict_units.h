/*
 * The units of an order: numbers for them, dense enough to be places in arrays that an order keeps
 * beside them, and for every page the unit that it is in, in a few steps whatever its size.
 *
 * Memory: 12 bytes a unit, and a little more than 4 for each page up to the last of an allocation
 * that was ever in the order.
 */
#ifndef UM_EVICT_UNITS_H
#define UM_EVICT_UNITS_H

#include "unit_starts.h"

#define UM_NO_UNIT 0u

struct um_evict_units {
	struct um_page_range *pages;		/* of a unit, by number, from 1 */
	uint32_t count, capacity;		/* numbers given out so far, with room for */
	uint32_t unused;			/* chain of numbers to give again, by first_page */
	struct um_unit_allocation *allocations; /* by id */
	size_t allocation_slots;
};

struct um_unit_allocation {
	struct um_unit_starts starts;
	uint32_t *units; /* that begin at a page, as many as `starts` has room for */
};

void um_evict_units_fini(struct um_evict_units *);
/* Its number, from 1 and below the capacity, which grows. UM_ENOMEM. */
int um_evict_units_add(struct um_evict_units *, const struct um_page_range *, uint32_t *number);
void um_evict_units_remove(struct um_evict_units *, uint32_t number);
/* The unit that begins at the page, or UM_NO_UNIT. */
uint32_t um_evict_units_begun(const struct um_evict_units *, um_alloc_id, um_page);
/*
 * The first unit with pages of [*page, end), or UM_NO_UNIT; *page becomes the first behind it, or
 * `end` if it reaches that.
 */
uint32_t um_evict_units_next(const struct um_evict_units *, um_alloc_id, um_page *page,
			     um_page end);

#endif
