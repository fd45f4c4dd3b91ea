#include "host_snapshot.h"

#include "lazy_map.h"

#include <string.h>

struct mapping {
	struct um_host_map map;
	char name[UM_HOST_NAME_BYTES];
};

static struct {
	struct mapping *at;
	size_t count, capacity;
} taken;

static bool keep(const struct um_host_map *map, void *context)
{
	size_t length = strlen(map->name);
	size_t cut = length < UM_HOST_NAME_BYTES ? 0 : length - (UM_HOST_NAME_BYTES - 1);
	struct mapping *kept;

	(void)context;
	if (!um_lazy_room(&taken.at, taken.count, &taken.capacity, sizeof(*taken.at)))
		return false;
	kept = &taken.at[taken.count++];
	kept->map = *map;
	memcpy(kept->name, map->name + cut, length - cut + 1);
	return true;
}

static const struct um_host_map *find(uintptr_t address)
{
	size_t low = 0, high = taken.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (taken.at[middle].map.end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == taken.count || taken.at[low].map.start > address || !taken.at[low].map.readable)
		return NULL;
	taken.at[low].map.name = taken.at[low].name; /* the table may have moved */
	return &taken.at[low].map;
}

const struct um_host_map *um_host_snapshot_find(uintptr_t address)
{
	const struct um_host_map *found = find(address);

	if (found)
		return found;
	taken.count = 0;
	/* If it cannot be read to its end, what was read counts. */
	um_host_maps_each(keep, NULL);
	return find(address);
}

void um_host_snapshot_drop(void)
{
	taken.count = 0;
}
