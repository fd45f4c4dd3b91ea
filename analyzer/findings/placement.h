/*
 * Where a device's memory is: what the allocator below hipMalloc() does with it, replayed. A GPU maps
 * memory by pages, so that a large request needs no hole of its own size, but whole blocks. Small requests
 * share blocks, of which each stays until its last one is freed: that is what fragments.
 *
 * The rules are ROCr's (ROCR-Runtime, amd_memory_region.cpp and simple_heap.h): requests take whole pages
 * of 4 KiB; one of up to a block of 2 MiB is put into the smallest hole that holds it, the oldest of equal
 * ones, of all blocks that are shared, else at the start of a new block; neighbouring holes become one; a
 * larger one is rounded up to whole blocks. Blocks that are empty are free for anything: ROCr keeps some, and
 * gives them back when a request would fail otherwise.
 */
#ifndef UM_PLACEMENT_H
#define UM_PLACEMENT_H

#include <stdint.h>

struct um_placement;
struct um_placed_memory; /* what was asked for at once */

/* Multiples of 4 KiB. UM_ENOMEM. */
int um_placement_create(struct um_placement **, uint64_t memory_bytes, uint64_t block_bytes);
void um_placement_destroy(struct um_placement *);

/* *out NULL: it does not fit. At least 1 byte. UM_ENOMEM. */
int um_placement_put(struct um_placement *, uint64_t bytes, struct um_placed_memory **out);
/* NULL: nothing. */
void um_placement_remove(struct um_placement *, struct um_placed_memory *);

/* As asked for, in whole pages; in whole blocks. */
uint64_t um_placement_asked_bytes(const struct um_placement *);
uint64_t um_placement_held_bytes(const struct um_placement *);
/*
 * What it holds and does not use: of a large one what it was rounded up by, of one that shares a block its
 * part, by bytes, of the block's holes.
 */
uint64_t um_placement_unused_bytes(const struct um_placement *, const struct um_placed_memory *);

#endif
