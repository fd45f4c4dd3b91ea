/*
 * The free space of the arena: gaps between allocations, ascending. Lowest fit, so that the same
 * calls give the same layout.
 */
#ifndef UM_ARENA_GAPS_H
#define UM_ARENA_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_gap {
	uint64_t offset, bytes;
};

struct um_gaps {
	struct um_gap *gap;
	size_t count, capacity;
	size_t taken; /* pieces that were taken and not given back */
};

/* One gap of [0, bytes). UM_ENOMEM. */
int um_gaps_reset(struct um_gaps *, uint64_t bytes);
/* The lowest `bytes` at a multiple of `align` (a power of two); false if there is no such gap. */
bool um_gaps_take(uint64_t *offset, struct um_gaps *, uint64_t bytes, uint64_t align);
/*
 * Gives back what was taken; joins it with its neighbours. Never fails: a take leaves room for it.
 */
void um_gaps_give(struct um_gaps *, uint64_t offset, uint64_t bytes);

#endif
