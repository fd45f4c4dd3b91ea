#include "sim/calibrate/least_squares.h"
#include "trace/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct um_samples *samples, double a, double b, double value, double fixed,
		size_t group)
{
	const struct um_sample sample = {
		.terms = {a, b}, .value_ns = value, .fixed_ns = fixed, .group = group};

	assert_int_equal(um_samples_add(samples, &sample), 0);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

/* 3 us each of the first, 0.5 us each of the second, and what is fixed. */
static void exact_costs_are_found(void **state)
{
	struct um_samples samples = {.terms = 2};
	struct um_fit fit;

	(void)state;
	for (int i = 1; i <= 100; i++)
		add(&samples, i % 7, i, 3000 * (i % 7) + 500 * i + 1000 * i, 1000 * i,
		    (size_t)i % 3);
	assert_int_equal(um_least_squares(&fit, &samples), 0);
	assert_true(is_near(fit.costs_ns[0], 3000));
	assert_true(is_near(fit.costs_ns[1], 500));
	assert_true(fit.p90_error < 1e-9 && fit.group_p90_error < 1e-9);
	assert_int_equal(fit.samples, 100);
	assert_int_equal(fit.groups, 3);
	um_samples_free(&samples);
}

/* The best second cost is below 0: it is 0, and the first is the best without. */
static void no_cost_is_negative(void **state)
{
	struct um_samples samples = {.terms = 2};
	struct um_fit fit;

	(void)state;
	add(&samples, 1, 1, 90, 0, 0);
	add(&samples, 1, 0, 100, 0, 0);
	add(&samples, 2, 3, 170, 0, 1);
	assert_int_equal(um_least_squares(&fit, &samples), 0);
	assert_true(fit.costs_ns[1] == 0);
	/* (90/90 + 100/100 + 2*170/170) / (1/90 + 1/100 + 4/170): the normal equation. */
	assert_true(is_near(fit.costs_ns[0], 4 / (1 / 90. + 1 / 100. + 4 / 170.)));
	um_samples_free(&samples);
}

static void errors_are_of_samples_and_of_groups(void **state)
{
	struct um_samples samples = {.terms = 1};
	struct um_fit fit;

	(void)state;
	/* One cost of 100: 20 % off each, the groups' sums are right. */
	for (size_t i = 0; i < 10; i++) {
		add(&samples, 1, 0, 80, 0, i);
		add(&samples, 1, 0, 120, 0, i);
	}
	assert_int_equal(um_least_squares(&fit, &samples), 0);
	double cost = fit.costs_ns[0];
	assert_true(cost > 95 && cost < 100); /* 2 / (1/80 + 1/120) = 96 */
	assert_true(is_near(fit.p90_error, fmax(fabs(cost / 80 - 1), fabs(cost / 120 - 1))));
	assert_true(is_near(fit.group_median_error, fabs(2 * cost / 200 - 1)));
	um_samples_free(&samples);
}

/* A tenth has something else in it. */
static void deviations_ignore_what_is_odd(void **state)
{
	struct um_samples samples = {.terms = 2};
	struct um_fit squares, deviations;

	(void)state;
	for (int i = 1; i <= 100; i++)
		add(&samples, 1, i, 5000 + 100 * i + (i % 10 ? 0 : 50000), 0, 0);
	assert_int_equal(um_least_squares(&squares, &samples), 0);
	assert_int_equal(um_least_deviations(&deviations, &samples), 0);
	assert_true(fabs(deviations.costs_ns[0] - 5000) < 100);
	assert_true(fabs(deviations.costs_ns[1] - 100) < 2);
	assert_true(fabs(squares.costs_ns[0] - 5000) > 10 * fabs(deviations.costs_ns[0] - 5000));
	um_samples_free(&samples);
}

static void what_cannot_be_told(void **state)
{
	struct um_samples samples = {.terms = 2};
	struct um_fit fit;

	(void)state;
	add(&samples, 1, 1, 100, 0, 0);
	assert_int_equal(um_least_squares(&fit, &samples), UM_ELIMIT);
	assert_string_equal(um_error_message(), "1 measured times are too few for 2 costs");
	/* The two always come together: they share. */
	add(&samples, 2, 2, 200, 0, 0);
	add(&samples, 3, 3, 300, 0, 0);
	assert_int_equal(um_least_squares(&fit, &samples), 0);
	assert_true(is_near(fit.costs_ns[0] + fit.costs_ns[1], 100));
	/* Nobody has the second. */
	for (size_t i = 0; i < samples.count; i++)
		samples.at[i].terms[1] = 0;
	assert_int_equal(um_least_squares(&fit, &samples), 0);
	assert_true(is_near(fit.costs_ns[0], 100));
	assert_true(fit.costs_ns[1] == 0);
	um_samples_free(&samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_costs_are_found),
		cmocka_unit_test(no_cost_is_negative),
		cmocka_unit_test(errors_are_of_samples_and_of_groups),
		cmocka_unit_test(deviations_ignore_what_is_odd),
		cmocka_unit_test(what_cannot_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
