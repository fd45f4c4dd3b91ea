#include "pageable_mapping.h"

#include "arena.h"
#include "host_snapshot.h"
#include "memory_registered.h"
#include "module.h"
#include "tracer.h"

#include <string.h>

/* A mapping above this is cut. */
#define WHOLE_BYTES (UINT64_C(16) << 30)
#define CUT_BYTES   (UINT64_C(1) << 30)

#define UNWATCHED                                                                                   \
	"memory that HIP did not allocate: what the host does to it after a kernel has used it is " \
	"not seen, and not replayed"

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(UM_PAGE_BYTES - 1);
}

/* --- telling --- */

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

static void tell(const struct um_part *part, uint32_t allocation, const char *path)
{
	_Alignas(8) char buffer[sizeof(struct um_record_allocation) + UM_HOST_NAME_BYTES] = {0};
	struct um_record_allocation *record = (struct um_record_allocation *)buffer;
	static bool said;
	size_t length;
	const char *name = base_name(path, &length);

	length = length < UM_HOST_NAME_BYTES ? length : UM_HOST_NAME_BYTES - 1;
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
	if (!said)
		um_tracer_loss(0, UM_LOSS_HOST_UNWATCHED, 1, UNWATCHED);
	said = true;
}

/* --- what is no mapping of the program's --- */

static const struct um_part *add_outside(uintptr_t start, uintptr_t end, uintptr_t address)
{
	struct um_part part = {.start = start, .end = end};

	um_parts_avoid(&part, address);
	return um_parts_insert(&part);
}

static const struct um_part *add_registered(const struct um_allocation *allocation,
					    uintptr_t address)
{
	uintptr_t first = page_of((uintptr_t)um_registered_start(allocation));
	uint64_t pages = (allocation->bytes + UM_PAGE_BYTES - 1) >> UM_PAGE_SHIFT;
	struct um_part part = {.start = first, .end = first + (pages << UM_PAGE_SHIFT)};
	const struct um_owner owner = {
		.allocation = allocation->id,
		.is_registered = true,
		.start = first,
		.pages = pages,
	};

	um_parts_avoid(&part, address);
	part.owner = um_owner_add(&owner);
	return um_parts_insert(&part);
}

/* --- mappings --- */

static void cut(struct um_part *part, uintptr_t address)
{
	uintptr_t block = address & ~(uintptr_t)(CUT_BYTES - 1);

	if (part->end - part->start <= WHOLE_BYTES)
		return;
	part->start = part->start > block ? part->start : block;
	part->end = part->end < block + CUT_BYTES ? part->end : block + CUT_BYTES;
}

/* Leaves out what is known already and what is not the program's. */
static void narrow(struct um_part *part, uintptr_t address)
{
	uintptr_t start;

	um_parts_avoid(part, address);
	start = part->start;
	um_module_avoid(address, &part->start, &part->end);
	um_registered_avoid(address, &part->start, &part->end);
	cut(part, address);
	part->offset += part->start - start;
}

static const struct um_part *add_mapping(uintptr_t address)
{
	const struct um_host_map *map = um_host_snapshot_find(address);
	struct um_part part;

	if (!map)
		return NULL;
	part = (struct um_part){
		.start = map->start,
		.end = map->end,
		.device = map->device,
		.inode = map->inode,
		.offset = map->offset,
	};
	narrow(&part, address);
	const struct um_owner owner = {
		.allocation = um_arena_take_id(),
		.is_file = part.inode,
		.start = part.start,
		.pages = (part.end - part.start) >> UM_PAGE_SHIFT,
	};

	part.owner = um_owner_add(&owner);
	if (part.owner)
		tell(&part, owner.allocation, map->name);
	return um_parts_insert(&part);
}

static bool is_arena(uintptr_t address, const char *base)
{
	return base && address - (uintptr_t)base < um_arena.span;
}

const struct um_part *um_pageable_discover(uintptr_t address)
{
	const struct um_allocation *registered = um_registered_page(address);
	uintptr_t start = 0, end = UINTPTR_MAX;
	const char *arena = is_arena(address, um_arena.base)	? um_arena.base
			    : is_arena(address, um_arena.alias) ? um_arena.alias
								: NULL;

	if (registered)
		return add_registered(registered, address);
	if (arena)
		return add_outside((uintptr_t)arena, (uintptr_t)arena + um_arena.span, address);
	if (!um_module_avoid(address, &start, &end))
		return add_outside(start, end, address);
	return add_mapping(address);
}
