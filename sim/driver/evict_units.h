/*
 * The units of an order: numbers for them, dense enough to be links and places in arrays, and for
 * every page the unit that it is in. What an order keeps of a unit stands beside its pages.
 *
 * Memory: 32 bytes a unit and 4 for each page up to the last of an allocation that was ever in the
 * order. A unit costs a step a page to add and remove, a page one step to find.
 */
#ifndef UM_EVICT_UNITS_H
#define UM_EVICT_UNITS_H

#include "sim/machine/machine.h"

#define UM_NO_UNIT 0u

struct um_evict_unit {
	struct um_page_range pages;
	union {
		struct {
			uint32_t older, younger; /* of a list */
		};
		uint32_t place; /* in an array */
	};
	uint64_t next_touch; /* of an order that knows */
};

struct um_evict_units {
	struct um_evict_unit *units; /* by number, from 1; moves when one is added */
	uint32_t count, capacity;    /* numbers given out so far, with room for */
	uint32_t unused;	     /* chain of numbers to give again, by `older` */
	struct um_unit_pages *pages; /* by allocation */
	size_t allocations;
};

void um_evict_units_fini(struct um_evict_units *);
/* Its number, from 1. UM_ENOMEM. */
int um_evict_units_add(struct um_evict_units *, const struct um_page_range *, uint32_t *number);
void um_evict_units_remove(struct um_evict_units *, uint32_t number);
/* The unit that the page is in, or UM_NO_UNIT. */
uint32_t um_evict_units_find(const struct um_evict_units *, um_alloc_id, um_page);
/* The unit that begins at the page, or UM_NO_UNIT. */
uint32_t um_evict_units_begun(const struct um_evict_units *, um_alloc_id, um_page);
/* The first unit with pages of [*page, end), or UM_NO_UNIT; *page becomes the first behind it. */
uint32_t um_evict_units_next(const struct um_evict_units *, um_alloc_id, um_page *page,
			     um_page end);

#endif
