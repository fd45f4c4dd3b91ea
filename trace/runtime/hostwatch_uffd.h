/*
 * Write protection by userfaultfd: what its two ways, asynchronous and synchronous, have in common.
 *
 * An interval starts with no page-table entries in the program's mapping but "write-protected"
 * markers, so that a page is present once touched, and free of write protection once written.
 *
 * A touch of an armed page is a page fault of this process. As long as its count of faults stays
 * where it was, nothing was touched, and neither arm nor collect looks at the page table. (Touches
 * by another process, process_vm_writev(), count there; they are found one interval late.)
 *
 * Registered memory has no fault-around, so that a read maps one page and not its neighbours.
 * Limit: a page that the system swaps out within the interval is no longer present, and missed.
 */
#ifndef UM_HOSTWATCH_UFFD_H
#define UM_HOSTWATCH_UFFD_H

#include "hostwatch_pagemap.h"

struct um_uffd_watch {
	struct um_watch_fd uffd, pagemap;
	/* Opens both anew after the program closed them; NULL where that cannot be. */
	bool (*reopen)(void);
	const char *registered; /* base of the arena that was registered */
	uint64_t faults;	/* of the process, when everything was last found armed */
	bool stale;		/* new descriptors: nothing but what was added since is armed */
	bool opened;		/* for a kernel: the same */
};

/*
 * Opens userfaultfd with the flags of userfaultfd(2) and `features` (UFFD_FEATURE_*), all of which
 * must be there.
 */
bool um_uffd_open(struct um_watch_fd *out, int flags, uint64_t features);
bool um_uffd_protect(const struct um_watch_fd *, char *start, size_t bytes, bool protect);
/* Takes a few pages of its own through one interval: true if reads and writes are told apart. */
bool um_uffd_try(const struct um_uffd_watch *);

/* What struct um_watch_method wants. */
bool um_uffd_add(struct um_uffd_watch *, struct um_watch_range);
bool um_uffd_remove(struct um_uffd_watch *, struct um_watch_range);
bool um_uffd_arm(struct um_uffd_watch *, struct um_watch_blocks);
bool um_uffd_rearm(struct um_uffd_watch *, struct um_watch_blocks);
bool um_uffd_collect(struct um_uffd_watch *, struct um_watch_blocks, um_watch_emit *);
bool um_uffd_open_blocks(struct um_uffd_watch *, struct um_watch_blocks);
void um_uffd_close(struct um_uffd_watch *);

#endif
