/*
 * Synchronous write protection, for kernels from 5.19 that lack the asynchronous kind: a thread of
 * ours lifts the protection of each page that is written. Reads are found in the page table, as
 * with hostwatch_wp_async.c. System calls on watched pages wait for the thread like any other
 * access, which is why the kernel asks for CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd=1.
 *
 * While a kernel runs nothing is protected: a write costs about 6 microseconds otherwise.
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

static struct um_uffd_watch watch = {.uffd = {.fd = -1}, .pagemap = {.fd = -1}};

static void serve(const struct uffd_msg *message)
{
	if (message->event != UFFD_EVENT_PAGEFAULT)
		return;
	uintptr_t page = message->arg.pagefault.address & ~(uintptr_t)(UM_PAGE_BYTES - 1);

	/* Wakes the thread that waits; ENOENT: the memory went away meanwhile. */
	if (um_uffd_protect(&watch.uffd, (char *)page, UM_PAGE_BYTES, false))
		return;
	struct uffdio_range range = {page, UM_PAGE_BYTES};

	ioctl(watch.uffd.fd, UFFDIO_WAKE, &range);
}

/*
 * For the life of the process: the kernel lets go of those who wait only when the last user does.
 */
static void *serve_for_ever(void *unused)
{
	struct uffd_msg message[FAULTS_AT_ONCE];

	for (;;) {
		ssize_t bytes = read(watch.uffd.fd, message, sizeof(message));

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
	if (um_uffd_open(&watch.uffd, 0, FEATURES) && um_pagemap_open(&watch.pagemap) &&
	    start_thread() && um_uffd_try(&watch))
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

static bool open_blocks(struct um_watch_blocks blocks)
{
	return um_uffd_open_blocks(&watch, blocks);
}

static void child(void)
{
	um_uffd_close(&watch);
}

const struct um_watch_method um_watch_uffd_sync = {
	.kind = UM_HOST_WATCH_UFFD_SYNC,
	.threads = 1,
	.start = start,
	.add = add,
	.remove = remove_range,
	.arm = arm,
	.rearm = rearm,
	.collect = collect,
	.open = open_blocks,
	.child = child,
};
