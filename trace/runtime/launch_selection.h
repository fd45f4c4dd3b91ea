/*
 * Which launches run with hooks: umtrace's criteria (../spool/selection.h) held against a kernel's name,
 * the number of the launch, the ranges that the launching thread has open, and the program's calls
 * of hipProfilerStart(), roctxProfilerPause() and their like. Callers hold the runtime lock, and umtrace
 * started the program (um_tracer_on()).
 */
#ifndef UM_LAUNCH_SELECTION_H
#define UM_LAUNCH_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

/* Counts a launch of the kernel with this symbol; whether it is to be recorded in detail. */
bool um_launch_is_selected(const char *symbol);
/* Whether a range of that name makes launches within it selected. */
bool um_range_selects(const char *name);
/* The profiler's switch, of all threads (0) or of one, by the system's id of it. */
void um_profiler_switch(bool on, uint32_t thread);

/* user_range.c: whether this thread has a range open for which um_range_selects(). */
bool um_in_selecting_range(void);

#endif
