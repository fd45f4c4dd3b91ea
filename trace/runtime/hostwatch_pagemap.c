#include "hostwatch_pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Linux 6.7, include/uapi/linux/fs.h; Debian 12's headers are older. */
struct um_page_region {
	uint64_t start, end, categories;
};
struct um_pm_scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted,
		category_mask, category_anyof_mask, return_mask;
};
#define UM_PAGEMAP_SCAN	   _IOWR('f', 16, struct um_pm_scan_arg)
#define UM_PAGE_IS_WRITTEN (1u << 1)
#define UM_PAGE_IS_PRESENT (1u << 3)

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_UFFD_WP (1ull << 57)

#define KEPT_FD_MIN	512  /* where this process may have as many */
#define GAP_PAGES	512u /* up to so many between two blocks: one scan is cheaper than two */
#define REGIONS_AT_ONCE 1024
#define ENTRIES_AT_ONCE 4096u

/* --- descriptors --- */

static int high_number(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= KEPT_FD_MIN + 8)
		return KEPT_FD_MIN;
	return limit.rlim_cur > 8 ? (int)limit.rlim_cur - 4 : 0;
}

bool um_watch_fd_keep(struct um_watch_fd *out, int fd)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, high_number());
	struct stat status;

	close(fd);
	*out = (struct um_watch_fd){.fd = kept};
	if (kept < 0 || fstat(kept, &status))
		return false;
	out->device = status.st_dev;
	out->inode = status.st_ino;
	return true;
}

bool um_watch_fd_alive(const struct um_watch_fd *kept)
{
	struct stat status;

	return !fstat(kept->fd, &status) && status.st_dev == kept->device &&
	       status.st_ino == kept->inode;
}

void um_watch_fd_close(struct um_watch_fd *kept)
{
	if (kept->fd >= 0 && um_watch_fd_alive(kept))
		close(kept->fd);
	kept->fd = -1;
}

/* --- page table --- */

bool um_pagemap_open(struct um_watch_fd *out)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && um_watch_fd_keep(out, fd);
}

typedef void region_call(const char *start, const char *end, bool written, void *context);

/* Linux 6.7. False with ENOTTY on older ones. */
static bool scan_by_ioctl(const struct um_watch_fd *pagemap, const char *start, const char *end,
			  region_call *region, void *context)
{
	static struct um_page_region found[REGIONS_AT_ONCE];
	struct um_pm_scan_arg scan = {
		.size = sizeof(scan),
		.start = (uintptr_t)start,
		.end = (uintptr_t)end,
		.vec = (uintptr_t)found,
		.vec_len = REGIONS_AT_ONCE,
		.category_mask = UM_PAGE_IS_PRESENT,
		.return_mask = UM_PAGE_IS_PRESENT | UM_PAGE_IS_WRITTEN,
	};

	for (int count = REGIONS_AT_ONCE; count == REGIONS_AT_ONCE;) {
		count = ioctl(pagemap->fd, UM_PAGEMAP_SCAN, &scan);
		if (count < 0)
			return false;
		for (int i = 0; i < count; i++)
			region((const char *)(uintptr_t)found[i].start,
			       (const char *)(uintptr_t)found[i].end,
			       found[i].categories & UM_PAGE_IS_WRITTEN, context);
		/*
		 * Not walk_end: when the kernel's own buffer ran full on the way, Linux 6.18 leaves
		 * there where that was, although the walk went on to the end.
		 */
		if (count > 0)
			scan.start = found[count - 1].end;
	}
	return true;
}

static void report_entries(const uint64_t *entry, size_t count, const char *start,
			   region_call *region, void *context)
{
	const uint64_t alike = PAGEMAP_PRESENT | PAGEMAP_UFFD_WP;

	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count; end++)
			if ((entry[end] ^ entry[first]) & alike)
				break;
		if (entry[first] & PAGEMAP_PRESENT)
			region(start + first * UM_PAGE_BYTES, start + end * UM_PAGE_BYTES,
			       !(entry[first] & PAGEMAP_UFFD_WP), context);
	}
}

static bool scan_by_reading(const struct um_watch_fd *pagemap, const char *start, const char *end,
			    region_call *region, void *context)
{
	static uint64_t entry[ENTRIES_AT_ONCE];

	while (start < end) {
		size_t pages = (size_t)(end - start) / UM_PAGE_BYTES;

		if (pages > ENTRIES_AT_ONCE)
			pages = ENTRIES_AT_ONCE;
		off_t at = (off_t)((uintptr_t)start / UM_PAGE_BYTES * sizeof(entry[0]));
		ssize_t bytes = pread(pagemap->fd, entry, pages * sizeof(entry[0]), at);

		if (bytes != (ssize_t)(pages * sizeof(entry[0])))
			return false;
		report_entries(entry, pages, start, region, context);
		start += pages * UM_PAGE_BYTES;
	}
	return true;
}

bool um_pagemap_scan(const struct um_watch_fd *pagemap, const char *start, const char *end,
		     region_call *region, void *context)
{
	if (scan_by_ioctl(pagemap, start, end, region, context))
		return true;
	/* Nothing was reported yet: the ioctl is there or it is not. */
	return errno == ENOTTY && scan_by_reading(pagemap, start, end, region, context);
}

static void emit_region(const char *start, const char *end, bool written, void *context)
{
	um_watch_emit *const *emit = context;
	const char *base = um_watch_address(0);

	(*emit)((uint64_t)(start - base) >> UM_PAGE_SHIFT, (uint64_t)(end - base) >> UM_PAGE_SHIFT,
		written ? UM_TOUCH_WRITTEN : UM_TOUCH_READ);
}

bool um_pagemap_scan_blocks(const struct um_watch_fd *pagemap, struct um_watch_blocks blocks,
			    um_watch_emit *emit)
{
	for (size_t first = 0, next; first < blocks.count; first = next) {
		for (next = first + 1; next < blocks.count; next++)
			if (blocks.block[next].first_page - blocks.block[next - 1].end_page >
			    GAP_PAGES)
				break;
		if (!um_pagemap_scan(pagemap, um_watch_address(blocks.block[first].first_page),
				     um_watch_address(blocks.block[next - 1].end_page), emit_region,
				     &emit))
			return false;
	}
	return true;
}
