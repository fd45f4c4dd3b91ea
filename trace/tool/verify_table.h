/* What umtrace verify says: change by change, and whether any was missed. */
#ifndef UM_VERIFY_TABLE_H
#define UM_VERIFY_TABLE_H

#include "verify_figures.h"

#include <stdio.h>

#define UM_VERIFY_REPEATS_MAX 100

struct um_verify {
	const char *policy, *command;
	bool measured; /* what was achieved; else a model's, of what the program did */
	size_t repeats;
	struct um_verify_run predicted[2]; /* without the policy, and under it */
	struct um_verify_run achieved[2][UM_VERIFY_REPEATS_MAX];
	double tolerance, time_tolerance; /* as parts of one: of bytes and faults, of time */
};

/* A figure in short. Changes are parts of what it was without the policy: -0.5 is half of it less. */
struct um_verify_row {
	bool is_known;
	double predicted_before, predicted_after, before, after; /* medians of what was achieved */
	double predicted_change, change;
	double least, most; /* of the changes, each run against the median before */
	double missed_by;   /* beyond the runs' own spread */
	bool is_missed;
};
void um_verify_row(struct um_verify_row *, const struct um_verify *, enum um_verify_figure);
bool um_verify_is_missed(const struct um_verify *);

/* UM_EIO, UM_ENOMEM. */
int um_verify_print(FILE *, const struct um_verify *);
int um_verify_print_json(FILE *, const struct um_verify *);

#endif
