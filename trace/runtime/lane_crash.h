/*
 * A kernel's mistakes end its launch, not the process. While a launch runs, their signals come here
 * first: one line on stderr names kernel, lane and address, and the launch fails: with
 * hipErrorIllegalAddress for memory that it must not touch, with hipErrorLaunchFailure for the rest.
 * Signals of other threads, and of code that cannot be left (it may hold a lock of the C library),
 * go where they would have gone: to the program's handler or to the end of the process.
 */
#ifndef UM_LANE_CRASH_H
#define UM_LANE_CRASH_H

/* The calling thread runs kernels from here on. */
void um_crash_watch(void);
/* It does no longer; the program's handlers are back in place. */
void um_crash_unwatch(void);

#endif
