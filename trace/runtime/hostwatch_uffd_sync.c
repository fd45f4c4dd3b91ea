/*
 * Synchronous write protection, for kernels from 5.19 that lack the asynchronous kind: a thread of
 * ours lifts the protection of each page that is written. Reads are found in the page table, as
 * with hostwatch_wp_async.c. System calls on watched pages wait for the thread like any other
 * access, which is why the kernel asks for CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd=1.
 *
 * Between collect() and arm() nothing is protected: a write costs about 6 microseconds otherwise,
 * which kernels should not pay.
 */
#include "hostwatch_uffd.h"
#include "arena.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FEATURES       (UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM)
#define FAULTS_AT_ONCE 16

static struct {
	struct um_watch_fd uffd, pagemap;
	const char *registered; /* base of the arena that was registered */
} sync_watch = {.uffd = {.fd = -1}, .pagemap = {.fd = -1}};

static void serve(const struct uffd_msg *message)
{
	if (message->event != UFFD_EVENT_PAGEFAULT)
		return;
	uintptr_t page = message->arg.pagefault.address & ~(uintptr_t)(UM_PAGE_BYTES - 1);

	/* Wakes the thread that waits; ENOENT: the memory went away meanwhile. */
	if (um_uffd_protect(&sync_watch.uffd, (char *)page, UM_PAGE_BYTES, false))
		return;
	struct uffdio_range range = {page, UM_PAGE_BYTES};

	ioctl(sync_watch.uffd.fd, UFFDIO_WAKE, &range);
}

/* For the life of the process: the kernel lets go of those who wait only when the last user does.
 */
static void *serve_for_ever(void *unused)
{
	struct uffd_msg message[FAULTS_AT_ONCE];

	for (;;) {
		ssize_t bytes = read(sync_watch.uffd.fd, message, sizeof(message));

		if (bytes < 0 && errno != EINTR && errno != EAGAIN)
			return unused;
		for (ssize_t i = 0; i < bytes / (ssize_t)sizeof(message[0]); i++)
			serve(message + i);
	}
}

/* The thread takes none of the program's signals. */
static bool start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int failed = pthread_create(&thread, &attributes, serve_for_ever, NULL);

	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

static bool start(void)
{
	/* The trial writes a protected page, which only the thread can let go. */
	if (um_uffd_open(&sync_watch.uffd, 0, FEATURES) && um_pagemap_open(&sync_watch.pagemap) &&
	    start_thread() && um_uffd_try(&sync_watch.uffd, &sync_watch.pagemap))
		return true;
	um_watch_fd_close(&sync_watch.uffd);
	um_watch_fd_close(&sync_watch.pagemap);
	return false;
}

static bool descriptors_alive(void)
{
	return um_watch_fd_alive(&sync_watch.uffd) && um_watch_fd_alive(&sync_watch.pagemap);
}

static size_t bytes_of(struct um_watch_range range)
{
	return (range.end_page - range.first_page) << UM_PAGE_SHIFT;
}

static bool protect(struct um_watch_range range, bool protected)
{
	return um_uffd_protect(&sync_watch.uffd, um_watch_address(range.first_page),
			       bytes_of(range), protected);
}

static bool arm_block(struct um_watch_range block)
{
	return !madvise(um_watch_address(block.first_page), bytes_of(block), UM_MADV_DROP) &&
	       protect(block, true);
}

static bool add(struct um_watch_range range)
{
	if (!descriptors_alive())
		return false;
	if (sync_watch.registered != um_arena.base) {
		if (!um_uffd_register_arena(&sync_watch.uffd))
			return false;
		sync_watch.registered = um_arena.base;
	}
	return arm_block(range);
}

static bool remove_range(struct um_watch_range range)
{
	return descriptors_alive() && protect(range, false);
}

static bool arm(struct um_watch_blocks blocks)
{
	bool works = descriptors_alive();

	for (size_t i = 0; works && i < blocks.count; i++)
		works = arm_block(blocks.block[i]);
	return works;
}

static bool collect(struct um_watch_blocks blocks, um_watch_emit *emit)
{
	bool works =
		descriptors_alive() && um_pagemap_scan_blocks(&sync_watch.pagemap, blocks, emit);

	for (size_t i = 0; works && i < blocks.count; i++)
		works = protect(blocks.block[i], false);
	return works;
}

static void child(void)
{
	um_watch_fd_close(&sync_watch.uffd);
	um_watch_fd_close(&sync_watch.pagemap);
	sync_watch.registered = NULL;
}

const struct um_watch_method um_watch_uffd_sync = {
	.kind = UM_HOST_WATCH_UFFD_SYNC,
	.threads = 1,
	.start = start,
	.add = add,
	.remove = remove_range,
	.arm = arm,
	.collect = collect,
	.child = child,
};
