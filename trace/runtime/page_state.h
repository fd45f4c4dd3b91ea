/*
 * What the program advised about the pages of an allocation and where it prefetched them last: a
 * list of runs of equal pages, so its size follows the calls, not the memory.
 */
#ifndef UM_PAGE_STATE_H
#define UM_PAGE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of every page alike. Devices are ordinals, hipCpuDeviceId or hipInvalidDeviceId for none. */
struct um_page_advice {
	int32_t preferred;
	int32_t prefetched;
	uint32_t accessed_by; /* bit d: device d */
	bool accessed_by_host;
	bool read_mostly;
	bool coarse_grain;
};

struct um_page_state;

/* The state of pages that nothing was said about. */
struct um_page_advice um_page_advice_none(void);
/* NULL when out of memory. */
struct um_page_state *um_page_state_new(uint64_t pages);
void um_page_state_free(struct um_page_state *);
/* Changes pages [first, first + pages). False when out of memory; then nothing is changed. */
bool um_page_state_change(struct um_page_state *, uint64_t first, uint64_t pages,
			  void (*change)(struct um_page_advice *, int32_t), int32_t argument);
/* Calls `see` for each run that touches [first, first + pages), ascending. */
void um_page_state_look(const struct um_page_state *, uint64_t first, uint64_t pages,
			void (*see)(const struct um_page_advice *, void *), void *context);

#endif
