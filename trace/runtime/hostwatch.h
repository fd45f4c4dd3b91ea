/*
 * Which pages of managed memory the host touched between device operations: each page at most once
 * for reading and once for writing per interval. Works on the arena (arena.h); sees the program's
 * mapping only, never the alias.
 *
 *   arm()      after a device operation: from now on touches of the host count
 *   collect()  before the next one: what was touched since; from here to arm() touches do not count
 *   split()    in between, of a part: what was touched there since; and it is armed again at once
 *   open()     before code of the device runs on the program's mapping: it need not pay for
 * watching
 */
#ifndef UM_HOSTWATCH_H
#define UM_HOSTWATCH_H

#include "../spool/spool_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Picks the best method that works here (tries it on a page of its own), once. Returns it.
 * `wanted` other than UM_HOST_WATCH_BEST insists on one method; UM_HOST_WATCH_NONE if that fails.
 */
enum um_host_watch um_hostwatch_init(uint32_t wanted);
/* Before it: who touches is told, too. Only mprotect sees it, so that it is the only one tried. */
void um_hostwatch_ask_places(void);
/*
 * Of a page that the run which is being told has, and of one access (enum um_fault_access): in the how
 * many-eth touch of the interval it came first, counted from 1, and the number of the place
 * (hostwatch_place.h; 0: not known). Touch 0: it did not come. False: places were not asked for.
 */
struct um_page_touch {
	uint32_t touch, place;
};
bool um_hostwatch_touch(uint64_t page, unsigned access, struct um_page_touch *touch);
/* Managed allocations come and go: arena offsets in bytes, whole pages. A new range is armed. */
void um_hostwatch_add(uint64_t offset, uint64_t bytes);
void um_hostwatch_remove(uint64_t offset, uint64_t bytes);
/* Watches all ranges anew. Cheap when nothing was touched since the last time. */
void um_hostwatch_arm(void);
/*
 * Calls `run` for each run of consecutive pages touched alike, ascending, whole pages of the arena:
 * touch is UM_TOUCH_READ or UM_TOUCH_WRITTEN (a written page may have been read before: the method
 * does not tell). A run never spans two ranges that were added apart.
 */
void um_hostwatch_collect(void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *),
			  void *context);
/*
 * Between arm() and collect(): what was touched of these arena pages, as collect() tells it. From here
 * on they count anew; all others are left to collect().
 */
void um_hostwatch_split(uint64_t first_page, uint64_t end_page,
			void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *),
			void *context);
/* Between collect() and arm(): touches by kernels cost nothing (or little) until arm(). */
void um_hostwatch_open(void);
/* What the method in use cannot see, for the trace; NULL when there is nothing to say. */
const char *um_hostwatch_limits(void);
/* Why watching ended or has a gap, once; NULL while it works. */
const char *um_hostwatch_trouble(void);
/* Threads of the program that are ours. */
uint32_t um_hostwatch_threads(void);
/* In the child of a fork: forgets everything. */
void um_hostwatch_child(void);

#endif
