/*
 * Asynchronous write protection (Linux 6.7): no handler, no thread, no privileges, and system calls
 * on watched pages work. The kernel itself lifts the protection of a page that is written.
 */
#include "hostwatch_uffd.h"

#include <linux/userfaultfd.h>

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

static bool start(void);
static struct um_uffd_watch watch = {.uffd = {.fd = -1}, .pagemap = {.fd = -1}, .reopen = start};

static bool start(void)
{
	if (um_uffd_open(&watch.uffd, UFFD_USER_MODE_ONLY, FEATURES) &&
	    um_pagemap_open(&watch.pagemap) && um_uffd_try(&watch))
		return true;
	um_uffd_close(&watch);
	return false;
}

static bool add(struct um_watch_range range)
{
	return um_uffd_add(&watch, range);
}

static bool remove_range(struct um_watch_range range)
{
	return um_uffd_remove(&watch, range);
}

static bool arm(struct um_watch_blocks blocks)
{
	return um_uffd_arm(&watch, blocks);
}

static bool rearm(struct um_watch_blocks blocks)
{
	return um_uffd_rearm(&watch, blocks);
}

static bool collect(struct um_watch_blocks blocks, um_watch_emit *emit)
{
	return um_uffd_collect(&watch, blocks, emit);
}

static void child(void)
{
	um_uffd_close(&watch);
}

const struct um_watch_method um_watch_wp_async = {
	.kind = UM_HOST_WATCH_WP_ASYNC,
	.start = start,
	.add = add,
	.remove = remove_range,
	.arm = arm,
	.rearm = rearm,
	.collect = collect,
	.child = child,
};
