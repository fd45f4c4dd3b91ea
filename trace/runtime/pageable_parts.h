/*
 * The parts of the address space that kernels used and HIP did not allocate, whose they are, and the
 * numbers that their pages have. Nothing here is malloc'ed but the list of free numbers, so that the
 * program's heap stays as it is.
 */
#ifndef UM_PAGEABLE_PARTS_H
#define UM_PAGEABLE_PARTS_H

#include "host_maps.h"
#include "pageable_data.h"
#include "../spool/spool_record.h"

#include <stddef.h>

#define UM_PAGEABLE_BLOCK_BYTES ((uint64_t)UM_PAGEABLE_BLOCK_PAGES << UM_PAGE_SHIFT)

/* Whose pages are: an allocation of ours, or one that the program registered. */
struct um_owner {
	uint32_t allocation; /* 0: not in use */
	bool is_file, is_registered, has_shrunk;
	uintptr_t start; /* of its first page */
	uint64_t pages, pages_left;
	/* Of its first page. In its block of 2 MiB it lies as the page does; no other owner's do. */
	uint64_t place;
	uint64_t room, room_bytes; /* places, as bytes in whole blocks */
};

/* Parts ascend and do not overlap. */
struct um_part {
	uintptr_t start, end;
	uint32_t owner; /* index + 1; 0: what stays outside */
	uint64_t device, inode, offset;
};

/* How many places there are. UM_ENOMEM. */
int um_parts_init(uint64_t places);
bool um_parts_any(void);

/* NULL: nothing is known of the address. Valid until the next change, as are the others. */
struct um_part *um_parts_find(uintptr_t address);
/* Narrows a new part around an address that is in none. */
void um_parts_avoid(struct um_part *, uintptr_t address);
/* NULL without memory. */
struct um_part *um_parts_insert(const struct um_part *);
/* Nothing is known of [start, end) any more. */
void um_parts_forget(uintptr_t start, uintptr_t end);
/*
 * Cuts the parts to what is mapped now, by the same file; those that stay outside are forgotten.
 * False: it could not be read, and all is as it was.
 */
bool um_parts_compare(void);

/* Gives it places. Index + 1; 0: there are none left. */
uint32_t um_owner_add(const struct um_owner *);
/* NULL: it stays outside. */
const struct um_owner *um_owner_of(const struct um_part *);
const struct um_owner *um_owner_at(uint64_t place);
/*
 * After um_parts_compare(): calls `gone` for each owner that has no part left, which is then no more.
 * Returns how many others have lost something, each once.
 */
uint64_t um_owners_settle(void (*gone)(const struct um_owner *));

/* In the child of a fork: forgets everything. */
void um_parts_child(void);

#endif
