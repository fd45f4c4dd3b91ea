#include "unit_starts.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64u
#define TOP	  (UM_START_LEVELS - 1)

void um_unit_starts_fini(struct um_unit_starts *set)
{
	for (int level = 0; level < UM_START_LEVELS; level++)
		free(set->words[level]);
}

static size_t words_of(um_page pages, int level)
{
	size_t words = pages;

	for (int i = 0; i <= level; i++)
		words = words / WORD_BITS + (words % WORD_BITS > 0);
	return words;
}

static int grow_level(struct um_unit_starts *set, um_page pages, int level)
{
	size_t old = words_of(set->capacity, level), count = words_of(pages, level);
	uint64_t *grown = realloc(set->words[level], count * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the units of %u pages", pages);
	memset(grown + old, 0, (count - old) * sizeof(*grown));
	set->words[level] = grown;
	return 0;
}

int um_unit_starts_grow(struct um_unit_starts *set, um_page pages)
{
	int error = 0;

	if (pages <= set->capacity)
		return 0;
	for (int level = 0; level < UM_START_LEVELS && !error; level++)
		error = grow_level(set, pages, level);
	if (!error)
		set->capacity = pages;
	return error;
}

void um_unit_starts_add(struct um_unit_starts *set, um_page page)
{
	for (int level = 0; level < UM_START_LEVELS; level++, page /= WORD_BITS) {
		uint64_t *word = &set->words[level][page / WORD_BITS], was = *word;

		*word = was | UINT64_C(1) << page % WORD_BITS;
		if (was)
			return; /* the levels above have it */
	}
}

void um_unit_starts_remove(struct um_unit_starts *set, um_page page)
{
	for (int level = 0; level < UM_START_LEVELS; level++, page /= WORD_BITS) {
		uint64_t *word = &set->words[level][page / WORD_BITS];

		*word &= ~(UINT64_C(1) << page % WORD_BITS);
		if (*word)
			return;
	}
}

static um_page last_bit(uint64_t word)
{
	return WORD_BITS - 1 - (um_page)__builtin_clzll(word);
}

/* The last member below bit `bit` of a level, which is set: down to the pages. */
static um_page descend_last(const struct um_unit_starts *set, int level, um_page bit)
{
	while (level--)
		bit = bit * WORD_BITS + last_bit(set->words[level][bit]);
	return bit;
}

static um_page descend_first(const struct um_unit_starts *set, int level, um_page bit)
{
	while (level--)
		bit = bit * WORD_BITS + (um_page)__builtin_ctzll(set->words[level][bit]);
	return bit;
}

um_page um_unit_starts_before(const struct um_unit_starts *set, um_page page)
{
	um_page bit = page, index = page / WORD_BITS;
	uint64_t word = set->words[0][index] & (~UINT64_C(0) >> (WORD_BITS - 1 - bit % WORD_BITS));
	int level = 0;

	while (!word && level < TOP) {
		bit = index;
		index = bit / WORD_BITS;
		word = set->words[++level][index] & ((UINT64_C(1) << bit % WORD_BITS) - 1);
	}
	while (!word && index) /* at the top, a bit for 2^18 pages */
		word = set->words[TOP][--index];
	return word ? descend_last(set, level, index * WORD_BITS + last_bit(word)) : UM_NO_PAGE;
}

um_page um_unit_starts_from(const struct um_unit_starts *set, um_page page)
{
	um_page bit = page, index = page / WORD_BITS;
	uint64_t word = set->words[0][index] & (~UINT64_C(0) << bit % WORD_BITS);
	size_t top_words = words_of(set->capacity, TOP);
	int level = 0;

	while (!word && level < TOP) {
		bit = index;
		index = bit / WORD_BITS;
		/* above `bit`; twice, since all 64 cannot be shifted out at once */
		word = set->words[++level][index] & (~UINT64_C(0) << bit % WORD_BITS << 1);
	}
	while (!word && index + 1 < top_words)
		word = set->words[TOP][++index];
	return word ? descend_first(set, level, index * WORD_BITS + (um_page)__builtin_ctzll(word))
		    : UM_NO_PAGE;
}
