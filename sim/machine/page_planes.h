/*
 * Bitmaps of the same pages, word beside word: what is known of 64 pages lies in one cache line, so
 * that a page that was not looked at lately costs one trip to memory and not one a bitmap.
 */
#ifndef UM_PAGE_PLANES_H
#define UM_PAGE_PLANES_H

#include "page_bitmap.h"

#define UM_PLANES_TOGETHER 8 /* words of a cache line */

struct um_plane {
	uint64_t *first; /* its first word; the next is UM_PLANES_TOGETHER on */
};

static inline uint64_t *um_plane_word(struct um_plane plane, size_t word)
{
	return &plane.first[word * UM_PLANES_TOGETHER];
}

static inline bool um_plane_get(struct um_plane plane, uint64_t page)
{
	return *um_plane_word(plane, page / UM_WORD_PAGES) >> page % UM_WORD_PAGES & 1;
}

static inline void um_plane_put(struct um_plane plane, uint64_t page, bool value)
{
	uint64_t *at = um_plane_word(plane, page / UM_WORD_PAGES);
	unsigned bit = page % UM_WORD_PAGES;

	*at = (*at & ~(UINT64_C(1) << bit)) | (uint64_t)value << bit;
}

static inline void um_plane_fill(struct um_plane plane, uint64_t first, uint64_t count, bool value)
{
	uint64_t end = first + count;

	if (count == 1) { /* what most calls are */
		um_plane_put(plane, first, value);
		return;
	}
	if (!count)
		return;
	for (size_t word = first / UM_WORD_PAGES; word <= (end - 1) / UM_WORD_PAGES; word++) {
		uint64_t mask = um_bitmap_mask(word, first, end), *at = um_plane_word(plane, word);

		*at = value ? *at | mask : *at & ~mask;
	}
}

static inline uint64_t um_plane_count(struct um_plane plane, uint64_t first, uint64_t count)
{
	uint64_t end = first + count, set = 0;

	if (count <= 1)
		return count && um_plane_get(plane, first);
	for (size_t word = first / UM_WORD_PAGES; word <= (end - 1) / UM_WORD_PAGES; word++)
		set += (uint64_t)__builtin_popcountll(*um_plane_word(plane, word) &
						      um_bitmap_mask(word, first, end));
	return set;
}

#endif
