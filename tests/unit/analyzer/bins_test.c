/* Bins: nothing is lost or made up, whatever is spread over however many. */
#include "analyzer/query/bins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BINS = 100 };

static int64_t sum_of(const struct um_bins *bins, int64_t *out)
{
	int64_t sum = 0;

	um_bins_read(bins, out);
	for (size_t i = 0; i < um_bins_count(bins); i++) {
		assert_true(out[i] >= 0);
		sum += out[i];
	}
	return sum;
}

static void spreads_evenly(void **state)
{
	struct um_bins *bins;
	int64_t out[BINS];

	(void)state;
	assert_int_equal(um_bins_create(&bins, BINS), 0);
	um_bins_add(bins, 10, 20, 1000);
	um_bins_add(bins, 15.5, 16.5, 10);
	assert_int_equal(sum_of(bins, out), 1010);
	assert_int_equal(um_bins_total(bins), 1010);
	for (size_t i = 0; i < BINS; i++)
		assert_int_equal(out[i], i < 10 || i >= 20 ? 0 : i == 15 || i == 16 ? 105 : 100);
	um_bins_destroy(bins);
}

static void keeps_what_lies_outside(void **state)
{
	struct um_bins *bins;
	int64_t out[BINS];

	(void)state;
	assert_int_equal(um_bins_create(&bins, BINS), 0);
	um_bins_add(bins, -50, -40, 7);
	um_bins_add(bins, 500, 600, 11);
	um_bins_add(bins, 100, 100, 13);
	um_bins_add(bins, 42, 42, 3);
	um_bins_add(bins, 42, 41, 5);
	um_bins_add(bins, 0, 100, -1);
	assert_int_equal(sum_of(bins, out), 39);
	assert_int_equal(out[0], 7);
	assert_int_equal(out[42], 8);
	assert_int_equal(out[BINS - 1], 24);
	um_bins_destroy(bins);
}

/* Sums up to a bin are those of what was added up to there, to less than one. */
static void loses_nothing(void **state)
{
	struct um_bins *bins;
	int64_t out[BINS], total = 0;
	double before[BINS] = {0};

	(void)state;
	srand(7);
	assert_int_equal(um_bins_create(&bins, BINS), 0);
	for (int i = 0; i < 20000; i++) {
		double start = rand() % 100000 / 1000.0, end = start + rand() % 30000 / 1000.0;
		int64_t amount = 1 + rand() % 100000;

		end = end < BINS ? end : BINS;
		um_bins_add(bins, start, end, amount);
		total += amount;
		for (size_t bin = 0; bin < BINS; bin++) {
			double edge = (double)bin + 1;
			double part = end > start ? (edge - start) / (end - start) : edge > start;

			before[bin] += (double)amount * (part < 0 ? 0 : part > 1 ? 1 : part);
		}
	}
	assert_int_equal(sum_of(bins, out), total);
	for (size_t bin = 0, sum = 0; bin < BINS; bin++) {
		sum += (size_t)out[bin];
		assert_true((double)sum - before[bin] < 1.001 && before[bin] - (double)sum < 1.001);
	}
	um_bins_destroy(bins);
}

/* What ended leaves nothing behind, though 0.1 + 0.2 - 0.3 is not 0. */
static void ends_what_ended(void **state)
{
	struct um_bins *bins;
	int64_t out[BINS];

	(void)state;
	assert_int_equal(um_bins_create(&bins, BINS), 0);
	for (int i = 0; i < 1000; i++)
		um_bins_add(bins, 3.1 + i % 7 * 0.1, 40.7 + i % 3 * 0.01, 1000003);
	assert_int_equal(sum_of(bins, out), INT64_C(1000003000));
	for (size_t i = 41; i < BINS; i++)
		assert_int_equal(out[i], 0);
	um_bins_destroy(bins);
}

static void says_too_much(void **state)
{
	struct um_bins *bins;
	int64_t out[2];

	(void)state;
	assert_int_equal(um_bins_create(&bins, 2), 0);
	um_bins_add(bins, 0, 2, INT64_MAX);
	um_bins_add(bins, 0, 2, INT64_MAX);
	assert_int_equal(um_bins_total(bins), INT64_MAX);
	assert_int_equal(sum_of(bins, out), INT64_MAX);
	um_bins_destroy(bins);
	um_bins_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spreads_evenly), cmocka_unit_test(keeps_what_lies_outside),
		cmocka_unit_test(loses_nothing),  cmocka_unit_test(ends_what_ended),
		cmocka_unit_test(says_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
