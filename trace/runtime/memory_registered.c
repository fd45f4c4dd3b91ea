#include "memory_registered.h"

#include <stdlib.h>

struct registered {
	struct um_allocation allocation; /* first: a pointer to it is one to all */
	struct registered *next;
	void *start;
};

static struct registered *all;

struct um_allocation *um_registered_add(void *start, uint64_t bytes)
{
	struct registered *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->allocation.id = um_arena_take_id();
	r->allocation.kind = UM_ALLOCATION_REGISTERED;
	r->allocation.bytes = bytes;
	r->start = start;
	r->next = all;
	all = r;
	return &r->allocation;
}

void um_registered_remove(struct um_allocation *allocation)
{
	struct registered **link = &all;

	while (*link && &(*link)->allocation != allocation)
		link = &(*link)->next;
	if (!*link)
		return;
	struct registered *r = *link;

	*link = r->next;
	free(r);
}

struct um_allocation *um_registered_find(const void *address)
{
	for (struct registered *r = all; r; r = r->next)
		if ((uintptr_t)address - (uintptr_t)r->start < r->allocation.bytes)
			return &r->allocation;
	return NULL;
}

bool um_registered_overlaps(const void *start, uint64_t bytes)
{
	for (const struct registered *r = all; r; r = r->next)
		if ((uintptr_t)start < (uintptr_t)r->start + r->allocation.bytes &&
		    (uintptr_t)r->start < (uintptr_t)start + bytes)
			return true;
	return false;
}

static uintptr_t first_page(const struct registered *r)
{
	return (uintptr_t)r->start & ~(uintptr_t)(UM_PAGE_BYTES - 1);
}

static uint64_t page_bytes(const struct registered *r)
{
	return (r->allocation.bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1);
}

struct um_allocation *um_registered_page(uintptr_t address)
{
	for (struct registered *r = all; r; r = r->next)
		if (address - first_page(r) < page_bytes(r))
			return &r->allocation;
	return NULL;
}

void um_registered_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	for (const struct registered *r = all; r; r = r->next) {
		uintptr_t first = first_page(r), last = first + page_bytes(r);

		if (last <= address && last > *start)
			*start = last;
		if (first > address && first < *end)
			*end = first;
	}
}

void *um_registered_start(const struct um_allocation *allocation)
{
	return ((const struct registered *)allocation)->start;
}
