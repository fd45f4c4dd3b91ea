/*
 * A value of so many bytes for each page of an allocation (or for each unit of pages), 0 at first.
 * Pages that are alike by the block cost one value: a sweep over a terabyte is a walk over its
 * blocks, and only what is touched in pieces is held by the page.
 */
#ifndef UM_IDEAL_MAP_H
#define UM_IDEAL_MAP_H

#include <stdint.h>

struct um_page_map {
	uint64_t pages;
	uint32_t value_bytes;
	struct um_page_block *blocks; /* NULL until the first walk */
};

/* Changes `value`, which is that of `pages` pages from `first` on. */
typedef int (*um_page_map_fn)(void *context, void *value, uint64_t first, uint64_t pages);

/* In ascending order, until a result other than 0, which is returned. UM_ENOMEM. */
int um_page_map_walk(struct um_page_map *, uint64_t first, uint64_t pages, um_page_map_fn,
		     void *context);
void um_page_map_fini(struct um_page_map *);

#endif
