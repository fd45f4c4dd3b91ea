/*
 * Numbers by handles. Memory is mapped, since the program's malloc may be what calls us; callers hold
 * the tap's lock.
 */
#ifndef UM_TAP_MAP_H
#define UM_TAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_tap_map {
	struct um_tap_map_slot *slots;
	uint32_t slot_count, used;
};

/* False: it is not there. Key 0 is none. */
bool um_tap_map_get(const struct um_tap_map *, uint64_t key, uint64_t *value);
/* False: there is no memory for it. */
bool um_tap_map_set(struct um_tap_map *, uint64_t key, uint64_t value);
/* A key that has this value; 0: none. */
uint64_t um_tap_map_key(const struct um_tap_map *, uint64_t value);
void um_tap_map_remove(struct um_tap_map *, uint64_t key);

/* Zeros, of which only what is touched takes memory; NULL when the system refuses. */
void *um_tap_reserve_memory(size_t bytes);

#endif
