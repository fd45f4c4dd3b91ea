#include "arena.h"

#include "arena_gaps.h"
#include "host_memory.h"
#include "lazy_map.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG_PAGE_BYTES (2ull << 20)
#define MAX_IDS	       (1u << 25)

struct um_arena um_arena;

static struct {
	struct um_allocation **by_id; /* MAX_IDS, filled lazily, so that readers need no lock */
	struct um_allocation **live;  /* sorted by offset */
	size_t live_count, live_capacity;
	struct um_gaps gaps;
	uint64_t bytes;
	uint32_t last_id;
} state;

static bool map_tables(void)
{
	if (!um_arena.page_owner)
		um_arena.page_owner = um_lazy_map(UM_ARENA_PAGES * sizeof(*um_arena.page_owner));
	if (!state.by_id)
		state.by_id = um_lazy_map(MAX_IDS * sizeof(*state.by_id));
	return um_arena.page_owner && state.by_id;
}

/* The span of the file at a multiple of 2 MiB, so that offsets and addresses align alike. */
static char *map_file(int file, int rights)
{
	char *room = mmap(NULL, UM_ARENA_SPAN + BIG_PAGE_BYTES, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return NULL;
	size_t head = -(uintptr_t)room & (BIG_PAGE_BYTES - 1);
	char *map = mmap(room + head, UM_ARENA_SPAN, rights, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
			 file, 0);

	if (map == MAP_FAILED) {
		munmap(room, UM_ARENA_SPAN + BIG_PAGE_BYTES);
		return NULL;
	}
	if (head)
		munmap(room, head);
	munmap(map + UM_ARENA_SPAN, BIG_PAGE_BYTES - head);
	madvise(map, UM_ARENA_SPAN, MADV_DONTFORK);
	return map;
}

static bool map_twice(int file)
{
	um_arena.base = map_file(file, PROT_NONE);
	um_arena.alias = um_arena.base ? map_file(file, PROT_READ | PROT_WRITE) : NULL;
	if (um_arena.alias)
		return true;
	if (um_arena.base)
		munmap(um_arena.base, UM_ARENA_SPAN);
	um_arena.base = NULL;
	return false;
}

int um_arena_init(void)
{
	if (um_arena.span)
		return 0;
	int file = memfd_create("umtrace-arena", MFD_CLOEXEC);

	if (file < 0)
		return um_fail_errno(UM_EIO, "cannot make the memory file of the HIP runtime");
	bool mapped = !ftruncate(file, (off_t)UM_ARENA_SPAN) && map_tables() && map_twice(file);
	int error = mapped ? 0
			   : um_fail_errno(UM_EIO,
					   "cannot map the %llu GiB that the HIP runtime reserves "
					   "(ulimit -v, ulimit -f)",
					   UM_ARENA_SPAN >> 30);

	close(file); /* the program's descriptors stay as they would be */
	if (error)
		return error;
	if (um_gaps_reset(&state.gaps, UM_ARENA_SPAN))
		return UM_ENOMEM;
	um_arena.span = UM_ARENA_SPAN;
	return 0;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1);
}

static int check_limits(uint64_t bytes)
{
	uint64_t host = um_host_memory_bytes();
	char text[4][32];

	if (bytes <= UM_ARENA_SPAN && um_arena_bytes() + whole_pages(bytes) <= host)
		return 0;
	return um_fail(UM_ENOMEM,
		       "%s wanted, %s in use; this host has %s of memory and the HIP runtime at "
		       "most %s",
		       um_format_bytes(text[0], sizeof(text[0]), bytes),
		       um_format_bytes(text[1], sizeof(text[1]), um_arena_bytes()),
		       um_format_bytes(text[2], sizeof(text[2]), host),
		       um_format_bytes(text[3], sizeof(text[3]), UM_ARENA_SPAN));
}

/* Index in `live` of the first allocation at or above `offset`. */
static size_t live_index(uint64_t offset)
{
	size_t low = 0, high = state.live_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state.live[middle]->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool live_insert(struct um_allocation *allocation)
{
	if (state.live_count == state.live_capacity) {
		size_t capacity = state.live_capacity ? 2 * state.live_capacity : 256;
		void *grown = realloc(state.live, capacity * sizeof(*state.live));

		if (!grown)
			return false;
		state.live = grown;
		state.live_capacity = capacity;
	}
	size_t at = live_index(allocation->offset);

	memmove(state.live + at + 1, state.live + at,
		(state.live_count - at) * sizeof(*state.live));
	state.live[at] = allocation;
	state.live_count++;
	return true;
}

static void live_remove(const struct um_allocation *allocation)
{
	size_t at = live_index(allocation->offset);

	memmove(state.live + at, state.live + at + 1,
		(state.live_count - at - 1) * sizeof(*state.live));
	state.live_count--;
}

uint32_t um_arena_take_id(void)
{
	return ++state.last_id;
}

static void set_owner(const struct um_allocation *allocation, uint32_t id)
{
	uint64_t first = allocation->offset >> UM_PAGE_SHIFT;
	uint64_t pages = whole_pages(allocation->bytes) >> UM_PAGE_SHIFT;

	for (uint64_t page = first; page < first + pages; page++)
		__atomic_store_n(&um_arena.page_owner[page], id, __ATOMIC_RELEASE);
}

/*
 * What is not allocated has no rights, so that whoever touches it is found out. Each change may take
 * two more mappings, of which Linux allows a process 65,530 (vm.max_map_count); where there are no
 * more, everything stays open from there on.
 */
static void set_rights(uint64_t offset, uint64_t bytes, int rights)
{
	static bool all_open;

	if (all_open || !mprotect(um_arena.base + offset, bytes, rights))
		return;
	all_open = !mprotect(um_arena.base, um_arena.span, PROT_READ | PROT_WRITE);
}

static int take(uint64_t *offset, uint64_t bytes, uint64_t align)
{
	char text[2][32];

	if (um_gaps_take(offset, &state.gaps, bytes, align))
		return 0;
	return um_fail(UM_ENOMEM, "no %s in one piece left of %s",
		       um_format_bytes(text[0], sizeof(text[0]), bytes),
		       um_format_bytes(text[1], sizeof(text[1]), UM_ARENA_SPAN));
}

/* At its offset, from here on. */
static int begin(struct um_allocation *allocation)
{
	if (state.last_id + 1 >= MAX_IDS)
		return um_fail(UM_ENOMEM, "the program made %u allocations, the most there can be",
			       MAX_IDS - 1);
	if (!live_insert(allocation))
		return um_fail(UM_ENOMEM, "out of memory");
	allocation->id = um_arena_take_id();
	state.by_id[allocation->id] = allocation;
	set_owner(allocation, allocation->id);
	return 0;
}

static void end(const struct um_allocation *allocation)
{
	set_owner(allocation, 0);
	__atomic_store_n(&state.by_id[allocation->id], NULL, __ATOMIC_RELEASE);
	live_remove(allocation);
}

/*
 * One more map of the file's pages that are mapped at `from`: what mremap() makes of a shared map
 * whose old length is 0. At `to` or, if that is NULL, anywhere. NULL when there are no more maps.
 */
static void *map_again(void *from, uint64_t bytes, void *to)
{
	void *map = mremap(from, 0, bytes, MREMAP_MAYMOVE | (to ? MREMAP_FIXED : 0), to);

	return map == MAP_FAILED ? NULL : map;
}

/* Where it cannot be had the file's pages stay, or come back. */
static void make_anonymous(struct um_allocation *allocation, uint64_t held)
{
	char *start = um_arena.base + allocation->offset;
	void *map = mmap(start, held, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED) {
		map_again(um_arena.alias + allocation->offset, held, start);
		return;
	}
	allocation->anonymous = true;
	madvise(start, held, MADV_HUGEPAGE);
	madvise(start, held, MADV_DONTFORK);
}

static int place(struct um_allocation *allocation)
{
	uint64_t held = whole_pages(allocation->bytes);
	uint64_t align = allocation->bytes >= BIG_PAGE_BYTES ? BIG_PAGE_BYTES : UM_PAGE_BYTES;
	int error = take(&allocation->offset, held, align);

	if (error)
		return error;
	error = begin(allocation);
	if (error) {
		um_gaps_give(&state.gaps, allocation->offset, held);
		return error;
	}
	if (um_arena.unwatched && allocation->bytes >= BIG_PAGE_BYTES)
		make_anonymous(allocation, held);
	set_rights(allocation->offset, held, PROT_READ | PROT_WRITE);
	state.bytes += held;
	return 0;
}

int um_arena_alloc(struct um_allocation **out, uint32_t kind, uint64_t bytes)
{
	int error = um_arena_init();

	if (!error)
		error = check_limits(bytes);
	if (error)
		return error;
	struct um_allocation *allocation = calloc(1, sizeof(*allocation));

	if (!allocation)
		return um_fail(UM_ENOMEM, "out of memory");
	allocation->kind = kind;
	allocation->bytes = bytes;
	error = place(allocation);
	if (error) {
		free(allocation);
		return error;
	}
	*out = allocation;
	return 0;
}

void um_arena_free(struct um_allocation *allocation)
{
	uint64_t held = whole_pages(allocation->bytes);

	end(allocation);
	if (allocation->anonymous)
		map_again(um_arena.alias + allocation->offset, held,
			  um_arena.base + allocation->offset);
	set_rights(allocation->offset, held, PROT_NONE);
	/* Frees the file's pages, for both maps: the next allocation there reads zeros. */
	madvise(um_arena.alias + allocation->offset, held, MADV_REMOVE);
	um_gaps_give(&state.gaps, allocation->offset, held);
	state.bytes -= held;
	free(allocation);
}

/* --- memory and its place apart --- */

int um_arena_reserve(uint64_t *offset, uint64_t bytes, uint64_t align)
{
	int error = um_arena_init();

	return error ? error : take(offset, bytes, align);
}

void um_arena_unreserve(uint64_t offset, uint64_t bytes)
{
	madvise(um_arena.alias + offset, bytes, MADV_REMOVE);
	um_gaps_give(&state.gaps, offset, bytes);
}

int um_arena_hold(int64_t bytes)
{
	int error = bytes > 0 ? check_limits((uint64_t)bytes) : 0;

	if (!error)
		state.bytes += (uint64_t)bytes;
	return error;
}

bool um_arena_protect(uint64_t offset, uint64_t bytes, int rights)
{
	return !mprotect(um_arena.base + offset, bytes, rights);
}

static bool show(uint64_t offset, uint64_t bytes, void *pages)
{
	return map_again(pages, bytes, um_arena.alias + offset) &&
	       map_again(pages, bytes, um_arena.base + offset) &&
	       um_arena_protect(offset, bytes, PROT_NONE);
}

/* Its place shows its own pages again. */
static void unpark(struct um_allocation *allocation)
{
	show(allocation->offset, allocation->bytes, allocation->parked);
	munmap(allocation->parked, allocation->bytes);
}

static int show_other(struct um_allocation *allocation, uint64_t from)
{
	uint64_t bytes = allocation->bytes;

	allocation->parked = map_again(um_arena.alias + allocation->offset, bytes, NULL);
	if (!allocation->parked)
		return um_fail_errno(UM_ENOMEM, "cannot map device memory");
	int error = show(allocation->offset, bytes, um_arena.alias + from)
			    ? begin(allocation)
			    : um_fail_errno(UM_ENOMEM, "cannot map device memory");

	if (error)
		unpark(allocation);
	return error;
}

int um_arena_map(struct um_allocation **out, uint32_t kind, uint64_t offset, uint64_t bytes,
		 uint64_t from)
{
	struct um_allocation *allocation = calloc(1, sizeof(*allocation));

	if (!allocation)
		return um_fail(UM_ENOMEM, "out of memory");
	allocation->kind = kind;
	allocation->offset = offset;
	allocation->bytes = bytes;
	int error = show_other(allocation, from);

	if (error) {
		free(allocation);
		return error;
	}
	*out = allocation;
	return 0;
}

void um_arena_unmap(struct um_allocation *allocation)
{
	end(allocation);
	unpark(allocation);
	free(allocation);
}

struct um_allocation *um_arena_find(const void *address)
{
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)um_arena.base);

	if (offset >= um_arena.span)
		return NULL;
	return um_arena_by_id(
		__atomic_load_n(&um_arena.page_owner[offset >> UM_PAGE_SHIFT], __ATOMIC_ACQUIRE));
}

void *um_arena_own(const void *address)
{
	const struct um_allocation *allocation = um_arena_find(address);

	return allocation && allocation->anonymous ? (void *)(uintptr_t)address
						   : um_arena_alias(address);
}

struct um_allocation *um_arena_by_id(uint32_t id)
{
	if (!id || id >= MAX_IDS || !state.by_id)
		return NULL;
	return __atomic_load_n(&state.by_id[id], __ATOMIC_ACQUIRE);
}

uint64_t um_arena_bytes(void)
{
	return state.bytes;
}

void um_arena_each(bool (*call)(struct um_allocation *, void *), void *context)
{
	for (size_t i = 0; i < state.live_count; i++)
		if (!call(state.live[i], context))
			return;
}

void um_arena_child(void)
{
	if (!um_arena.span)
		return;
	/* Nobody else runs here; what the parent allocated is lost, as under ROCm. */
	for (size_t i = 0; i < state.live_count; i++) {
		state.by_id[state.live[i]->id] = NULL;
		free(state.live[i]);
	}
	state.live_count = 0;
	state.bytes = 0;
	madvise(um_arena.page_owner, UM_ARENA_PAGES * sizeof(*um_arena.page_owner), MADV_DONTNEED);
	um_arena.base = um_arena.alias = NULL;
	um_arena.span = 0;
}
