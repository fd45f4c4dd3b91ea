/*
 * A set of numbers below a limit: one bit each, and above every 64 bits one that says whether any
 * is set, so that the first and the last are found in as many steps as there are levels (five for
 * 2^30 numbers).
 */
#ifndef UM_BIT_TREE_H
#define UM_BIT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define UM_BIT_TREE_LEVELS 6
#define UM_BIT_TREE_NONE   UINT32_MAX

struct um_bit_tree {
	uint64_t *level[UM_BIT_TREE_LEVELS]; /* [0]: the numbers; owned, one allocation */
	unsigned levels;
};

/* Empty, for numbers below `limit`. UM_ENOMEM. */
int um_bit_tree_init(struct um_bit_tree *, uint32_t limit);
void um_bit_tree_fini(struct um_bit_tree *);

static inline void um_bit_tree_set(struct um_bit_tree *tree, uint32_t number)
{
	for (unsigned i = 0; i < tree->levels; i++, number /= 64) {
		uint64_t *word = &tree->level[i][number / 64], was = *word;

		*word = was | UINT64_C(1) << number % 64;
		if (was)
			return; /* above it is set already */
	}
}

static inline void um_bit_tree_clear(struct um_bit_tree *tree, uint32_t number)
{
	for (unsigned i = 0; i < tree->levels; i++, number /= 64) {
		uint64_t *word = &tree->level[i][number / 64];

		*word &= ~(UINT64_C(1) << number % 64);
		if (*word)
			return;
	}
}

/* UM_BIT_TREE_NONE: the set is empty. */
static inline uint32_t um_bit_tree_last(const struct um_bit_tree *tree)
{
	uint32_t at = 0;

	if (!tree->level[tree->levels - 1][0])
		return UM_BIT_TREE_NONE;
	for (unsigned i = tree->levels; i-- > 0;)
		at = at * 64 + 63 - (uint32_t)__builtin_clzll(tree->level[i][at]);
	return at;
}

static inline uint32_t um_bit_tree_first(const struct um_bit_tree *tree)
{
	uint32_t at = 0;

	if (!tree->level[tree->levels - 1][0])
		return UM_BIT_TREE_NONE;
	for (unsigned i = tree->levels; i-- > 0;)
		at = at * 64 + (uint32_t)__builtin_ctzll(tree->level[i][at]);
	return at;
}

#endif
