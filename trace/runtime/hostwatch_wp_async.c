/*
 * Asynchronous write protection (Linux 6.7): no handler, no thread, no privileges, and system calls
 * on watched pages work. The kernel itself lifts the protection of a page that is written.
 *
 * A touch of an armed page is a page fault of this process. As long as its count of faults stays
 * where it was, nothing was touched, and neither arm nor collect looks at the page table. (Touches
 * by another process, process_vm_writev(), count there; they are found one interval late.)
 */
#include "hostwatch_uffd.h"
#include "arena.h"

#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Linux 6.4 and 6.7, include/uapi/linux/userfaultfd.h; Debian 12's headers are older. */
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#define FEATURES                                                                                   \
	(UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM |                        \
	 UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_ASYNC)

/* Untouched pages between two touched runs that are dropped with them: a call costs more. */
#define JOIN_PAGES 64u

static struct {
	struct um_watch_fd uffd, pagemap;
	const char *registered; /* base of the arena that was registered */
	uint64_t faults;	/* of the process, when everything was last found armed */
	bool armed;
	bool stale; /* the descriptors are new: only what was added since is armed */
} async = {.uffd = {.fd = -1}, .pagemap = {.fd = -1}};

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static bool open_descriptors(void)
{
	if (um_uffd_open(&async.uffd, UFFD_USER_MODE_ONLY, FEATURES) &&
	    um_pagemap_open(&async.pagemap) && um_uffd_try(&async.uffd, &async.pagemap))
		return true;
	um_watch_fd_close(&async.uffd);
	um_watch_fd_close(&async.pagemap);
	return false;
}

static bool descriptors_alive(void)
{
	return um_watch_fd_alive(&async.uffd) && um_watch_fd_alive(&async.pagemap);
}

/* A program that closes every descriptor ends the watch of all memory: it starts anew. */
static bool descriptors_ready(void)
{
	if (descriptors_alive())
		return true;
	um_watch_fd_close(&async.uffd);
	um_watch_fd_close(&async.pagemap);
	async.armed = false;
	async.stale = true;
	async.registered = NULL;
	return open_descriptors();
}

/* Drops the page-table entries of [first_page, end_page) and protects them anew. */
static bool rearm(uint64_t first_page, uint64_t end_page)
{
	char *start_address = um_watch_address(first_page);
	size_t bytes = (end_page - first_page) << UM_PAGE_SHIFT;

	return !madvise(start_address, bytes, UM_MADV_DROP) &&
	       um_uffd_protect(&async.uffd, start_address, bytes, true);
}

static bool register_arena(void)
{
	if (async.registered == um_arena.base)
		return true;
	if (!um_uffd_register_arena(&async.uffd))
		return false;
	async.registered = um_arena.base;
	return true;
}

static bool add(struct um_watch_range range)
{
	return descriptors_ready() && register_arena() && rearm(range.first_page, range.end_page);
}

static bool remove_range(struct um_watch_range range)
{
	/* With the descriptors the protection has gone, too. */
	return !descriptors_alive() ||
	       um_uffd_protect(&async.uffd, um_watch_address(range.first_page),
			       (range.end_page - range.first_page) << UM_PAGE_SHIFT, false);
}

/* What arm() is about to drop: touched runs of one block, joined where they are close. */
static struct {
	struct um_watch_blocks blocks;
	size_t next; /* first block that may hold pages to come */
	struct um_watch_range joined;
	bool works;
} arming;

static void rearm_joined(void)
{
	if (arming.joined.first_page < arming.joined.end_page)
		arming.works &= rearm(arming.joined.first_page, arming.joined.end_page);
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

static bool arm_touched(struct um_watch_blocks blocks)
{
	arming.blocks = blocks;
	arming.next = 0;
	arming.joined = (struct um_watch_range){0, 0};
	arming.works = true;
	bool scanned = um_pagemap_scan_blocks(&async.pagemap, blocks, drop_touched);

	rearm_joined();
	return scanned && arming.works;
}

static bool arm_all(struct um_watch_blocks blocks)
{
	bool works = register_arena();

	for (size_t i = 0; works && i < blocks.count; i++)
		works = rearm(blocks.block[i].first_page, blocks.block[i].end_page);
	return works;
}

static bool arm(struct um_watch_blocks blocks)
{
	uint64_t faults = faults_so_far();

	if (async.armed && faults == async.faults && descriptors_alive())
		return true;
	if (!descriptors_ready())
		return false;
	bool works = async.stale ? arm_all(blocks) : arm_touched(blocks);

	async.stale = false;
	async.armed = true;
	async.faults = faults;
	return works;
}

static bool collect(struct um_watch_blocks blocks, um_watch_emit *emit)
{
	if (async.stale || !descriptors_alive()) {
		um_watch_note("the program closed our descriptors: what the host touched between "
			      "two device operations is not known");
		return true;
	}
	if (async.armed && faults_so_far() == async.faults)
		return true;
	return um_pagemap_scan_blocks(&async.pagemap, blocks, emit);
}

static void child(void)
{
	um_watch_fd_close(&async.uffd);
	um_watch_fd_close(&async.pagemap);
	async.armed = false;
	async.stale = false;
	async.registered = NULL;
}

const struct um_watch_method um_watch_wp_async = {
	.kind = UM_HOST_WATCH_WP_ASYNC,
	.start = open_descriptors,
	.add = add,
	.remove = remove_range,
	.arm = arm,
	.collect = collect,
	.child = child,
};
