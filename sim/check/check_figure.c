#include "check_figure.h"

#include "trace/base/sorted.h"

#include <math.h>

void um_check_figure_measured(struct um_check_figure *figure, double *values, size_t count,
			      const char *origin)
{
	figure->origin = origin;
	figure->repetitions = count;
	if (!count)
		return;
	um_sort_values(values, count);
	figure->least = values[0];
	figure->most = values[count - 1];
	figure->measured =
		count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

bool um_check_is_compared(const struct um_check_figure *figure)
{
	return figure->is_predicted && figure->repetitions > 0 &&
	       !(figure->is_least && figure->predicted > figure->most);
}

double um_check_error(const struct um_check_figure *figure)
{
	double difference = figure->predicted - figure->measured;

	if (difference == 0)
		return 0;
	return figure->measured > 0 ? difference / figure->measured : INFINITY;
}

double um_check_spread(const struct um_check_figure *figure)
{
	return figure->measured > 0 ? (figure->most - figure->least) / figure->measured : 0;
}

bool um_check_is_within(const struct um_check_figure *figure)
{
	return figure->least <= figure->predicted && figure->predicted <= figure->most;
}

bool um_check_is_beyond(const struct um_check_figure *figure, double limit)
{
	return !um_check_is_within(figure) && fabs(um_check_error(figure)) > limit;
}
