/*
 * The allocations that live, by address: whichever holds an address gives its number and the offset.
 * Callers hold the tap's lock.
 */
#ifndef UM_TAP_MEMORY_H
#define UM_TAP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct um_tap_block {
	uint64_t address;
	uint64_t bytes;
	uint32_t allocation; /* its number; 0: it was not recorded */
	uint32_t kind;	     /* enum um_allocation_kind */
};

/*
 * Whatever lay there before has gone without our noticing, and is forgotten. False: there is no memory
 * for more.
 */
bool um_tap_memory_add(const struct um_tap_block *);
/* The one that holds the address; NULL: none does. Valid until the next change. */
const struct um_tap_block *um_tap_memory_find(uint64_t address);
/* Forgets the one that begins there; false: there is none. */
bool um_tap_memory_remove(uint64_t address, struct um_tap_block *removed);

#endif
