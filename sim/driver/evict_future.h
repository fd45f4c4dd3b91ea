/*
 * What comes: when each page of each allocation is touched by a device, as the trace has it. For
 * orders that look ahead, which no driver can.
 *
 * Touches have positions, the same for all devices: a launch's first groups, as many as the machine
 * keeps in flight, begin where the launch before ended, each further group where the first of those
 * ended; a group makes one touch a position. With one group in flight positions are the order in
 * which touches happen, exactly; with many they are the order in which they would happen if each
 * took the same time, which faults do not. So touches are counted: whatever the order in which a
 * simulation comes to them, the k-th touch of a cell is the one with the k-th position (of groups
 * that are in one cell at a time, one's stay there is counted before the other's).
 *
 * A cell is a driver's page (4 KiB to 2 MiB): what is closer is not told apart. Memory: 8 bytes for
 * each stay in a cell (touches of one group that follow each other; 24 while it is built), 32 for
 * each cell and reader. An allocation has cells up to the last that is touched.
 */
#ifndef UM_EVICT_FUTURE_H
#define UM_EVICT_FUTURE_H

#include "sim/machine/machine.h"
#include "trace/spool/access_stream.h"

#define UM_NOT_AGAIN UINT64_MAX

/* Positions stop there: about 10^12, more touches in a row than a trace could hold. */
#define UM_FUTURE_POSITIONS (UINT64_C(1) << 40)

struct um_future;

/* A power of two pages a cell. UM_ENOMEM. */
int um_future_create(struct um_future **out, um_page cell_pages);
void um_future_destroy(struct um_future *); /* NULL is legal */
/* A run of touches, the first at `position`. Its pages are all >= 0 and below 2^32. UM_ENOMEM. */
int um_future_add(struct um_future *, um_device_id, const struct um_access_run *,
		  uint64_t position);
/* Cells of a device's allocations together, 512 GiB of 4 KiB: about 5 GiB of memory. */
#define UM_FUTURE_CELLS_MAX (UINT64_C(1) << 27)

/* All were added; from now on it can be read. UM_ENOMEM, UM_ELIMIT. */
int um_future_seal(struct um_future *);

/* What a reader has seen of a device's future; several can be side by side. UM_ENOMEM. */
struct um_foresight;
int um_foresight_create(struct um_foresight **out, const struct um_future *, um_device_id);
void um_foresight_destroy(struct um_foresight *); /* NULL is legal */
/* Each of the pages was touched once more. */
void um_foresight_pass(struct um_foresight *, const struct um_page_range *);
/* A hint: the page is asked for soon. */
void um_foresight_ahead(const struct um_foresight *, um_alloc_id, um_page);
/* The position of the next touch of any of the pages; UM_NOT_AGAIN: there is none. O(log cells). */
uint64_t um_foresight_next(struct um_foresight *, const struct um_page_range *);

#endif
