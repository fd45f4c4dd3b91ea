/* Least, median, most and outliers; tests/cli/umanalyze_ranks.sh sees the rest from outside. */
#include "analyzer/query/ranks_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_extent_has_what_is_known(void **state)
{
	struct um_extent extent;

	(void)state;
	um_extent_init(&extent);
	um_extent_add(&extent, UM_NULL, 0);
	assert_int_equal(extent.known, 0);
	assert_int_equal(extent.sum, UM_NULL);
	um_extent_add(&extent, 5, 1);
	um_extent_add(&extent, 3, 2);
	um_extent_add(&extent, 5, 3);
	assert_int_equal(extent.known, 3);
	assert_int_equal(extent.sum, 13);
	assert_int_equal(extent.least, 3);
	assert_int_equal(extent.least_at, 2);
	assert_int_equal(extent.most, 5);
	assert_int_equal(extent.most_at, 1);
	um_extent_add(&extent, INT64_MAX, 4);
	assert_int_equal(extent.sum, UM_NULL);
	um_extent_add(&extent, 1, 5);
	assert_int_equal(extent.sum, UM_NULL);
	assert_int_equal(extent.most, INT64_MAX);
}

/* Ranks whose faults these are, and of which nothing else is known. */
static struct um_rank_group make_group(struct um_rank *ranks, const int64_t *faults, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ranks[i] = (struct um_rank){.rank = (int64_t)i, .device_faults = faults[i]};
		for (const struct um_ranks_quantity *other = um_rank_quantities; other->name;
		     other++)
			if (other->offset != offsetof(struct um_rank, device_faults))
				memcpy((char *)&ranks[i] + other->offset, &(int64_t){UM_NULL},
				       sizeof(int64_t));
	}
	return (struct um_rank_group){.ranks = ranks, .count = count};
}

static void expect(const int64_t *faults, size_t count, int64_t median, size_t outliers, size_t at)
{
	struct um_rank ranks[16];
	struct um_rank_group group = make_group(ranks, faults, count);
	const struct um_extent *extent = NULL;

	assert_int_equal(um_ranks_compare(&group), 0);
	for (size_t i = 0; um_rank_quantities[i].name; i++)
		if (um_rank_quantities[i].offset == offsetof(struct um_rank, device_faults))
			extent = &group.extents[i];
		else
			assert_int_equal(group.extents[i].known, 0);
	assert_non_null(extent);
	assert_int_equal(extent->median, median);
	assert_int_equal(group.outlier_count, outliers);
	if (outliers)
		assert_int_equal(group.outliers[0].at, at);
	free(group.outliers);
}

#define EXPECT(median, outliers, at, ...)                                                          \
	expect((const int64_t[]){__VA_ARGS__},                                                     \
	       sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), median, outliers, at)

static void outliers_are_far_from_the_median(void **state)
{
	(void)state;
	EXPECT(10, 0, 0, 10, 10, 10, 10);
	EXPECT(10, 1, 2, 10, 10, 40, 10, 10);
	/* All but alike: within a tenth is of no interest. */
	EXPECT(100, 0, 0, 100, 100, 109, 100, 100);
	EXPECT(100, 1, 2, 100, 100, 111, 100, 100);
	/* Far, but no farther than the others are. */
	EXPECT(50, 0, 0, 10, 30, 50, 70, 90);
	EXPECT(102, 1, 5, 100, 101, 102, 103, 104, 1000);
	/* The furthest comes first, and one too few counts as well. */
	EXPECT(102, 2, 0, -9000, 101, 102, 103, 104, 1000);
	/* Of three ranks none can be told from the others. */
	EXPECT(10, 0, 0, 10, 10, 1000);
	EXPECT(10, 1, 4, 10, UM_NULL, 10, 10, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_extent_has_what_is_known),
		cmocka_unit_test(outliers_are_far_from_the_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
