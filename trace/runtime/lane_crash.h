/*
 * Says which lane crashed. While a launch runs, the signals of a kernel's mistakes come here first:
 * one line on stderr, then they go where they would have gone, to the program's handler or to the
 * end of the process.
 */
#ifndef UM_LANE_CRASH_H
#define UM_LANE_CRASH_H

/* The calling thread runs kernels from here on. */
void um_crash_watch(void);
/* It does no longer; the program's handlers are back in place. */
void um_crash_unwatch(void);

#endif
