#include "check_summary.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <math.h>
#include <stdlib.h>

const char *const um_check_set_names[UM_CHECK_SETS] = {
	[UM_CHECK_TRAINING] = "training",
	[UM_CHECK_TEST] = "test",
};

enum um_check_set um_check_set_of(const struct um_check_entry *entry)
{
	return entry->is_test ? UM_CHECK_TEST : UM_CHECK_TRAINING;
}

bool um_check_counts(const struct um_check_figure *figure)
{
	return um_check_is_compared(figure) && !figure->is_other &&
	       (figure->predicted > 0 || figure->measured > 0);
}

static double quantile(const double *sorted, size_t count, double q)
{
	size_t rank = (size_t)ceil(q * (double)count);

	return sorted[rank ? rank - 1 : 0];
}

int um_check_summarize(struct um_check_summary *out, const struct um_check_table *table,
		       enum um_check_set set, enum um_check_quantity quantity)
{
	double *errors = calloc(table->count + 1, sizeof(*errors));

	*out = (struct um_check_summary){0};
	if (!errors)
		return um_fail(UM_ENOMEM, "no memory for a summary");
	for (size_t i = 0; i < table->count; i++) {
		const struct um_check_entry *entry = &table->entries[i];
		const struct um_check_figure *figure = &entry->figures[quantity];
		double error;

		if (um_check_set_of(entry) != set || !um_check_counts(figure))
			continue;
		error = fabs(um_check_error(figure));
		out->exact += error == 0;
		out->within += error == 0 || um_check_is_within(figure);
		if (!out->worst || error > out->largest) {
			out->worst = entry->name;
			out->largest = error;
		}
		errors[out->count++] = error;
	}
	if (out->count) {
		um_sort_values(errors, out->count);
		out->median = quantile(errors, out->count, 0.5);
		out->ninetieth = quantile(errors, out->count, 0.9);
	}
	free(errors);
	return 0;
}

int um_check_each_summary(const struct um_check_table *table, um_check_summary_fn take,
			  void *context)
{
	int error = 0;

	for (int set = 0; set < UM_CHECK_SETS && !error; set++)
		for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES && !error; q++) {
			struct um_check_summary summary;

			error = um_check_summarize(&summary, table, (enum um_check_set)set,
						   (enum um_check_quantity)q);
			if (!error && summary.count)
				take(context, (enum um_check_set)set, (enum um_check_quantity)q,
				     &summary);
		}
	return error;
}
