#include "check_segments.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right)
{
	const struct um_check_range *a = *(struct um_check_range *const *)left,
				    *b = *(struct um_check_range *const *)right;
	int names = strcmp(a->name, b->name);

	return names ? names : (a->nth > b->nth) - (a->nth < b->nth);
}

/* Pointers to the ranges, by name; malloc'ed. */
static const struct um_check_range **sort_ranges(const struct um_check_side *side)
{
	const struct um_check_range **sorted =
		calloc(side->range_count + 1, sizeof(const struct um_check_range *));

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < side->range_count; i++)
		sorted[i] = &side->ranges[i];
	qsort(sorted, side->range_count, sizeof(*sorted), by_name);
	return sorted;
}

static const struct um_check_range *find(const struct um_check_range **sorted, size_t count,
					 const struct um_check_range *like)
{
	const struct um_check_range **found =
		bsearch(&like, sorted, count, sizeof(*sorted), by_name);

	return found ? *found : NULL;
}

/* Those of `side` that `other` lacks; malloc'ed. */
static size_t *only_here(size_t *count, const struct um_check_side *side,
			 const struct um_check_side *other)
{
	const struct um_check_range **sorted = sort_ranges(other);
	size_t *only = calloc(side->range_count + 1, sizeof(*only));

	*count = 0;
	for (size_t i = 0; sorted && only && i < side->range_count; i++)
		if (!find(sorted, other->range_count, &side->ranges[i]))
			only[(*count)++] = i;
	if (!sorted) {
		free(only);
		only = NULL;
	}
	free(sorted);
	return only;
}

/* Marks the parts of one measured side in the segments, which are of all ranges by now. */
static int find_parts(struct um_check_segments *all, const struct um_check_side *side, size_t which)
{
	const struct um_check_range **sorted = sort_ranges(side);

	if (!sorted)
		return UM_ENOMEM;
	for (size_t i = 0; i < all->count; i++) {
		const struct um_check_range *range =
			find(sorted, side->range_count, all->segments[i].range);

		if (range)
			all->segments[i].measured[which] =
				(struct um_check_part){true, range->first, range->end};
	}
	free(sorted);
	return 0;
}

static bool is_measured(const struct um_check_segment *segment, size_t measured_count)
{
	for (size_t i = 0; i < measured_count; i++)
		if (segment->measured[i].is_there)
			return true;
	return false;
}

/* Leaves those that some measured side has too, and tells which of them lie in no other. */
static void keep_common(struct um_check_segments *all, size_t measured_count)
{
	size_t kept = 0, outer_end = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct um_check_segment segment = all->segments[i];

		if (!is_measured(&segment, measured_count))
			continue;
		segment.is_outermost = segment.predicted.first >= outer_end;
		if (segment.is_outermost)
			outer_end = segment.predicted.end;
		all->segments[kept++] = segment;
	}
	all->count = kept;
	all->has_ranges = kept > 0;
}

static int make_ranges(struct um_check_segments *all, const struct um_check_side *predicted,
		       const struct um_check_side *measured, size_t measured_count)
{
	int error = 0;

	all->count = predicted->range_count;
	for (size_t i = 0; i < all->count; i++) {
		const struct um_check_range *range = &predicted->ranges[i];

		all->segments[i] = (struct um_check_segment){
			.range = range,
			.predicted = {true, range->first, range->end},
			.measured = &all->parts[i * measured_count],
		};
	}
	for (size_t k = 0; k < measured_count && !error; k++)
		error = find_parts(all, &measured[k], k);
	if (!error)
		keep_common(all, measured_count);
	return error;
}

static void make_whole_run(struct um_check_segments *all, const struct um_check_side *predicted,
			   const struct um_check_side *measured, size_t measured_count)
{
	all->count = 1;
	all->segments[0] = (struct um_check_segment){
		.is_outermost = true,
		.predicted = {true, 0, predicted->op_count},
		.measured = all->parts,
	};
	for (size_t k = 0; k < measured_count; k++)
		all->parts[k] = (struct um_check_part){true, 0, measured[k].op_count};
}

int um_check_segments_find(struct um_check_segments *all, const struct um_check_side *predicted,
			   const struct um_check_side *measured, size_t measured_count)
{
	int error = 0;

	*all = (struct um_check_segments){0};
	all->segments = calloc(predicted->range_count + 1, sizeof(*all->segments));
	all->parts = calloc((predicted->range_count + 1) * measured_count, sizeof(*all->parts));
	all->only_predicted = only_here(&all->only_predicted_count, predicted, measured);
	all->only_measured = only_here(&all->only_measured_count, measured, predicted);
	if (!all->segments || !all->parts || !all->only_predicted || !all->only_measured)
		error = UM_ENOMEM;
	if (!error)
		error = make_ranges(all, predicted, measured, measured_count);
	if (error)
		return um_fail(UM_ENOMEM, "no memory for the ranges of %s", predicted->path);
	if (!all->has_ranges)
		make_whole_run(all, predicted, measured, measured_count);
	return 0;
}

void um_check_segments_free(struct um_check_segments *all)
{
	free(all->segments);
	free(all->parts);
	free(all->only_predicted);
	free(all->only_measured);
	*all = (struct um_check_segments){0};
}
