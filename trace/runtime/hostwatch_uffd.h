/* What both uses of userfaultfd need: a descriptor out of the program's way, and the page table. */
#ifndef UM_HOSTWATCH_UFFD_H
#define UM_HOSTWATCH_UFFD_H

#include "hostwatch_method.h"

#include <sys/stat.h>

/* MADV_DONTNEED_LOCKED (Linux 5.18): drops page-table entries, also of memory that mlock() locked.
 */
#define UM_MADV_DROP 24

/*
 * A descriptor that the program did not open: close-on-exec, with a number it will not meet. A
 * program that closes every descriptor there is closes ours too, so each use asks whether it is
 * still it.
 */
struct um_watch_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* Moves `fd` to a high number; takes it over, also on failure. */
bool um_watch_fd_keep(struct um_watch_fd *out, int fd);
bool um_watch_fd_alive(const struct um_watch_fd *);
void um_watch_fd_close(struct um_watch_fd *);

/*
 * Opens userfaultfd with the flags of userfaultfd(2) and `features` (UFFD_FEATURE_*), all of which
 * must be there.
 */
bool um_uffd_open(struct um_watch_fd *out, int flags, uint64_t features);
/* Registers the program's mapping for write protection, and keeps huge pages out of the arena. */
bool um_uffd_register_arena(const struct um_watch_fd *);
bool um_uffd_protect(const struct um_watch_fd *, char *start, size_t bytes, bool protect);

/* Opens /proc/self/pagemap. */
bool um_pagemap_open(struct um_watch_fd *out);
/* Calls `region` for each run of present pages alike, ascending. `written`: not write-protected. */
bool um_pagemap_scan(const struct um_watch_fd *, const char *start, const char *end,
		     void (*region)(const char *start, const char *end, bool written, void *),
		     void *context);
/* The same over all blocks, as pages of the arena; the small gaps between blocks are scanned too.
 */
bool um_pagemap_scan_blocks(const struct um_watch_fd *, struct um_watch_blocks,
			    um_watch_emit *emit);

/* Takes a few pages of its own through one interval: true if reads and writes are told apart. */
bool um_uffd_try(const struct um_watch_fd *uffd, const struct um_watch_fd *pagemap);

#endif
