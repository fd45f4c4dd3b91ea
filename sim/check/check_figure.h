/* A predicted figure beside the measured one, the card's own spread, and the error. */
#ifndef UM_CHECK_FIGURE_H
#define UM_CHECK_FIGURE_H

#include "check_quantity.h"

/*
 * `least` and `most` are of the repetitions, `measured` is their median (the mean of the two in the
 * middle where they are even). One repetition has no spread: all three are the same.
 */
struct um_check_figure {
	bool is_predicted;
	double predicted;
	const char
		*origin; /* of the measured: "measured", "imported"; NULL: the trace tells none */
	size_t repetitions; /* 0: not measured */
	bool is_least;	    /* records are missing: what was measured is the least that there was */
	double measured, least, most;
	bool is_other; /* of another program than what was measured (check_calls.h) */
};

/* Sets the measured part; `values` are sorted. `count` may be 0. */
void um_check_figure_measured(struct um_check_figure *, double *values, size_t count,
			      const char *origin);
/* Both sides have it, and it is not beyond a measurement that is only the least there was. */
bool um_check_is_compared(const struct um_check_figure *);
/*
 * (predicted - measured) / measured, 0.01 is 1 %; of a measured 0 it is 0 or INFINITY. Only of one that
 * is compared; so the next three.
 */
double um_check_error(const struct um_check_figure *);
/* (most - least) / measured; 0 where nothing was measured. */
double um_check_spread(const struct um_check_figure *);
/* Whether some repetition had as little and some as much: no error that could be told from chance. */
bool um_check_is_within(const struct um_check_figure *);
/*
 * Whether it is neither within the spread nor within `limit` (0.01 is 1 %) of the median: beyond the
 * larger of the two.
 */
bool um_check_is_beyond(const struct um_check_figure *, double limit);

#endif
