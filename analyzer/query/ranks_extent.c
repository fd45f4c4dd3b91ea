/* Least, median, most, and which rank lies far from the others. */
#include "ranks_parts.h"

#include "query.h"
#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * An outlier is more than 3.5 standard deviations from the median, where 1.4826 times the median absolute
 * deviation stands for one (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993), of at least
 * four ranks. ASSUMPTION: what is within a tenth of the median is of no interest, however alike the others
 * are.
 */
#define OUTLIER_DEVIATIONS 3.5
#define DEVIATION_OF_MAD   1.4826
#define OUTLIER_SHARE	   0.1
#define OUTLIER_RANKS	   4

void um_extent_init(struct um_extent *extent)
{
	*extent = (struct um_extent){
		.sum = UM_NULL, .least = UM_NULL, .most = UM_NULL, .median = UM_NULL};
}

int64_t um_ranks_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (a == UM_NULL || b == UM_NULL || __builtin_add_overflow(a, b, &sum))
		return UM_NULL;
	return sum;
}

void um_extent_add(struct um_extent *extent, int64_t value, size_t at)
{
	if (value == UM_NULL)
		return;
	extent->sum = extent->known ? um_ranks_sum(extent->sum, value) : value;
	if (!extent->known || value < extent->least) {
		extent->least = value;
		extent->least_at = at;
	}
	if (!extent->known || value > extent->most) {
		extent->most = value;
		extent->most_at = at;
	}
	extent->known++;
}

static int64_t figure(const struct um_rank *rank, const struct um_ranks_quantity *quantity)
{
	return *(const int64_t *)((const char *)rank + quantity->offset);
}

static int compare_integers(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Of an even number the lower of the two in the middle: a figure that some rank has. */
static int64_t median_of(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_integers);
	return values[(count - 1) / 2];
}

static int compare_distances(const void *a, const void *b)
{
	const struct um_ranks_outlier *left = a, *right = b;

	if (left->deviations != right->deviations)
		return left->deviations < right->deviations ? 1 : -1;
	return (left->at > right->at) - (left->at < right->at);
}

static int add_outlier(struct um_rank_group *group, const struct um_ranks_outlier *outlier)
{
	struct um_ranks_outlier *added =
		um_query_append(&group->outliers, &group->outlier_count, sizeof(*added));

	if (!added)
		return UM_ENOMEM;
	*added = *outlier;
	return 0;
}

/* Of ranks that are all but alike, the ones that are not are any number of deviations away. */
static int find_outliers(struct um_rank_group *group, const struct um_ranks_quantity *quantity,
			 int64_t median, double deviation)
{
	int error = 0;

	for (size_t i = 0; i < group->count && !error; i++) {
		int64_t value = figure(&group->ranks[i], quantity);
		double distance = fabs((double)value - (double)median);

		if (value == UM_NULL || distance <= OUTLIER_SHARE * fabs((double)median) ||
		    distance <= OUTLIER_DEVIATIONS * deviation)
			continue;
		error = add_outlier(
			group,
			&(struct um_ranks_outlier){
				.at = i,
				.quantity = quantity,
				.value = value,
				.median = median,
				.deviations = deviation > 0 ? distance / deviation : INFINITY,
			});
	}
	return error;
}

/* The time that a CPU took to play a program is not the program's. */
static bool is_comparable(const struct um_rank_group *group,
			  const struct um_ranks_quantity *quantity)
{
	return group->is_measured || group->is_simulation ||
	       quantity->offset != offsetof(struct um_rank, time_ns);
}

static int compare_one(struct um_rank_group *group, const struct um_ranks_quantity *quantity,
		       struct um_extent *extent, int64_t *values)
{
	size_t known = 0;

	um_extent_init(extent);
	for (size_t i = 0; i < group->count; i++) {
		int64_t value = figure(&group->ranks[i], quantity);

		um_extent_add(extent, value, i);
		if (value != UM_NULL)
			values[known++] = value;
	}
	if (!known)
		return 0;
	extent->median = median_of(values, known);
	if (known < OUTLIER_RANKS || !is_comparable(group, quantity))
		return 0;
	for (size_t i = 0; i < known; i++) {
		double distance = fabs((double)values[i] - (double)extent->median);

		values[i] = distance < 0x1p62 ? (int64_t)distance : INT64_MAX;
	}
	return find_outliers(group, quantity, extent->median,
			     DEVIATION_OF_MAD * (double)median_of(values, known));
}

int um_ranks_compare(struct um_rank_group *group)
{
	int64_t *values = calloc(group->count + 1, sizeof(*values));
	int error = values ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; um_rank_quantities[i].name && !error; i++)
		error = compare_one(group, &um_rank_quantities[i], &group->extents[i], values);
	if (group->outlier_count)
		qsort(group->outliers, group->outlier_count, sizeof(*group->outliers),
		      compare_distances);
	free(values);
	return error;
}
