/* --max-change of umanalyze diff: which totals may not differ by more. */
#ifndef UM_DIFF_LIMITS_H
#define UM_DIFF_LIMITS_H

#include "diff.h"

struct um_diff_limits {
	double limit[UM_DIFF_QUANTITIES]; /* 0.01 is 1 % of the first file's figure; < 0: none */
	bool any;
};

/* None. */
void um_diff_limits_init(struct um_diff_limits *);
/*
 * "bytes=1%,device_faults=0%": groups are bytes, time, and counts; the later goes where two are of one quantity.
 * UM_EINVAL: no such quantity or group, no percentage.
 */
int um_diff_limits_parse(struct um_diff_limits *, const char *text);

/* A total that changed by more; of what was 0, any change is. */
typedef void (*um_diff_beyond_fn)(void *context, enum um_diff_quantity, int64_t a, int64_t b,
				  double limit);
/*
 * Calls `beyond` for each total that is; returns how many. UM_ECHECK: none of those that were asked
 * for can be compared.
 */
long um_diff_limits_hold(const struct um_diff_limits *, const struct um_diff *, um_diff_beyond_fn,
			 void *context);

#endif
