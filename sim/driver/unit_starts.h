/*
 * A set of pages, those at which units begin, that tells the nearest member before or behind any
 * page in a few steps: a bitmap, and three above it with a bit for each word of the one below.
 */
#ifndef UM_UNIT_STARTS_H
#define UM_UNIT_STARTS_H

#include "sim/machine/machine.h"

#define UM_START_LEVELS 4
#define UM_NO_PAGE	UINT32_MAX /* no allocation is that large */

struct um_unit_starts {
	uint64_t *words[UM_START_LEVELS];
	um_page capacity; /* pages; a multiple of a word's */
};

void um_unit_starts_fini(struct um_unit_starts *);
/* Room for pages below `pages`. UM_ENOMEM. */
int um_unit_starts_grow(struct um_unit_starts *, um_page pages);
/* The page is below the capacity. */
void um_unit_starts_add(struct um_unit_starts *, um_page);
void um_unit_starts_remove(struct um_unit_starts *, um_page);
/* The last member at or before a page below the capacity; UM_NO_PAGE. */
um_page um_unit_starts_before(const struct um_unit_starts *, um_page);
/* The first member at or behind a page below the capacity; UM_NO_PAGE. */
um_page um_unit_starts_from(const struct um_unit_starts *, um_page);

#endif
