/* The 512 pages of 2 MiB, one bit each. */
#ifndef UM_UVM_MASK_H
#define UM_UVM_MASK_H

#include "sim/machine/page_bitmap.h"

#define UVM_WINDOW_PAGES 512u
#define UVM_MASK_WORDS	 (UVM_WINDOW_PAGES / UM_WORD_PAGES)

struct uvm_mask {
	uint64_t word[UVM_MASK_WORDS];
};

/* Pages [first, end). */
struct uvm_region {
	uint32_t first, end;
};

static inline struct uvm_mask uvm_mask_of(struct uvm_region region)
{
	struct uvm_mask mask = {{0}};

	if (region.end > region.first)
		um_bitmap_fill(mask.word, region.first, region.end - region.first, true);
	return mask;
}

static inline struct uvm_mask uvm_and(struct uvm_mask a, const struct uvm_mask *b)
{
	for (size_t i = 0; i < UVM_MASK_WORDS; i++)
		a.word[i] &= b->word[i];
	return a;
}

static inline struct uvm_mask uvm_and_not(struct uvm_mask a, const struct uvm_mask *b)
{
	for (size_t i = 0; i < UVM_MASK_WORDS; i++)
		a.word[i] &= ~b->word[i];
	return a;
}

static inline struct uvm_mask uvm_or(struct uvm_mask a, const struct uvm_mask *b)
{
	for (size_t i = 0; i < UVM_MASK_WORDS; i++)
		a.word[i] |= b->word[i];
	return a;
}

static inline void uvm_add(struct uvm_mask *to, const struct uvm_mask *pages)
{
	*to = uvm_or(*to, pages);
}

static inline void uvm_remove(struct uvm_mask *from, const struct uvm_mask *pages)
{
	*from = uvm_and_not(*from, pages);
}

static inline bool uvm_has(const struct uvm_mask *mask, uint32_t page)
{
	return um_bitmap_get(mask->word, page);
}

static inline void uvm_set(struct uvm_mask *mask, uint32_t page)
{
	mask->word[page / UM_WORD_PAGES] |= 1ull << page % UM_WORD_PAGES;
}

static inline void uvm_clear(struct uvm_mask *mask, uint32_t page)
{
	mask->word[page / UM_WORD_PAGES] &= ~(1ull << page % UM_WORD_PAGES);
}

static inline bool uvm_is_empty(const struct uvm_mask *mask)
{
	uint64_t any = 0;

	for (size_t i = 0; i < UVM_MASK_WORDS; i++)
		any |= mask->word[i];
	return !any;
}

static inline uint32_t uvm_count(const struct uvm_mask *mask)
{
	return (uint32_t)um_bitmap_count(mask->word, 0, UVM_WINDOW_PAGES);
}

/* The first page at or behind `from` whose bit is `value`; UVM_WINDOW_PAGES if there is none. */
static inline uint32_t uvm_find(const struct uvm_mask *mask, uint32_t from, bool value)
{
	uint64_t flip = value ? 0 : ~0ull, bits;

	if (from >= UVM_WINDOW_PAGES)
		return UVM_WINDOW_PAGES;
	bits = (mask->word[from / UM_WORD_PAGES] ^ flip) & (~0ull << from % UM_WORD_PAGES);
	for (uint32_t word = from / UM_WORD_PAGES;; bits = mask->word[word] ^ flip) {
		if (bits)
			return word * UM_WORD_PAGES + (uint32_t)__builtin_ctzll(bits);
		if (++word == UVM_MASK_WORDS)
			return UVM_WINDOW_PAGES;
	}
}

/* The next run of set bits at or behind `from`; false if there is none. */
static inline bool uvm_next_run(const struct uvm_mask *mask, uint32_t from, struct uvm_region *run)
{
	run->first = uvm_find(mask, from, true);
	run->end = uvm_find(mask, run->first, false);
	return run->first < UVM_WINDOW_PAGES;
}

#endif
