/* At which sizes of memory a curve has its points. */
#include "curve_command.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>

static uint64_t whole_pages(uint64_t bytes, uint64_t page_bytes)
{
	return bytes / page_bytes * page_bytes;
}

/* An end of the range, as given. */
static int read_end(uint64_t *bytes, const char *text, const struct um_curve_result *result)
{
	struct um_memory_limit limit;
	int error = um_memory_limit_parse(&limit, text);

	if (error)
		return error;
	if (limit.times > 0 && !result->footprint_bytes)
		return um_fail(UM_EINVAL,
			       "%s of nothing: the trace has no managed or device memory; "
			       "give bytes",
			       text);
	*bytes = limit.bytes;
	if (limit.times > 0)
		*bytes = (uint64_t)(limit.times * (double)result->footprint_bytes);
	return 0;
}

static int read_range(uint64_t *from, uint64_t *to, const struct um_curve_result *result,
		      const struct um_curve_command *command)
{
	uint64_t page_bytes = result->run.replays->page_bytes;
	int error = 0;

	*to = whole_pages(result->footprint_bytes + page_bytes - 1, page_bytes);
	if (command->to)
		error = read_end(to, command->to, result);
	else if (!*to)
		error = um_fail(UM_EINVAL, "the trace has no managed or device memory: --to says "
					   "where the curve ends");
	if (error)
		return error;
	*from = *to / command->points;
	if (command->from)
		error = read_end(from, command->from, result);
	if (!error && *from > *to)
		error = um_fail(UM_EINVAL, "a curve from %s up to less",
				command->from ? command->from : "a step");
	if (!error && *to > UM_MEMORY_BYTES_MAX)
		error = um_fail(UM_EINVAL, "no device has so much memory");
	return error;
}

/* The n-th of so many, the last at `to`. */
static uint64_t nth(uint64_t from, uint64_t to, uint64_t n, uint64_t count)
{
	return count == 1
		       ? to
		       : from + (uint64_t)((double)(to - from) * (double)n / (double)(count - 1));
}

int um_curve_place_points(struct um_curve_result *result, const struct um_curve_command *command)
{
	struct um_curve *curve = &result->curve;
	uint64_t page_bytes = result->run.replays->page_bytes, from, to;
	int error = read_range(&from, &to, result, command);

	if (error)
		return error;
	curve->points = calloc(command->points, sizeof(*curve->points));
	if (!curve->points)
		return um_fail(UM_ENOMEM, "no memory for %llu points",
			       (unsigned long long)command->points);
	for (uint64_t i = 0; i < command->points; i++) {
		uint64_t bytes = whole_pages(nth(from, to, i, command->points), page_bytes);

		bytes = bytes ? bytes : page_bytes;
		if (!curve->count || bytes > curve->points[curve->count - 1].memory_bytes)
			curve->points[curve->count++].memory_bytes = bytes;
	}
	return 0;
}
