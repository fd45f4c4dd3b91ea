/* --max-error: which errors are too large. */
#ifndef UM_CHECK_LIMITS_H
#define UM_CHECK_LIMITS_H

#include "check_compare.h"

#define UM_CHECK_LIMITS_MAX 32

struct um_check_limit {
	char name[32]; /* of a quantity, or of a group */
	double limit;  /* 0.01 is 1 % */
};

struct um_check_limits {
	struct um_check_limit limits[UM_CHECK_LIMITS_MAX];
	size_t count;
};

/*
 * "bytes=1%,records=15%": the later goes where two are of one quantity. UM_EINVAL: no such quantity or
 * group (with what may have been meant), no percentage.
 */
int um_check_limits_parse(struct um_check_limits *, const char *text);
/* The limit of a quantity; NULL: none. */
const struct um_check_limit *um_check_limit_of(const struct um_check_limits *,
					       enum um_check_quantity);

/* A figure that is beyond its limit (um_check_is_beyond()). `range` is NULL for the total. */
typedef void (*um_check_beyond_fn)(void *context, const char *range, enum um_check_quantity,
				   const struct um_check_figure *, const struct um_check_limit *);
/*
 * Calls `beyond` for each such figure of the total and of every range; returns how many. A limit of
 * which no figure of the total could be compared is UM_ECHECK, named.
 */
long um_check_limits_hold(const struct um_check_limits *, const struct um_check_comparison *,
			  um_check_beyond_fn beyond, void *context);

#endif
