/*
 * One arena holds everything that HIP allocates (managed, device, pinned): a memfd, mapped once for
 * the program and once more (the alias) for the runtime's own copies, which host watching must not
 * see. Fixed base and span for the life of the process, so that a hook decides with one subtraction
 * whether an address is ours, and finds the page's record by index.
 *
 * Allocations start at a page, those of 2 MiB and more at 2 MiB. Freed space is reused lowest
 * first: the same program gets the same layout in every run, relative to the base. What is not
 * allocated can be neither read nor written through the program's map.
 *
 * Callers hold the runtime lock (runtime.h), except for the hooks, which only read.
 */
#ifndef UM_ARENA_H
#define UM_ARENA_H

#include "../spool/spool_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A recorder entry keeps a line number in 30 bits: 2^30 lines of 64 bytes. */
#define UM_ARENA_SPAN  (64ull << 30)
#define UM_ARENA_PAGES (UM_ARENA_SPAN >> UM_PAGE_SHIFT)

struct um_allocation {
	uint32_t id;   /* from 1, never used twice */
	uint32_t kind; /* enum um_allocation_kind */
	uint32_t flags;
	int32_t device;
	uint64_t offset;      /* of its first byte in the arena, multiple of 4096 */
	uint64_t bytes;	      /* as asked for; occupies whole pages */
	struct um_pool *pool; /* that counts it; NULL: none */
	void *parked;	      /* of um_arena_map(): the pages of its place meanwhile; else NULL */
	bool anonymous;	      /* its pages are not the file's, so that it has no alias */
	struct um_page_state
		*state; /* advice and last prefetch, for range attributes; owned by memory code */
};

struct um_arena {
	char *base;	/* what programs and kernels see */
	char *alias;	/* the same bytes, for the runtime's own reads and writes */
	uint64_t span;	/* UM_ARENA_SPAN once made, else 0 */
	bool unwatched; /* nobody watches the host: see um_arena_alloc(); set before it is made */
	uint32_t *page_owner; /* allocation id of each page, 0 none; UM_ARENA_PAGES, zero-filled
				 lazily */
};

extern struct um_arena um_arena; /* hidden in the runtime's library */

/* Maps the arena on first use; MADV_DONTFORK, as ROCm's thunk does for its memory. UM_EIO. */
int um_arena_init(void);
/*
 * bytes >= 1. The memory is zero. UM_ENOMEM when the span or this host's memory is too small; the
 * message names both limits. The result stays valid until um_arena_free(). In an unwatched arena
 * allocations of 2 MiB and more are anonymous memory, for which Linux has huge pages by default
 * (madvise(2); of a memfd only where shmem_enabled says so): fewer faults at the first touch.
 */
int um_arena_alloc(struct um_allocation **out, uint32_t kind, uint64_t bytes);
/* Gives the pages back to the system; the allocation is gone. */
void um_arena_free(struct um_allocation *);
/*
 * A place without memory: nobody may touch it. `align`: a power of two of at least a page. UM_ENOMEM
 * when the span is too small.
 */
int um_arena_reserve(uint64_t *offset, uint64_t bytes, uint64_t align);
/* Nothing is mapped there. What the pages held is gone. */
void um_arena_unreserve(uint64_t offset, uint64_t bytes);
/* That much more memory of this host, or less. UM_ENOMEM, see um_arena_alloc(). */
int um_arena_hold(int64_t bytes);
/*
 * Makes part of one reservation an allocation that shows the pages of another. In whole pages; without
 * rights until um_arena_protect(). UM_ENOMEM when the system has no more mappings.
 */
int um_arena_map(struct um_allocation **out, uint32_t kind, uint64_t offset, uint64_t bytes,
		 uint64_t from);
void um_arena_unmap(struct um_allocation *);
/* `rights` are PROT_*, of the program's map. False when the system has no more mappings. */
bool um_arena_protect(uint64_t offset, uint64_t bytes, int rights);
/* The allocation that holds `address`, or NULL. Any thread, without the lock. */
struct um_allocation *um_arena_find(const void *address);
struct um_allocation *um_arena_by_id(uint32_t id);
/* An id of the same series for memory that is not in the arena (hipHostRegister). */
uint32_t um_arena_take_id(void);
uint64_t um_arena_bytes(void); /* held by allocations, in whole pages */
/*
 * In the child of a fork, which has no copy of the memory: forgets every allocation and the maps.
 */
void um_arena_child(void);
/* In ascending offset: calls until it returns false. */
void um_arena_each(bool (*call)(struct um_allocation *, void *), void *context);
static inline void *um_arena_alias(const void *address)
{
	return um_arena.alias + ((const char *)address - um_arena.base);
}
/* Where the runtime itself reads and writes an address of the arena: the alias, where there is one. */
void *um_arena_own(const void *address);

#endif
