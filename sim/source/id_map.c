#include "id_map.h"

#include "trace/base/error.h"

#include <stdlib.h>

static struct um_id_slot *slot_of(const struct um_id_map *map, uint64_t id)
{
	size_t mask = map->capacity - 1;
	uint64_t hash = id * 0x9e3779b97f4a7c15ull; /* Fibonacci hashing: 2^64 / golden ratio */
	size_t slot = (size_t)(hash ^ hash >> 32) & mask;

	while (map->slots[slot].used && map->slots[slot].id != id)
		slot = (slot + 1) & mask;
	return &map->slots[slot];
}

uint32_t *um_id_map_find(const struct um_id_map *map, uint64_t id)
{
	struct um_id_slot *slot = map->capacity ? slot_of(map, id) : NULL;

	return slot && slot->used ? &slot->value : NULL;
}

static int grow(struct um_id_map *map)
{
	struct um_id_map grown = {.capacity = map->capacity ? map->capacity * 2 : 64,
				  .count = map->count};

	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return um_fail(UM_ENOMEM, "no memory for %zu ids", grown.capacity);
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].used)
			*slot_of(&grown, map->slots[i].id) = map->slots[i];
	free(map->slots);
	*map = grown;
	return 0;
}

int um_id_map_add(struct um_id_map *map, uint64_t id, uint32_t value)
{
	if (2 * (map->count + 1) > map->capacity && grow(map))
		return UM_ENOMEM;
	*slot_of(map, id) = (struct um_id_slot){id, value, true};
	map->count++;
	return 0;
}

void um_id_map_fini(struct um_id_map *map)
{
	free(map->slots);
}
