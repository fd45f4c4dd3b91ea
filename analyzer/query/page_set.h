/* Sets of pages of many allocations: those that lie on one device. */
#ifndef UM_PAGE_SET_H
#define UM_PAGE_SET_H

#include <stddef.h>
#include <stdint.h>

struct um_page_sets;

int um_page_sets_create(struct um_page_sets **out);
void um_page_sets_destroy(struct um_page_sets *); /* NULL is legal */
/*
 * Adds [first, first + pages) of an allocation that has `all` pages; *changed is how many of them are new.
 * What lies outside [0, all) is nothing. UM_ENOMEM.
 */
int um_page_sets_add(struct um_page_sets *, int64_t allocation, int64_t all, int64_t first,
		     int64_t pages, int64_t *changed);
/* Takes them out; returns how many of them were in. */
int64_t um_page_sets_take(struct um_page_sets *, int64_t allocation, int64_t first, int64_t pages);
/* All of it goes; returns how many pages those were. */
int64_t um_page_sets_drop(struct um_page_sets *, int64_t allocation);

#endif
