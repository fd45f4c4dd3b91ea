#include "tap_map.h"

#include <sys/mman.h>

#define FIRST_SLOTS 256u
#define MAX_SLOTS   (1u << 24)

struct um_tap_map_slot {
	uint64_t key; /* 0: empty */
	uint64_t value;
};

void *um_tap_reserve_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint32_t home_of(uint64_t key, uint32_t slot_count)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (slot_count - 1);
}

static struct um_tap_map_slot *find(struct um_tap_map_slot *slots, uint32_t slot_count,
				    uint64_t key)
{
	uint32_t at = home_of(key, slot_count);

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (slot_count - 1);
	return slots + at;
}

static bool grow(struct um_tap_map *map)
{
	uint32_t slot_count = map->slot_count ? 2 * map->slot_count : FIRST_SLOTS;
	struct um_tap_map_slot *slots =
		slot_count > MAX_SLOTS ? NULL : um_tap_reserve_memory(slot_count * sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].key)
			*find(slots, slot_count, map->slots[i].key) = map->slots[i];
	if (map->slots)
		munmap(map->slots, map->slot_count * sizeof(*slots));
	map->slots = slots;
	map->slot_count = slot_count;
	return true;
}

bool um_tap_map_get(const struct um_tap_map *map, uint64_t key, uint64_t *value)
{
	if (!map->slots || !key)
		return false;
	const struct um_tap_map_slot *slot = find(map->slots, map->slot_count, key);

	if (!slot->key)
		return false;
	*value = slot->value;
	return true;
}

uint64_t um_tap_map_key(const struct um_tap_map *map, uint64_t value)
{
	for (uint32_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].key && map->slots[i].value == value)
			return map->slots[i].key;
	return 0;
}

bool um_tap_map_set(struct um_tap_map *map, uint64_t key, uint64_t value)
{
	if (!key || (map->used >= map->slot_count / 2 && !grow(map)))
		return false;
	struct um_tap_map_slot *slot = find(map->slots, map->slot_count, key);

	if (!slot->key)
		map->used++;
	*slot = (struct um_tap_map_slot){key, value};
	return true;
}

/* Those behind it that would no longer be found move up. */
void um_tap_map_remove(struct um_tap_map *map, uint64_t key)
{
	if (!map->slots || !key)
		return;
	uint32_t mask = map->slot_count - 1;
	uint32_t hole = (uint32_t)(find(map->slots, map->slot_count, key) - map->slots);

	if (!map->slots[hole].key)
		return;
	for (uint32_t at = (hole + 1) & mask; map->slots[at].key; at = (at + 1) & mask) {
		uint32_t home = home_of(map->slots[at].key, map->slot_count);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].key = 0;
	map->used--;
}
