/* Spans of threads against an array of flags. */
#include "analyzer/query/range_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 3, PLACES = 200, SPANS = 40 };

static void add(struct um_span *span, unsigned char flags[THREADS][PLACES], unsigned *seed)
{
	int thread = rand_r(seed) % THREADS, first = rand_r(seed) % PLACES;
	int last = first + rand_r(seed) % 12 - 2;

	last = last < PLACES ? last : PLACES - 1;
	*span = (struct um_span){thread, first, last};
	for (int i = first; i <= last; i++)
		flags[thread][i] = 1;
}

static void check(const struct um_span *spans, size_t count, unsigned char flags[THREADS][PLACES])
{
	for (int thread = 0; thread < THREADS; thread++)
		for (int i = 0; i < PLACES; i++)
			assert_int_equal(um_spans_hold(spans, count, thread, i), flags[thread][i]);
	for (size_t i = 1; i < count; i++)
		assert_true(spans[i - 1].thread < spans[i].thread ||
			    (spans[i - 1].thread == spans[i].thread &&
			     spans[i - 1].last < spans[i].first));
}

static void whatever_the_order(void **state)
{
	unsigned seed = 5;

	(void)state;
	for (int round = 0; round < 100; round++) {
		unsigned char flags[THREADS][PLACES] = {0};
		struct um_span spans[SPANS];
		size_t count = (size_t)rand_r(&seed) % SPANS;

		for (size_t i = 0; i < count; i++)
			add(&spans[i], flags, &seed);
		um_spans_merge(spans, &count);
		check(spans, count, flags);
	}
}

/* Of files from anyone; a range that never ended has no last op. */
static void ends_of_numbers(void **state)
{
	struct um_span spans[] = {{INT64_MIN, INT64_MAX, INT64_MAX},
				  {1, 7, INT64_MAX},
				  {1, 9, 8},
				  {INT64_MIN, INT64_MIN, 0}};
	size_t count = 4;

	(void)state;
	um_spans_merge(spans, &count);
	assert_int_equal(count, 3);
	assert_true(um_spans_hold(spans, count, INT64_MIN, INT64_MIN));
	assert_true(um_spans_hold(spans, count, INT64_MIN, INT64_MAX));
	assert_false(um_spans_hold(spans, count, INT64_MIN, 1));
	assert_true(um_spans_hold(spans, count, 1, INT64_MAX));
	assert_false(um_spans_hold(spans, count, 2, 7));
	assert_false(um_spans_hold(NULL, 0, 1, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_the_order),
		cmocka_unit_test(ends_of_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
