/* A hash map from 64-bit ids to 32-bit values; it only grows. */
#ifndef UM_ID_MAP_H
#define UM_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_id_map {
	struct um_id_slot *slots; /* capacity is a power of two, at most half full */
	size_t capacity, count;
};

struct um_id_slot {
	uint64_t id;
	uint32_t value;
	bool used;
};

/* NULL if it is not there. */
uint32_t *um_id_map_find(const struct um_id_map *, uint64_t id);
/* Adds id, which must not be there. UM_ENOMEM. */
int um_id_map_add(struct um_id_map *, uint64_t id, uint32_t value);
void um_id_map_fini(struct um_id_map *);

#endif
