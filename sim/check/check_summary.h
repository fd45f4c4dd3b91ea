/* How large the errors of a table are, of one quantity over a set of its entries. */
#ifndef UM_CHECK_SUMMARY_H
#define UM_CHECK_SUMMARY_H

#include "check_table.h"

enum um_check_set { UM_CHECK_TRAINING, UM_CHECK_TEST, UM_CHECK_SETS };
extern const char *const um_check_set_names[UM_CHECK_SETS];

/*
 * Of the entries that are compared and have something: predicted or measured is not 0. Errors are
 * without their sign, 0.01 is 1 %, INFINITY where nothing was measured; quantiles are those of the
 * nearest rank (of n the ceil(q n)-th).
 */
struct um_check_summary {
	size_t count, exact, within; /* within the card's spread, the exact ones too */
	double median, ninetieth, largest;
	const char *worst; /* the entry of the largest; NULL: count is 0 */
};

/* UM_ENOMEM. */
int um_check_summarize(struct um_check_summary *, const struct um_check_table *, enum um_check_set,
		       enum um_check_quantity);
/* Calls `take` with every summary of a table that is of something, set by set. UM_ENOMEM. */
typedef void (*um_check_summary_fn)(void *context, enum um_check_set, enum um_check_quantity,
				    const struct um_check_summary *);
int um_check_each_summary(const struct um_check_table *, um_check_summary_fn take, void *context);
enum um_check_set um_check_set_of(const struct um_check_entry *);
/* Whether an entry counts in the summary of a quantity; those of another program do not. */
bool um_check_counts(const struct um_check_figure *);

#endif
