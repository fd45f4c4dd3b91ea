#include "pageable.h"

#include "host_snapshot.h"
#include "pageable_mapping.h"
#include "tracer.h"

#include <string.h>

/* Behind the pages of the arena; all but the last block, so that no line is UINT32_MAX. */
#define PLACES	    (UM_PAGEABLE_PAGES_END - UM_ARENA_PAGES - UM_PAGEABLE_BLOCK_PAGES)
#define KNOWN_PAGES 256u

bool um_pageable;

static struct {
	bool active;
	uint64_t shrunk;
} state;

/* The pages that were looked up last, by their low bits: most accesses need no search. */
static struct {
	uintptr_t page;
	uint32_t line;
} known[KNOWN_PAGES];

static void forget_known(void)
{
	memset(known, 0, sizeof(known));
}

/* --- for hooks --- */

static void look_at_data(const struct um_part *part, const struct um_owner *owner,
			 uintptr_t address)
{
	uintptr_t block = address & ~(uintptr_t)(UM_PAGEABLE_BLOCK_BYTES - 1);
	uintptr_t block_end = block + UM_PAGEABLE_BLOCK_BYTES;
	uintptr_t start = part->start > block ? part->start : block;
	uintptr_t end = part->end < block_end ? part->end : block_end;
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
	const struct um_part *part = um_parts_find(address);
	const struct um_owner *owner;
	uint64_t place;

	if (!part)
		part = um_pageable_discover(address);
	owner = part ? um_owner_of(part) : NULL;
	if (!owner)
		return 0;
	look_at_data(part, owner, address);
	place = owner->place + ((address - owner->start) >> UM_PAGE_SHIFT);
	return (uint32_t)((UM_ARENA_PAGES + place) * UM_PAGE_LINES);
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

const void *um_pageable_address(uint32_t line)
{
	uint64_t place = line / UM_PAGE_LINES - UM_ARENA_PAGES;
	const struct um_owner *owner = um_owner_at(place);

	return (const char *)owner->start + ((place - owner->place) << UM_PAGE_SHIFT) +
	       line % UM_PAGE_LINES * UM_LINE_BYTES;
}

uint32_t um_pageable_touch(uint32_t page, uint32_t *first_page)
{
	uint64_t place = page - UM_ARENA_PAGES;
	const struct um_owner *owner = um_owner_at(place);

	um_pageable_data_touched(place);
	*first_page = (uint32_t)(UM_ARENA_PAGES + owner->place);
	return owner->allocation;
}

/* --- mappings that went away --- */

static void note_gone(const struct um_owner *owner)
{
	struct um_record_op op = {
		.kind = UM_OP_FREE,
		.allocation = owner->allocation,
		.bytes = owner->pages << UM_PAGE_SHIFT,
	};

	um_pageable_data_forget(owner->room >> UM_PAGE_SHIFT, owner->room_bytes >> UM_PAGE_SHIFT);
	if (owner->is_registered)
		return; /* the program's own call frees it */
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, 0);
}

void um_pageable_refresh(void)
{
	/* What cannot be looked at stays as it was. */
	if (um_parts_any() && um_tracer_on() && um_parts_compare())
		state.shrunk += um_owners_settle(note_gone);
}

void um_pageable_forget(const void *start, uint64_t bytes)
{
	uintptr_t first = (uintptr_t)start & ~(uintptr_t)(UM_PAGE_BYTES - 1);
	uint64_t page_bytes = (bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1);

	um_host_snapshot_drop();
	um_parts_forget(first, first + page_bytes);
	forget_known();
}

uint64_t um_pageable_shrunk(void)
{
	return state.shrunk;
}

/* --- launches --- */

int um_pageable_begin(uint32_t op)
{
	int error;

	state.active = false;
	if (!um_pageable || !op)
		return 0;
	error = um_parts_init(PLACES);
	if (!error)
		error = um_pageable_data_init(PLACES);
	if (error)
		return error;
	forget_known();
	um_host_snapshot_drop();
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
	um_parts_child();
}
