/*
 * What a launch did to each page: a flat array by page of the arena and, behind them, of pageable
 * memory (pageable.h), memory only where pages are touched, and the set of touched pages, which gives
 * them back in order.
 */
#ifndef UM_RECORDER_PAGES_H
#define UM_RECORDER_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* One cache line. All 0: not touched in this launch. */
struct um_page {
	uint64_t lines_read, lines_written;
	/* Lines that already count as a request of the wave and instruction of this stamp. */
	uint64_t request_lines, request_stamp;
	uint64_t emitted[2]; /* stream: number of its last emission as read, as write */
	uint32_t requests, atomics;
	uint32_t allocation; /* not 0 once touched */
	uint32_t first_page; /* of the allocation among all pages */
};
/* On um_page.first_page. */
#define UM_PAGE_WRITTEN_FIRST	0x80000000u
#define UM_PAGE_ATOMIC_FLOAT	0x40000000u
#define UM_PAGE_ATOMIC_HARDWARE 0x20000000u
#define UM_PAGE_FLAGS		0xe0000000u /* pages are fewer: UM_PAGEABLE_PAGES_END */

extern struct um_page *um_pages;

/* Maps the array, once. UM_ENOMEM. */
int um_pages_init(void);
/* For a page whose record is all 0. False when the page belongs to no allocation. */
bool um_page_touch(uint32_t number, bool written_first);
/*
 * Sends PAGES of the op and makes every record all 0 again. Returns how many lines were touched, one
 * that was both read and written twice.
 */
uint64_t um_pages_send(uint32_t op);

#endif
