/* FIRST..LAST/STEPS of a sweep. A part of sweep_axis.c. */
#ifndef UM_SWEEP_RANGE_H
#define UM_SWEEP_RANGE_H

/*
 * Calls `take` with each value's text, which lives for the call; its result other than 0 is returned.
 * UM_EINVAL with `what` before it.
 */
int um_sweep_range_parse(const char *text, const char *what,
			 int (*take)(void *context, const char *text), void *context);

#endif
