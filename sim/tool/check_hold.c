/* --max-error: what exceeds, by name. */
#include "check_command.h"

#include "trace/base/error.h"
#include "trace/base/text_table.h"

/* The first of them by name, since a simulator that is far off is so in many figures. */
#define TOLD_MAX 20

static void tell_beyond(void *context, const char *range, enum um_check_quantity quantity,
			const struct um_check_figure *figure, const struct um_check_limit *limit)
{
	const struct um_check_quantity_info *info = &um_check_quantities[quantity];
	char predicted[48], measured[48], error[48];
	int *told = context;

	if (++*told > TOLD_MAX)
		return;
	fputs("umsim: ", stderr);
	um_text_print(stderr, range ? range : "in total");
	fprintf(stderr, ": %s: predicted %s, measured %s, %s (limit %g %%)\n", info->name,
		um_check_format(predicted, sizeof(predicted), info->unit, figure->predicted),
		um_check_format(measured, sizeof(measured), info->unit, figure->measured),
		um_check_beyond_text(error, sizeof(error), figure), limit->limit * 100);
}

static int hold_calls(const struct um_check_arguments *arguments,
		      const struct um_check_comparison *comparison)
{
	if (!arguments->limits.count || arguments->allow_other_calls || !comparison->is_other)
		return 0;
	return um_fail(UM_ECHECK,
		       "not the same program was measured, which --max-error is no test of "
		       "(--allow-other-calls holds the errors all the same)");
}

int um_check_hold(const struct um_check_arguments *arguments,
		  const struct um_check_comparison *comparison)
{
	int told = arguments->quiet ? TOLD_MAX : 0;
	long beyond = arguments->limits.count ? um_check_limits_hold(&arguments->limits, comparison,
								     tell_beyond, &told)
					      : 0;

	if (beyond < 0)
		return (int)beyond;
	if (!beyond)
		return hold_calls(arguments, comparison);
	return um_fail(UM_ECHECK, "%ld figures are beyond --max-error", beyond);
}

/* --- a folder --- */

static void tell_quantile(void *context, enum um_check_quantity quantity, const char *quantile,
			  double error, double limit)
{
	char text[32];

	if (!*(const bool *)context)
		fprintf(stderr, "umsim: %s: the errors' %s is %s (limit %g %%)\n",
			um_check_quantities[quantity].name, quantile,
			um_check_size_text(text, sizeof(text), error), limit * 100);
}

int um_check_hold_all(const struct um_check_all *all)
{
	const struct um_check_arguments *arguments = all->arguments;
	enum um_check_set set = arguments->test_set ? UM_CHECK_TEST : UM_CHECK_TRAINING;
	bool is_quiet = arguments->quiet;
	long beyond = um_check_limits_hold_table(&arguments->limits, &all->table, set,
						 tell_quantile, &is_quiet);

	if (beyond < 0)
		return (int)beyond;
	return beyond ? um_fail(UM_ECHECK, "%ld errors of the %s are beyond --max-error", beyond,
				arguments->test_set ? "test set" : "whole table")
		      : 0;
}
