/*
 * Where ranges reach, as spans of ops of a thread or of time: merged, so that what lies in many of them at
 * once counts once, and costs no more than what lies in one.
 */
#ifndef UM_RANGE_SPANS_H
#define UM_RANGE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_span {
	int64_t thread;	     /* or whatever keeps spans apart */
	int64_t first, last; /* both belong to it */
};

/* Brings them in order, of one thread apart; those that end before they begin go. */
void um_spans_merge(struct um_span *, size_t *count);
/* Whether one of these, which have been merged, has it. */
bool um_spans_hold(const struct um_span *, size_t count, int64_t thread, int64_t at);

#endif
