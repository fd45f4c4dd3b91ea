/*
 * Non-negative linear least squares: what parts cost whose sums were measured. A part of calibrate.h.
 */
#ifndef UM_LEAST_SQUARES_H
#define UM_LEAST_SQUARES_H

#include <stddef.h>

#define UM_LEAST_SQUARES_TERMS_MAX 16

/* One measured time: how often each term is in it. */
struct um_sample {
	double terms[UM_LEAST_SQUARES_TERMS_MAX];
	double value_ns; /* measured, > 0 */
	double fixed_ns; /* of that, what is known already */
	size_t group;	 /* whose total it is part of, from 0 */
};

struct um_samples {
	struct um_sample *at; /* owned */
	size_t count, capacity;
	size_t terms;
};

/* UM_ENOMEM. */
int um_samples_add(struct um_samples *, const struct um_sample *);
void um_samples_free(struct um_samples *);

struct um_fit {
	double costs_ns[UM_LEAST_SQUARES_TERMS_MAX]; /* of each term, >= 0 */
	size_t samples, groups;
	/* |fitted / measured - 1|: of samples, and of the sums of groups */
	double median_error, p90_error, group_median_error, group_p90_error;
};

/*
 * The costs >= 0 with the least sum of (measured - fitted)^2 / measured (the error of a time grows as
 * its root); LAPACK's least squares within the active sets of Lawson and Hanson ("Solving Least
 * Squares Problems", 1974, chapter 23). A term that no sample has costs 0. UM_ELIMIT: fewer samples
 * than terms; UM_ENOMEM.
 */
int um_least_squares(struct um_fit *, const struct um_samples *);
/*
 * The same for the least sum of |measured - fitted|, which a few samples with something else in them
 * do not move.
 */
int um_least_deviations(struct um_fit *, const struct um_samples *);

#endif
