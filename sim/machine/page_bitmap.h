/* One bit a page, 64 pages a word: every operation on a range works on words. */
#ifndef UM_PAGE_BITMAP_H
#define UM_PAGE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_WORD_PAGES 64u

static inline size_t um_bitmap_words(uint64_t pages)
{
	return (pages + UM_WORD_PAGES - 1) / UM_WORD_PAGES;
}

static inline bool um_bitmap_get(const uint64_t *words, uint64_t page)
{
	return words[page / UM_WORD_PAGES] >> page % UM_WORD_PAGES & 1;
}

/* The bits of word `word` that lie in [first, end). */
static inline uint64_t um_bitmap_mask(size_t word, uint64_t first, uint64_t end)
{
	uint64_t mask = ~0ull, low = (uint64_t)word * UM_WORD_PAGES;

	if (first > low)
		mask &= ~0ull << (first - low);
	if (end < low + UM_WORD_PAGES)
		mask &= ~0ull >> (low + UM_WORD_PAGES - end);
	return mask;
}

static inline void um_bitmap_fill(uint64_t *words, uint64_t first, uint64_t count, bool value)
{
	uint64_t end = first + count;

	if (!count)
		return;
	for (size_t word = first / UM_WORD_PAGES; word <= (end - 1) / UM_WORD_PAGES; word++) {
		uint64_t mask = um_bitmap_mask(word, first, end);

		words[word] = value ? words[word] | mask : words[word] & ~mask;
	}
}

static inline uint64_t um_bitmap_count(const uint64_t *words, uint64_t first, uint64_t count)
{
	uint64_t end = first + count, set = 0;

	if (!count)
		return 0;
	for (size_t word = first / UM_WORD_PAGES; word <= (end - 1) / UM_WORD_PAGES; word++)
		set += (uint64_t)__builtin_popcountll(words[word] &
						      um_bitmap_mask(word, first, end));
	return set;
}

#endif
