#include "hostwatch_uffd.h"
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * MADV_DONTNEED_LOCKED (Linux 5.18): drops page-table entries, also of memory that mlock() locked.
 */
#define UM_MADV_DROP 24
/* Untouched pages between two touched runs that are dropped with them: a call costs more. */
#define JOIN_PAGES 64u

/* --- userfaultfd --- */

bool um_uffd_open(struct um_watch_fd *out, int flags, uint64_t features)
{
	int fd = (int)syscall(SYS_userfaultfd, flags | O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API, .features = features};

	if (fd < 0)
		return false;
	if (ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return false;
	}
	return um_watch_fd_keep(out, fd);
}

static bool register_for_wp(const struct um_watch_fd *uffd, char *start, size_t bytes)
{
	struct uffdio_register wanted = {.range = {(uintptr_t)start, bytes},
					 .mode = UFFDIO_REGISTER_MODE_WP};

	return !ioctl(uffd->fd, UFFDIO_REGISTER, &wanted);
}

bool um_uffd_protect(const struct um_watch_fd *uffd, char *start, size_t bytes, bool protect)
{
	struct uffdio_writeprotect change = {.range = {(uintptr_t)start, bytes},
					     .mode = protect ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
	int failed;

	/* EAGAIN: the process's mappings change at this moment. */
	do
		failed = ioctl(uffd->fd, UFFDIO_WRITEPROTECT, &change);
	while (failed && errno == EAGAIN);
	return !failed;
}

/* --- intervals --- */

/*
 * Until the count of faults moves, nothing was touched. It is read before the page table is looked
 * at: a touch meanwhile makes the next look necessary.
 */
static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static bool protect_range(const struct um_uffd_watch *watch, struct um_watch_range range,
			  bool protect)
{
	return um_uffd_protect(&watch->uffd, um_watch_address(range.first_page),
			       (range.end_page - range.first_page) << UM_PAGE_SHIFT, protect);
}

/* Drops the page-table entries and protects anew. */
static bool rearm(const struct um_uffd_watch *watch, struct um_watch_range range)
{
	return !madvise(um_watch_address(range.first_page),
			(range.end_page - range.first_page) << UM_PAGE_SHIFT, UM_MADV_DROP) &&
	       protect_range(watch, range, true);
}

static bool alive(const struct um_uffd_watch *watch)
{
	return um_watch_fd_alive(&watch->uffd) && um_watch_fd_alive(&watch->pagemap);
}

/* A program that closes every descriptor ends the watch of all memory; it may start anew. */
static bool ready(struct um_uffd_watch *watch)
{
	if (alive(watch))
		return true;
	um_uffd_close(watch);
	watch->stale = true;
	return watch->reopen && watch->reopen();
}

static bool register_arena(struct um_uffd_watch *watch)
{
	if (watch->registered == um_arena.base)
		return true;
	/*
	 * Both mappings: when khugepaged collapses pages that one of them lets it, it unmaps them
	 * from the other, and they look untouched.
	 */
	madvise(um_arena.base, um_arena.span, MADV_NOHUGEPAGE);
	madvise(um_arena.alias, um_arena.span, MADV_NOHUGEPAGE);
	if (!register_for_wp(&watch->uffd, um_arena.base, um_arena.span))
		return false;
	watch->registered = um_arena.base;
	return true;
}

bool um_uffd_add(struct um_uffd_watch *watch, struct um_watch_range range)
{
	return ready(watch) && register_arena(watch) && rearm(watch, range);
}

bool um_uffd_remove(struct um_uffd_watch *watch, struct um_watch_range range)
{
	/* With the descriptors the protection has gone, too. */
	return !alive(watch) || protect_range(watch, range, false);
}

bool um_uffd_open_blocks(struct um_uffd_watch *watch, struct um_watch_blocks blocks)
{
	bool works = true;

	if (!alive(watch))
		return true;
	for (size_t i = 0; works && i < blocks.count; i++)
		works = protect_range(watch, blocks.block[i], false);
	watch->opened = true;
	return works;
}

/* What is about to be armed again: touched runs of one block, joined where they are close. */
static struct {
	struct um_uffd_watch *watch;
	struct um_watch_blocks blocks;
	size_t next; /* first block that may hold pages to come */
	struct um_watch_range joined;
	bool works;
} arming;

static void rearm_joined(void)
{
	if (arming.joined.first_page < arming.joined.end_page)
		arming.works &= rearm(arming.watch, arming.joined);
	arming.joined = (struct um_watch_range){0, 0};
}

static void join(const struct um_watch_range *block, uint64_t first_page, uint64_t end_page)
{
	if (arming.joined.end_page > block->first_page &&
	    first_page - arming.joined.end_page <= JOIN_PAGES) {
		arming.joined.end_page = end_page;
		return;
	}
	rearm_joined();
	arming.joined = (struct um_watch_range){first_page, end_page};
}

static void drop_touched(uint64_t first_page, uint64_t end_page, uint32_t touch)
{
	(void)touch;
	for (; arming.next < arming.blocks.count; arming.next++) {
		const struct um_watch_range *block = arming.blocks.block + arming.next;
		uint64_t first = first_page > block->first_page ? first_page : block->first_page;
		uint64_t end = end_page < block->end_page ? end_page : block->end_page;

		if (first < end)
			join(block, first, end);
		if (end_page <= block->end_page)
			return;
	}
}

static bool arm_touched(struct um_uffd_watch *watch, struct um_watch_blocks blocks)
{
	arming.watch = watch;
	arming.blocks = blocks;
	arming.next = 0;
	arming.joined = (struct um_watch_range){0, 0};
	arming.works = true;
	bool scanned = um_pagemap_scan_blocks(&watch->pagemap, blocks, drop_touched);

	rearm_joined();
	return scanned && arming.works;
}

static bool arm_all(struct um_uffd_watch *watch, struct um_watch_blocks blocks)
{
	bool works = register_arena(watch);

	for (size_t i = 0; works && i < blocks.count; i++)
		works = rearm(watch, blocks.block[i]);
	return works;
}

bool um_uffd_arm(struct um_uffd_watch *watch, struct um_watch_blocks blocks)
{
	uint64_t faults = faults_so_far();

	if (!watch->stale && !watch->opened && faults == watch->faults && alive(watch))
		return true;
	if (!ready(watch))
		return false;
	bool works =
		watch->stale || watch->opened ? arm_all(watch, blocks) : arm_touched(watch, blocks);

	watch->stale = watch->opened = false;
	watch->faults = faults;
	return works;
}

bool um_uffd_rearm(struct um_uffd_watch *watch, struct um_watch_blocks blocks)
{
	/* Where nothing was touched, or the descriptors went away, arm() has all to do. */
	return watch->stale || watch->opened || faults_so_far() == watch->faults || !alive(watch) ||
	       arm_touched(watch, blocks);
}

bool um_uffd_collect(struct um_uffd_watch *watch, struct um_watch_blocks blocks,
		     um_watch_emit *emit)
{
	if (watch->stale || !alive(watch)) {
		um_watch_note("the program closed our descriptors: what the host touched between "
			      "two device operations is not known");
		return true;
	}
	return watch->opened || faults_so_far() == watch->faults ||
	       um_pagemap_scan_blocks(&watch->pagemap, blocks, emit);
}

void um_uffd_close(struct um_uffd_watch *watch)
{
	um_watch_fd_close(&watch->uffd);
	um_watch_fd_close(&watch->pagemap);
	watch->registered = NULL;
}

/* --- whether it works here --- */

enum { TRY_READ, TRY_WRITTEN, TRY_UNTOUCHED, TRY_PAGES };
#define TRY_BYTES (TRY_PAGES * (size_t)UM_PAGE_BYTES)

struct trial {
	const char *start;
	int seen[TRY_PAGES]; /* 0: untouched, 1: read, 2: written */
};

static void note_trial(const char *start, const char *end, bool written, void *context)
{
	struct trial *trial = context;

	for (const char *page = start; page < end; page += UM_PAGE_BYTES)
		trial->seen[(page - trial->start) / UM_PAGE_BYTES] = written ? 2 : 1;
}

static bool try_interval(const struct um_watch_fd *uffd, const struct um_watch_fd *pagemap,
			 char *pages)
{
	volatile char *touch = pages;
	struct trial trial = {.start = pages};

	if (!register_for_wp(uffd, pages, TRY_BYTES) ||
	    !um_uffd_protect(uffd, pages, TRY_BYTES, true))
		return false;
	(void)touch[TRY_READ * UM_PAGE_BYTES];
	touch[TRY_WRITTEN * UM_PAGE_BYTES] = 1;
	return um_pagemap_scan(pagemap, pages, pages + TRY_BYTES, note_trial, &trial) &&
	       trial.seen[TRY_READ] == 1 && trial.seen[TRY_WRITTEN] == 2 &&
	       trial.seen[TRY_UNTOUCHED] == 0;
}

bool um_uffd_try(const struct um_uffd_watch *watch)
{
	/* Shared memory without a name, as the arena is. */
	char *pages =
		mmap(NULL, TRY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return false;
	bool works = try_interval(&watch->uffd, &watch->pagemap, pages);

	munmap(pages, TRY_BYTES);
	return works;
}
