#include "pageable_parts.h"

#include "arena_gaps.h"
#include "lazy_map.h"
#include "trace/base/error.h"

#include <string.h>

struct parts {
	struct um_part *at;
	size_t count, capacity;
};

static struct parts parts, next; /* next: while mappings are compared */
static struct {
	struct um_owner *at;
	size_t count, capacity;
	struct um_gaps gaps; /* bytes of places */
	uint32_t *of_block;  /* index + 1, by block of places */
} owners;

int um_parts_init(uint64_t places)
{
	uint64_t blocks = places / UM_PAGEABLE_BLOCK_PAGES;

	if (owners.of_block)
		return 0;
	owners.of_block = um_lazy_map(blocks * sizeof(*owners.of_block));
	if (!owners.of_block)
		return um_fail_errno(UM_ENOMEM, "cannot map the records of pageable memory");
	return um_gaps_reset(&owners.gaps, places << UM_PAGE_SHIFT);
}

/* --- parts --- */

bool um_parts_any(void)
{
	return parts.count;
}

/* Index of the first part that ends above the address. */
static size_t part_above(uintptr_t address)
{
	size_t low = 0, high = parts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (parts.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct um_part *um_parts_find(uintptr_t address)
{
	size_t at = part_above(address);

	return at < parts.count && parts.at[at].start <= address ? &parts.at[at] : NULL;
}

void um_parts_avoid(struct um_part *part, uintptr_t address)
{
	size_t at = part_above(address);

	if (at > 0 && parts.at[at - 1].end > part->start) {
		part->offset += parts.at[at - 1].end - part->start;
		part->start = parts.at[at - 1].end;
	}
	if (at < parts.count && parts.at[at].start < part->end)
		part->end = parts.at[at].start;
}

struct um_part *um_parts_insert(const struct um_part *part)
{
	size_t at = part_above(part->start);

	if (!um_lazy_room(&parts.at, parts.count, &parts.capacity, sizeof(*part)))
		return NULL;
	memmove(parts.at + at + 1, parts.at + at, (parts.count - at) * sizeof(*part));
	parts.at[at] = *part;
	parts.count++;
	return &parts.at[at];
}

static void remove_part(size_t at)
{
	parts.count--;
	memmove(parts.at + at, parts.at + at + 1, (parts.count - at) * sizeof(*parts.at));
}

void um_parts_forget(uintptr_t start, uintptr_t end)
{
	size_t at = part_above(start);

	while (at < parts.count && parts.at[at].start < end) {
		struct um_part behind = parts.at[at];

		behind.start = end;
		behind.offset += end - parts.at[at].start;
		if (parts.at[at].start < start)
			parts.at[at++].end = start;
		else
			remove_part(at);
		if (behind.end > end)
			um_parts_insert(&behind);
	}
}

/* --- owners --- */

static bool take_owner(uint32_t *index)
{
	for (*index = 0; *index < owners.count; ++*index)
		if (!owners.at[*index].allocation)
			return true;
	if (!um_lazy_room(&owners.at, owners.count, &owners.capacity, sizeof(*owners.at)))
		return false;
	owners.count++;
	return true;
}

static void set_blocks(const struct um_owner *owner, uint32_t number)
{
	uint64_t first = owner->room / UM_PAGEABLE_BLOCK_BYTES;

	for (uint64_t i = 0; i < owner->room_bytes / UM_PAGEABLE_BLOCK_BYTES; i++)
		owners.of_block[first + i] = number;
}

static bool place_owner(struct um_owner *owner)
{
	uint64_t lead = owner->start & (UM_PAGEABLE_BLOCK_BYTES - 1);
	uint64_t bytes = lead + (owner->pages << UM_PAGE_SHIFT);

	owner->room_bytes = (bytes + UM_PAGEABLE_BLOCK_BYTES - 1) & ~(UM_PAGEABLE_BLOCK_BYTES - 1);
	if (!um_gaps_take(&owner->room, &owners.gaps, owner->room_bytes, UM_PAGEABLE_BLOCK_BYTES))
		return false;
	owner->place = (owner->room + lead) >> UM_PAGE_SHIFT;
	return true;
}

uint32_t um_owner_add(const struct um_owner *wanted)
{
	struct um_owner owner = *wanted;
	uint32_t index;

	owner.pages_left = owner.pages;
	if (!take_owner(&index) || !place_owner(&owner))
		return 0;
	owners.at[index] = owner;
	set_blocks(&owner, index + 1);
	return index + 1;
}

static struct um_owner *owner_of(const struct um_part *part)
{
	return part->owner ? &owners.at[part->owner - 1] : NULL;
}

const struct um_owner *um_owner_of(const struct um_part *part)
{
	return owner_of(part);
}

const struct um_owner *um_owner_at(uint64_t place)
{
	return &owners.at[owners.of_block[place / UM_PAGEABLE_BLOCK_PAGES] - 1];
}

static void drop_owner(struct um_owner *owner)
{
	set_blocks(owner, 0);
	um_gaps_give(&owners.gaps, owner->room, owner->room_bytes);
	memset(owner, 0, sizeof(*owner));
}

static void count_pages_left(void)
{
	for (size_t i = 0; i < owners.count; i++)
		owners.at[i].pages_left = 0;
	for (size_t i = 0; i < parts.count; i++) {
		struct um_owner *owner = owner_of(&parts.at[i]);

		if (owner)
			owner->pages_left += (parts.at[i].end - parts.at[i].start) >> UM_PAGE_SHIFT;
	}
}

uint64_t um_owners_settle(void (*gone)(const struct um_owner *))
{
	uint64_t shrunk = 0;

	count_pages_left();
	for (size_t i = 0; i < owners.count; i++) {
		struct um_owner *owner = &owners.at[i];

		if (!owner->allocation)
			continue;
		if (!owner->pages_left) {
			gone(owner);
			drop_owner(owner);
		} else if (owner->pages_left < owner->pages && !owner->has_shrunk &&
			   !owner->is_registered) {
			owner->has_shrunk = true;
			shrunk++;
		}
	}
	return shrunk;
}

/* --- what is mapped now --- */

/* Of anonymous memory nothing tells whether it was unmapped and mapped anew. */
static bool is_same(const struct um_part *part, const struct um_host_map *map)
{
	if (owner_of(part)->is_registered)
		return true;
	if (part->inode != map->inode || part->device != map->device)
		return false;
	return !map->inode || map->offset - part->offset == map->start - part->start;
}

/* What the mapping covers of the part; what follows it, of the same owner, is joined to it. */
static bool keep(const struct um_part *part, const struct um_host_map *map)
{
	struct um_part kept = *part;
	struct um_part *last = next.count ? &next.at[next.count - 1] : NULL;

	kept.start = part->start > map->start ? part->start : map->start;
	kept.end = part->end < map->end ? part->end : map->end;
	kept.offset += kept.start - part->start;
	if (last && last->end == kept.start && last->owner == kept.owner) {
		last->end = kept.end;
		return true;
	}
	if (!um_lazy_room(&next.at, next.count, &next.capacity, sizeof(kept)))
		return false;
	next.at[next.count++] = kept;
	return true;
}

struct comparison {
	size_t at; /* first part that mappings to come may cover */
	bool failed;
};

static bool compare(const struct um_host_map *map, void *context)
{
	struct comparison *comparison = context;

	for (; comparison->at < parts.count; comparison->at++) {
		const struct um_part *part = &parts.at[comparison->at];

		if (part->start >= map->end)
			return true;
		if (part->owner && part->end > map->start && is_same(part, map) &&
		    !keep(part, map)) {
			comparison->failed = true;
			return false;
		}
		if (part->end > map->end)
			return true;
	}
	return false;
}

bool um_parts_compare(void)
{
	struct comparison comparison = {0, false};
	struct parts before = parts;

	next.count = 0;
	if (!um_host_maps_each(compare, &comparison) || comparison.failed)
		return false;
	parts = next;
	next = before;
	return true;
}

void um_parts_child(void)
{
	parts.count = 0;
}
