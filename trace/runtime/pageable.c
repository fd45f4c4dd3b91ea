#include "pageable.h"

#include "arena_gaps.h"
#include "host_maps.h"
#include "memory_registered.h"
#include "module.h"
#include "pageable_data.h"
#include "runtime.h"
#include "trace/base/error.h"
#include "tracer.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES ((uint64_t)UM_PAGEABLE_BLOCK_PAGES << UM_PAGE_SHIFT)
/* Places: pages behind those of the arena. The last block is not used: line 0 means none. */
#define PLACES (UM_PAGEABLE_PAGES_END - UM_ARENA_PAGES)
#define BLOCKS (PLACES / UM_PAGEABLE_BLOCK_PAGES)
/* A mapping above this is cut. */
#define WHOLE_BYTES (UINT64_C(16) << 30)
#define CUT_BYTES   (UINT64_C(1) << 30)
#define NAME_BYTES  256u
#define KNOWN_PAGES 256u

#define UNWATCHED                                                                                   \
	"memory that HIP did not allocate: what the host does to it after a kernel has used it is " \
	"not seen"

bool um_pageable;

/* Whose the pages are: an allocation of ours, or one that the program registered. */
struct owner {
	uint32_t allocation; /* 0: not in use */
	bool is_file, is_registered, shrank;
	uintptr_t start; /* of its first page */
	uint64_t pages, pages_left;
	uint64_t place;		   /* of its first page */
	uint64_t room, room_bytes; /* in the gaps */
};

/* A part of the address space, and whose it is. Parts ascend and do not overlap. */
struct part {
	uintptr_t start, end;
	uint32_t owner; /* index + 1; 0: what stays outside */
	uint64_t device, inode, offset;
};

struct parts {
	struct part *at;
	size_t count, capacity;
};

static struct {
	bool active;
	struct parts parts, next;
	struct owner *owner;
	size_t owners, owner_capacity;
	struct um_gaps gaps;   /* bytes of places */
	uint32_t *block_owner; /* by block of places: index + 1 */
	uint64_t shrunk;
	bool said;
} state;

/* The pages that were looked up last, by their low bits: a hook needs no search for them. */
static struct {
	uintptr_t page;
	uint32_t line;
} known[KNOWN_PAGES];

/* --- tables: never malloc'ed, so that the program's heap stays as it is --- */

/* Its flag keeps the kernel from joining it to mappings of the program. */
static void *map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_DONTDUMP);
	return memory;
}

/* Room for one more of `count` elements. */
static bool make_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
	void **old = array;
	size_t wanted = *capacity ? 2 * *capacity : 1024;
	void *grown;

	if (count < *capacity)
		return true;
	grown = map(wanted * element_bytes);
	if (!grown)
		return false;
	if (*capacity) {
		memcpy(grown, *old, count * element_bytes);
		munmap(*old, *capacity * element_bytes);
	}
	*old = grown;
	*capacity = wanted;
	return true;
}

static void forget_known(void)
{
	memset(known, 0, sizeof(known));
}

/* --- parts --- */

/* Index of the first part that ends above the address. */
static size_t part_above(uintptr_t address)
{
	size_t low = 0, high = state.parts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state.parts.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct part *find_part(uintptr_t address)
{
	size_t at = part_above(address);

	return at < state.parts.count && state.parts.at[at].start <= address ? &state.parts.at[at]
									     : NULL;
}

static struct part *insert_part(const struct part *part)
{
	size_t at = part_above(part->start);

	if (!make_room(&state.parts.at, state.parts.count, &state.parts.capacity, sizeof(*part)))
		return NULL;
	memmove(state.parts.at + at + 1, state.parts.at + at,
		(state.parts.count - at) * sizeof(*part));
	state.parts.at[at] = *part;
	state.parts.count++;
	return &state.parts.at[at];
}

static void remove_part(size_t at)
{
	state.parts.count--;
	memmove(state.parts.at + at, state.parts.at + at + 1,
		(state.parts.count - at) * sizeof(*state.parts.at));
}

static struct owner *owner_of(const struct part *part)
{
	return part->owner ? &state.owner[part->owner - 1] : NULL;
}

/* Narrows [*start, *end) around the address to what does not overlap [other_start, other_end). */
static void avoid(uintptr_t address, uintptr_t other_start, uintptr_t other_end, uintptr_t *start,
		  uintptr_t *end)
{
	if (other_end <= address && other_end > *start)
		*start = other_end;
	if (other_start > address && other_start < *end)
		*end = other_start;
}

static void avoid_parts(struct part *part, uintptr_t address)
{
	size_t at = part_above(address);

	if (at > 0)
		avoid(address, 0, state.parts.at[at - 1].end, &part->start, &part->end);
	if (at < state.parts.count)
		avoid(address, state.parts.at[at].start, UINTPTR_MAX, &part->start, &part->end);
}

/* --- owners --- */

static bool take_owner(uint32_t *index)
{
	for (*index = 0; *index < state.owners; ++*index)
		if (!state.owner[*index].allocation)
			return true;
	if (!make_room(&state.owner, state.owners, &state.owner_capacity, sizeof(*state.owner)))
		return false;
	state.owners++;
	return true;
}

/* Places that lie in their blocks of 2 MiB as the addresses do; no other owner is in those blocks. */
static bool place_owner(struct owner *owner, uint32_t number)
{
	uint64_t lead = owner->start & (BLOCK_BYTES - 1);
	uint64_t bytes = lead + (owner->pages << UM_PAGE_SHIFT);

	owner->room_bytes = (bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
	if (!um_gaps_take(&owner->room, &state.gaps, owner->room_bytes, BLOCK_BYTES))
		return false;
	owner->place = (owner->room + lead) >> UM_PAGE_SHIFT;
	for (uint64_t i = 0; i < owner->room_bytes / BLOCK_BYTES; i++)
		state.block_owner[owner->room / BLOCK_BYTES + i] = number;
	return true;
}

/* Index + 1, 0 if there is no room. */
static uint32_t add_owner(const struct owner *wanted)
{
	uint32_t index;

	if (!take_owner(&index))
		return 0;
	state.owner[index] = *wanted;
	if (place_owner(&state.owner[index], index + 1))
		return index + 1;
	state.owner[index].allocation = 0;
	return 0;
}

static void free_op(uint32_t allocation, uint64_t bytes)
{
	struct um_record_op op = {.kind = UM_OP_FREE, .allocation = allocation, .bytes = bytes};

	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, 0);
}

static void drop_owner(struct owner *owner)
{
	if (!owner->is_registered)
		free_op(owner->allocation, owner->pages << UM_PAGE_SHIFT);
	um_pageable_data_forget(owner->room >> UM_PAGE_SHIFT, owner->room_bytes >> UM_PAGE_SHIFT);
	um_gaps_give(&state.gaps, owner->room, owner->room_bytes);
	memset(&state.block_owner[owner->room / BLOCK_BYTES], 0,
	       owner->room_bytes / BLOCK_BYTES * sizeof(*state.block_owner));
	memset(owner, 0, sizeof(*owner));
}

/* --- new ones --- */

static const char *base_name(const char *path, size_t *length)
{
	static const char deleted[] = " (deleted)", shared_anonymous[] = "/dev/zero (deleted)";
	const char *slash = strrchr(path, '/');
	const char *name = *path == '/' && slash ? slash + 1 : path;

	*length = strcmp(path, shared_anonymous) ? strlen(name) : 0;
	if (*length >= sizeof(deleted) && !strcmp(name + *length - (sizeof(deleted) - 1), deleted))
		*length -= sizeof(deleted) - 1;
	return name;
}

static uint32_t flags_of(const char *name)
{
	return (!strcmp(name, "[heap]") ? UM_PAGEABLE_HEAP : 0) |
	       (!strcmp(name, "[stack]") ? UM_PAGEABLE_STACK : 0);
}

static void tell(const struct part *part, uint32_t allocation, const char *path)
{
	_Alignas(8) char buffer[sizeof(struct um_record_allocation) + NAME_BYTES] = {0};
	struct um_record_allocation *record = (struct um_record_allocation *)buffer;
	size_t length;
	const char *name = base_name(path, &length);

	length = length < NAME_BYTES ? length : NAME_BYTES - 1;
	memcpy(record->name, name, length);
	record->header.bytes = (uint32_t)((sizeof(*record) + length + 1 + 7) & ~7ul);
	record->header.kind = UM_RECORD_ALLOCATION;
	record->allocation = allocation;
	record->kind = UM_ALLOCATION_PAGEABLE;
	record->flags = flags_of(path);
	record->address = part->start;
	record->bytes = part->end - part->start;
	record->op = um_tracer_host_op();
	um_tracer_put(&record->header);
	if (!state.said)
		um_tracer_loss(0, UM_LOSS_HOST_UNWATCHED, 1, UNWATCHED);
	state.said = true;
}

static struct part *add_outside(uintptr_t start, uintptr_t end, uintptr_t address)
{
	struct part part = {.start = start, .end = end};

	avoid_parts(&part, address);
	return insert_part(&part);
}

static struct part *add_registered(const struct um_allocation *allocation, uintptr_t address)
{
	uintptr_t first =
		(uintptr_t)um_registered_start(allocation) & ~(uintptr_t)(UM_PAGE_BYTES - 1);
	uint64_t pages = (allocation->bytes + UM_PAGE_BYTES - 1) >> UM_PAGE_SHIFT;
	struct part part = {.start = first, .end = first + (pages << UM_PAGE_SHIFT)};
	struct owner owner = {
		.allocation = allocation->id,
		.is_registered = true,
		.start = first,
		.pages = pages,
		.pages_left = pages,
	};

	avoid_parts(&part, address);
	part.owner = add_owner(&owner);
	return insert_part(&part);
}

struct search {
	uintptr_t address;
	struct part part;
	char name[NAME_BYTES];
	bool found;
};

static bool look_for(const struct um_host_map *map, void *context)
{
	struct search *search = context;
	const char *name = map->name;

	if (map->end <= search->address)
		return true;
	search->found = map->start <= search->address && map->readable;
	if (!search->found)
		return false;
	search->part = (struct part){
		.start = map->start,
		.end = map->end,
		.device = map->device,
		.inode = map->inode,
		.offset = map->offset,
	};
	/* The end of a long path says more. */
	if (strlen(name) >= NAME_BYTES)
		name += strlen(name) - (NAME_BYTES - 1);
	memcpy(search->name, name, strlen(name) + 1);
	return false;
}

static void cut(struct part *part, uintptr_t address)
{
	uintptr_t block = address & ~(uintptr_t)(CUT_BYTES - 1);

	if (part->end - part->start <= WHOLE_BYTES)
		return;
	part->start = part->start > block ? part->start : block;
	part->end = part->end < block + CUT_BYTES ? part->end : block + CUT_BYTES;
}

static struct part *add_mapping(uintptr_t address)
{
	static struct search search;
	struct part *part = &search.part;
	uintptr_t start;

	search.address = address;
	search.found = false;
	um_host_maps_each(look_for, &search);
	if (!search.found)
		return NULL;
	start = part->start;
	avoid_parts(part, address);
	um_module_avoid(address, &part->start, &part->end);
	um_registered_avoid(address, &part->start, &part->end);
	cut(part, address);
	part->offset += part->start - start;
	struct owner owner = {
		.allocation = um_arena_take_id(),
		.is_file = part->inode,
		.start = part->start,
		.pages = (part->end - part->start) >> UM_PAGE_SHIFT,
		.pages_left = (part->end - part->start) >> UM_PAGE_SHIFT,
	};
	part->owner = add_owner(&owner);
	if (part->owner)
		tell(part, owner.allocation, search.name);
	return insert_part(part);
}

static bool is_in(uintptr_t address, const char *base)
{
	return base && address - (uintptr_t)base < um_arena.span;
}

static struct part *add_part(uintptr_t address)
{
	const struct um_allocation *registered = um_registered_page(address);
	uintptr_t start = 0, end = UINTPTR_MAX;

	if (registered)
		return add_registered(registered, address);
	if (is_in(address, um_arena.base))
		return add_outside((uintptr_t)um_arena.base,
				   (uintptr_t)um_arena.base + um_arena.span, address);
	if (is_in(address, um_arena.alias))
		return add_outside((uintptr_t)um_arena.alias,
				   (uintptr_t)um_arena.alias + um_arena.span, address);
	if (!um_module_avoid(address, &start, &end))
		return add_outside(start, end, address);
	return add_mapping(address);
}

/* --- for hooks --- */

static void look_at_data(const struct part *part, const struct owner *owner, uintptr_t address)
{
	uintptr_t block = address & ~(uintptr_t)(BLOCK_BYTES - 1);
	uintptr_t start = part->start > block ? part->start : block;
	uintptr_t end = part->end < block + BLOCK_BYTES ? part->end : block + BLOCK_BYTES;
	uint64_t page = (start - owner->start) >> UM_PAGE_SHIFT;
	const struct um_pageable_block look = {
		.start = (const char *)start,
		.end = (const char *)end,
		.place = owner->place + page,
		.allocation = owner->allocation,
		.page = (uint32_t)page,
		.is_file = owner->is_file,
	};

	if (!owner->is_registered)
		um_pageable_data_look(&look);
}

/* The line that the page of the address begins with. */
static uint32_t look_up(uintptr_t address)
{
	const struct part *part = find_part(address);
	const struct owner *owner;

	if (!part)
		part = add_part(address);
	owner = part ? owner_of(part) : NULL;
	if (!owner)
		return 0;
	look_at_data(part, owner, address);
	return (uint32_t)((UM_ARENA_PAGES + owner->place +
			   ((address - owner->start) >> UM_PAGE_SHIFT))
			  << (UM_PAGE_SHIFT - UM_LINE_SHIFT));
}

uint32_t um_pageable_line(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	uintptr_t page = address >> UM_PAGE_SHIFT;
	uint32_t line_in_page = (uint32_t)(address >> UM_LINE_SHIFT) % UM_PAGE_LINES;

	if (known[page % KNOWN_PAGES].page != page) {
		uint32_t line = look_up(address);

		if (!line)
			return 0;
		known[page % KNOWN_PAGES].page = page;
		known[page % KNOWN_PAGES].line = line;
	}
	return known[page % KNOWN_PAGES].line + line_in_page;
}

static const struct owner *owner_at(uint64_t place)
{
	return &state.owner[state.block_owner[place / UM_PAGEABLE_BLOCK_PAGES] - 1];
}

const void *um_pageable_address(uint32_t line)
{
	uint64_t place = line / UM_PAGE_LINES - UM_ARENA_PAGES;
	const struct owner *owner = owner_at(place);

	return (const char *)owner->start + ((place - owner->place) << UM_PAGE_SHIFT) +
	       line % UM_PAGE_LINES * UM_LINE_BYTES;
}

uint32_t um_pageable_touch(uint32_t page, uint32_t *first_page)
{
	uint64_t place = page - UM_ARENA_PAGES;
	const struct owner *owner = owner_at(place);

	um_pageable_data_touched(place);
	*first_page = (uint32_t)(UM_ARENA_PAGES + owner->place);
	return owner->allocation;
}

/* --- mappings that went away --- */

static bool is_same(const struct part *part, const struct um_host_map *map)
{
	if (owner_of(part)->is_registered)
		return true;
	if (part->inode != map->inode || part->device != map->device)
		return false;
	return !map->inode || map->offset - part->offset == map->start - part->start;
}

/* The part of `part` that the mapping covers; mappings of one part follow each other. */
static bool keep(const struct part *part, const struct um_host_map *map)
{
	struct part kept = *part;
	struct part *last = state.next.at + state.next.count - 1;

	kept.start = part->start > map->start ? part->start : map->start;
	kept.end = part->end < map->end ? part->end : map->end;
	kept.offset += kept.start - part->start;
	if (state.next.count && last->end == kept.start && last->owner == kept.owner) {
		last->end = kept.end;
		return true;
	}
	if (!make_room(&state.next.at, state.next.count, &state.next.capacity, sizeof(kept)))
		return false;
	state.next.at[state.next.count++] = kept;
	return true;
}

struct comparison {
	size_t at; /* first part that the mappings to come may cover */
	bool failed;
};

static bool compare(const struct um_host_map *map, void *context)
{
	struct comparison *comparison = context;

	while (comparison->at < state.parts.count) {
		const struct part *part = &state.parts.at[comparison->at];

		if (part->start >= map->end)
			return true;
		if (part->owner && part->end > map->start && is_same(part, map) &&
		    !keep(part, map)) {
			comparison->failed = true;
			return false;
		}
		if (part->end > map->end)
			return true;
		comparison->at++;
	}
	return false;
}

static void count_pages_left(void)
{
	for (size_t i = 0; i < state.owners; i++)
		state.owner[i].pages_left = 0;
	for (size_t i = 0; i < state.parts.count; i++) {
		struct owner *owner = owner_of(&state.parts.at[i]);

		if (owner)
			owner->pages_left +=
				(state.parts.at[i].end - state.parts.at[i].start) >> UM_PAGE_SHIFT;
	}
}

static void settle_owners(void)
{
	count_pages_left();
	for (size_t i = 0; i < state.owners; i++) {
		struct owner *owner = &state.owner[i];

		if (!owner->allocation)
			continue;
		if (!owner->pages_left) {
			drop_owner(owner);
		} else if (owner->pages_left < owner->pages && !owner->shrank &&
			   !owner->is_registered) {
			owner->shrank = true;
			state.shrunk++;
		}
	}
}

void um_pageable_refresh(void)
{
	struct comparison comparison = {0, false};
	struct parts before = state.parts;

	if (!state.parts.count || !um_tracer_on())
		return;
	state.next.count = 0;
	/* What cannot be looked at stays as it was. */
	if (!um_host_maps_each(compare, &comparison) || comparison.failed)
		return;
	state.parts = state.next;
	state.next = before;
	settle_owners();
}

void um_pageable_forget(const void *start, uint64_t bytes)
{
	uintptr_t first = (uintptr_t)start & ~(uintptr_t)(UM_PAGE_BYTES - 1);
	uintptr_t end = first + ((bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1));
	size_t at = part_above(first);

	while (at < state.parts.count && state.parts.at[at].start < end) {
		struct part behind = state.parts.at[at], *part = &state.parts.at[at];

		behind.start = end;
		behind.offset += end - part->start;
		if (part->start < first) {
			part->end = first;
			at++;
		} else {
			remove_part(at);
		}
		if (behind.end > end)
			insert_part(&behind);
	}
	forget_known();
}

uint64_t um_pageable_shrunk(void)
{
	return state.shrunk;
}

/* --- launches --- */

static int init(void)
{
	int error = um_pageable_data_init(PLACES);

	if (error || state.block_owner)
		return error;
	state.block_owner = map(BLOCKS * sizeof(*state.block_owner));
	if (!state.block_owner)
		return um_fail_errno(UM_ENOMEM, "cannot map the records of pageable memory");
	return um_gaps_reset(&state.gaps, (PLACES << UM_PAGE_SHIFT) - BLOCK_BYTES);
}

int um_pageable_begin(uint32_t op)
{
	int error;

	state.active = false;
	if (!um_pageable || !op)
		return 0;
	error = init();
	if (error)
		return error;
	forget_known();
	um_pageable_data_begin();
	state.active = true;
	return 0;
}

void um_pageable_end(void)
{
	if (state.active)
		um_pageable_data_end();
	state.active = false;
}

bool um_pageable_active(void)
{
	return state.active;
}

void um_pageable_child(void)
{
	um_pageable = false;
	state.active = false;
	state.parts.count = 0;
}
