/* Descriptors out of the program's way, and the page table: which pages are present and written. */
#ifndef UM_HOSTWATCH_PAGEMAP_H
#define UM_HOSTWATCH_PAGEMAP_H

#include "hostwatch_method.h"

#include <sys/stat.h>

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

/* Opens /proc/self/pagemap. */
bool um_pagemap_open(struct um_watch_fd *out);
/* Calls `region` for each run of present pages alike, ascending. `written`: not write-protected. */
bool um_pagemap_scan(const struct um_watch_fd *, const char *start, const char *end,
		     void (*region)(const char *start, const char *end, bool written, void *),
		     void *context);
/*
 * The same over all blocks, as pages of the arena; the small gaps between blocks are scanned too.
 */
bool um_pagemap_scan_blocks(const struct um_watch_fd *, struct um_watch_blocks,
			    um_watch_emit *emit);

#endif
