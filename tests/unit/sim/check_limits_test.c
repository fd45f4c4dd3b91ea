/* --max-error, and what is beyond it. */
#include "sim/check/check_limits.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct um_check_limits limits;

static void assert_refused(const char *text, const char *words)
{
	assert_int_equal(um_check_limits_parse(&limits, text), UM_EINVAL);
	if (!strstr(um_error_message(), words))
		fail_msg("%s: not \"%s\": %s", text, words, um_error_message());
}

static void limits_are_read(void **state)
{
	(void)state;
	assert_int_equal(um_check_limits_parse(&limits, "bytes=1%,time=25%,kernel_time=2.5%"), 0);
	assert_true(um_check_limit_of(&limits, UM_CHECK_BYTES_TO_HOST)->limit == 0.01);
	assert_true(um_check_limit_of(&limits, UM_CHECK_TRANSFER_TIME)->limit == 0.25);
	assert_true(um_check_limit_of(&limits, UM_CHECK_KERNEL_TIME)->limit == 0.025);
	assert_null(um_check_limit_of(&limits, UM_CHECK_CPU_FAULTS));
	assert_int_equal(um_check_limits_parse(&limits, "cpu_faults=0%"), 0);
}

static void what_is_no_limit_is_refused(void **state)
{
	(void)state;
	assert_refused("", "is no limit");
	assert_refused("bytes", "is no limit");
	assert_refused("bytes=", "is no limit");
	assert_refused("bytes=%", "is no limit");
	assert_refused("bytes=1", "is no limit");
	assert_refused("bytes=-1%", "is no limit");
	assert_refused("bytes=nan%", "is no limit");
	assert_refused("bytes=1e999%", "is no limit");
	assert_refused("bytes=1%,", "behind the last comma");
	assert_refused("bytes=1%/", "is no limit");
	assert_refused("bytes=1%/x", "is no limit");
	assert_refused("bytes=/1%", "is no limit");
	assert_refused("byte=1%", "did you mean \"bytes\"");
	assert_refused("record_to_host=1%", "did you mean \"records_to_host\"");
	assert_refused("speed=1%", "there are bytes, records");
	assert_refused("speed=1%", "fault_kernel_time");
	assert_refused("records to=1%", "no quantity");
	assert_refused("records to host too=1%", "no quantity");
}

/* By name, group, title and head, whatever stands between words. */
static void quantities_have_all_their_names(void **state)
{
	(void)state;
	for (int q = 0; q < UM_CHECK_QUANTITIES; q++) {
		const struct um_check_quantity_info *info = &um_check_quantities[q];
		const char *const names[] = {info->name, info->group, info->title};

		for (size_t i = 0; i < 3; i++) {
			char text[64];

			snprintf(text, sizeof(text), "%s=3%%", names[i]);
			assert_int_equal(um_check_limits_parse(&limits, text), 0);
			assert_non_null(um_check_limit_of(&limits, (enum um_check_quantity)q));
		}
	}
	assert_int_equal(um_check_limits_parse(&limits, "remote maps, bytes=1%,Kernel Time=2%"), 0);
	assert_int_equal(limits.count, 2);
	assert_true(um_check_limit_of(&limits, UM_CHECK_KERNEL_TIME)->limit == 0.02);
	assert_null(um_check_limit_of(&limits, UM_CHECK_REMOTE_MAPS));
}

/* 1000 measured, 900 to 1100 in all. */
static struct um_check_figure figure(double predicted)
{
	return (struct um_check_figure){.is_predicted = true,
					.predicted = predicted,
					.origin = "measured",
					.repetitions = 3,
					.measured = 1000,
					.least = 900,
					.most = 1100};
}

struct seen {
	char text[512];
};

static void see(void *context, const char *range, enum um_check_quantity quantity,
		const struct um_check_figure *beyond, const struct um_check_limit *limit)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	snprintf(seen->text + used, sizeof(seen->text) - used, "%s %s %g > %g;",
		 range ? range : "total", um_check_quantities[quantity].name,
		 um_check_error(beyond), limit->limit);
}

/* The larger of the limit and the spread is in force. */
static void what_is_within_the_spread_is_not_beyond(void **state)
{
	static char name[] = "r";
	struct um_check_row range = {.name = name};
	struct um_check_comparison comparison = {.ranges = {&range, 1, 1}};
	struct seen seen = {""};

	(void)state;
	comparison.total.figures[UM_CHECK_KERNEL_TIME] = figure(1100);
	range.figures[UM_CHECK_KERNEL_TIME] = figure(1150);
	range.figures[UM_CHECK_TRANSFER_TIME] = figure(1050);
	assert_int_equal(um_check_limits_parse(&limits, "time=5%"), 0);
	assert_int_equal(um_check_limits_hold(&limits, &comparison, see, &seen), 1);
	assert_string_equal(seen.text, "r kernel_time 0.15 > 0.05;");
	assert_int_equal(um_check_limits_parse(&limits, "time=15%"), 0);
	assert_int_equal(um_check_limits_hold(&limits, &comparison, see, &seen), 0);
	range.figures[UM_CHECK_KERNEL_TIME].measured = 0;
	range.figures[UM_CHECK_KERNEL_TIME].most = 0;
	range.figures[UM_CHECK_KERNEL_TIME].least = 0;
	assert_int_equal(um_check_limits_hold(&limits, &comparison, see, &seen), 1);
	assert_int_equal(um_check_limits_parse(&limits, "maps=5%"), 0);
	assert_int_equal(um_check_limits_hold(&limits, &comparison, see, &seen), UM_ECHECK);
}

static void see_quantile(void *context, enum um_check_quantity quantity, const char *quantile,
			 double error, double limit)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	snprintf(seen->text + used, sizeof(seen->text) - used, "%s %s %g > %g;",
		 um_check_quantities[quantity].name, quantile, error, limit);
}

/* Ten entries, 1 to 10 % off: the median is the fifth, the 90th percentile the ninth. */
static void a_table_is_held_by_its_quantiles(void **state)
{
	static char name[] = "e";
	struct um_check_entry entries[11];
	struct um_check_table table = {entries, 11, 11};
	struct seen seen = {""};

	(void)state;
	for (int i = 0; i < 11; i++) {
		entries[i] = (struct um_check_entry){.name = name, .is_test = true};
		entries[i].figures[UM_CHECK_KERNEL_TIME] = figure(1010 + 10 * i);
		entries[i].figures[UM_CHECK_KERNEL_TIME].least = 1000;
		entries[i].figures[UM_CHECK_KERNEL_TIME].most = 1000;
	}
	entries[10].figures[UM_CHECK_KERNEL_TIME].predicted = 9000;
	entries[10].figures[UM_CHECK_KERNEL_TIME].is_other = true;
	assert_int_equal(um_check_limits_parse(&limits, "time=4.9%/8.9%"), 0);
	assert_true(um_check_limits_have_ninetieth(&limits));
	assert_int_equal(
		um_check_limits_hold_table(&limits, &table, UM_CHECK_TEST, see_quantile, &seen), 2);
	assert_string_equal(
		seen.text,
		"kernel_time median 0.05 > 0.049;kernel_time 90th percentile 0.09 > 0.089;");
	assert_int_equal(um_check_limits_parse(&limits, "time=1%,kernel_time=5.1%"), 0);
	assert_false(um_check_limits_have_ninetieth(&limits));
	assert_int_equal(
		um_check_limits_hold_table(&limits, &table, UM_CHECK_TEST, see_quantile, &seen), 0);
	assert_int_equal(
		um_check_limits_hold_table(&limits, &table, UM_CHECK_TRAINING, see_quantile, &seen),
		UM_ECHECK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_read),
		cmocka_unit_test(what_is_no_limit_is_refused),
		cmocka_unit_test(what_is_within_the_spread_is_not_beyond),
		cmocka_unit_test(quantities_have_all_their_names),
		cmocka_unit_test(a_table_is_held_by_its_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
