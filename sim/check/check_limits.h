/* --max-error: which errors are too large. */
#ifndef UM_CHECK_LIMITS_H
#define UM_CHECK_LIMITS_H

#include "check_compare.h"
#include "check_summary.h"

#define UM_CHECK_LIMITS_MAX 32

struct um_check_limit {
	char name[48];	  /* of a quantity, or of a group */
	double limit;	  /* 0.01 is 1 %; of a table: of the median */
	double ninetieth; /* of a table: of the 90th percentile; INFINITY: none */
};

struct um_check_limits {
	struct um_check_limit limits[UM_CHECK_LIMITS_MAX];
	size_t count;
};

/*
 * "bytes=1%,records=15%/35%": the later goes where two are of one quantity; the second percentage is
 * that of the 90th percentile. UM_EINVAL: no such quantity or group (with what may have been meant, or
 * all that there are), no percentage.
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

/* A quantile of a table's errors that is beyond its limit: "median" or "90th percentile". */
typedef void (*um_check_table_beyond_fn)(void *context, enum um_check_quantity,
					 const char *quantile, double error, double limit);
/*
 * The same for a table: of each quantity the median and 90th percentile of the set's errors, without
 * their sign. UM_ECHECK: of a limit nothing was compared; UM_ENOMEM.
 */
long um_check_limits_hold_table(const struct um_check_limits *, const struct um_check_table *,
				enum um_check_set, um_check_table_beyond_fn beyond, void *context);
/* Whether some limit is of a 90th percentile, which one program has not. */
bool um_check_limits_have_ninetieth(const struct um_check_limits *);

#endif
