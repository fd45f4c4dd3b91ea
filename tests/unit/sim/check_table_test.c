/* A folder's repetitions, its table, what is summed up of it, and its choices. */
#include "check_fixture.h"

#include "sim/check/check_choices.h"
#include "sim/check/check_summary.h"
#include "trace/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct um_check_folder folder;
static struct um_check_table table;

static int open_all(void **state)
{
	(void)state;
	ck_open();
	folder = (struct um_check_folder){0};
	table = (struct um_check_table){0};
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	um_check_repetitions_free(&folder.figures);
	um_check_repetitions_free(&folder.times);
	um_check_names_free(&folder.test_set);
	um_check_table_free(&table);
	ck_close();
	return 0;
}

static void read_repetitions(struct um_check_repetitions *out, const char *name, const char *text)
{
	if (um_check_repetitions_read(out, ck_file(name, text)))
		fail_msg("%s", um_error_message());
}

static void assert_refused(const char *text, const char *words)
{
	struct um_check_repetitions all;

	assert_int_equal(um_check_repetitions_read(&all, ck_file("bad.tsv", text)), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), words));
}

static void repetitions_are_read(void **state)
{
	const struct um_check_repetition *rows;
	struct um_check_repetitions none;
	size_t count;

	(void)state;
	read_repetitions(&folder.figures, "figures.tsv",
			 "gpu\t1\tb\t5\t6\nall\t1\tb\t7\t8\ngpu\t2\tb\t9\t\ngpu\t1\ta\t1\n");
	rows = um_check_repetitions_of(&folder.figures, "gpu", "b", &count);
	assert_int_equal(count, 2);
	assert_true(rows[0].values[0] + rows[1].values[0] == 14);
	assert_int_equal(rows[0].count + rows[1].count, 3);
	assert_null(um_check_repetitions_of(&folder.figures, "off", "b", &count));
	assert_int_equal(count, 0);
	assert_int_equal(um_check_repetitions_read(&none, "/no/such/file"), 0);
	assert_int_equal(none.count, 0);
	assert_refused("gpu\t1\ta\t1\ngpu\t1\n", "bad.tsv:2: ");
	assert_refused("gpu\t1\ta\tx\n", "bad.tsv:1: ");
	assert_refused("gpu\t1\ta\t-1\n", "bad.tsv:1: ");
	assert_refused("gpu\t1\ta\t1\t\t2\n", "bad.tsv:1: ");
	assert_refused("g\t1\ta\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n", "bad.tsv:1: ");
}

/* The two ranges of the fixture; the kept repetition's first kernel took 5000 of its 5000 ns. */
static void add_two_ranges(void)
{
	struct um_check_side predicted = ck_side("p.um.db", ck_two_ranges);
	struct um_check_side measured = ck_side("m.um.db", ck_two_ranges);
	struct um_check_comparison comparison;

	assert_int_equal(um_check_compare(&comparison, &predicted, &measured, 1), 0);
	assert_int_equal(um_check_table_add(&table, &comparison, "run", &folder, &predicted), 0);
	um_check_comparison_free(&comparison);
	um_check_side_free(&predicted);
	um_check_side_free(&measured);
}

static void what_is_measured_is_of_all_repetitions(void **state)
{
	const struct um_check_entry *first, *second;

	(void)state;
	read_repetitions(&folder.figures, "figures.tsv",
			 "gpu\t1\tfirst\t65536\t2\t0\t0\t1\t3\t0\t0\t2000\t4000\t1\n"
			 "gpu\t2\tfirst\t65536\t4\t0\t0\t1\t3\t0\t0\t2600\t8000\t1\n"
			 "gpu\t3\tfirst\t65536\t3\t0\t0\t1\t3\t0\t0\t2400\t5000\t1\n"
			 "all\t1\tfirst\t65536\t2\t0\t0\t1\t3\t2\t0\t2000\t5000\t1\n"
			 "gpu\t1\tsecond\t4096\n");
	read_repetitions(&folder.times, "times.tsv",
			 "untraced\t1\tfirst\t99\t4000\nuntraced\t2\tfirst\t99\t6000\n"
			 "gpu\t1\tfirst\t99\t9999\nuntraced\t1\tsecond\t99\t\n");
	assert_int_equal(um_check_names_read(&folder.test_set,
					     ck_file("test_set.txt", "# drawn\r\nsecond\r\n\r\n")),
			 0);
	add_two_ranges();
	assert_int_equal(table.count, 2);
	first = um_check_table_find(&table, "first");
	second = um_check_table_find(&table, "second");
	assert_false(first->is_test);
	assert_true(second->is_test);
	assert_true(first->figures[UM_CHECK_RECORDS_TO_DEVICE].measured == 3);
	assert_true(first->figures[UM_CHECK_RECORDS_TO_DEVICE].most == 4);
	assert_true(first->figures[UM_CHECK_KERNEL_TIME].measured == 5000);
	assert_true(first->figures[UM_CHECK_FAULT_KERNEL_TIME].most == 8000);
	assert_true(first->figures[UM_CHECK_CPU_FAULTS].repetitions == 1);
	/* Waited for: 5000 of 7000 ns of kernels and transfers; in the median repetition 7400. */
	assert_true(fabs(first->figures[UM_CHECK_WAIT_TIME].measured - 7400 * 5.0 / 7) < 1e-6);
	assert_true(first->figures[UM_CHECK_STEP_TIME].measured == 5000);
	assert_true(first->figures[UM_CHECK_STEP_TIME].predicted == 5000);
	/* Of the other the repetitions tell the bytes; all else is what its trace has. */
	assert_true(second->figures[UM_CHECK_BYTES_TO_DEVICE].measured == 4096);
	assert_true(second->figures[UM_CHECK_KERNEL_TIME].measured == 700);
	assert_int_equal(second->figures[UM_CHECK_STEP_TIME].repetitions, 0);
}

/* An entry of given predicted and measured bytes to the device and time waited for. */
static void add_entry(const char *name, bool is_test, double predicted, double measured,
		      double spread)
{
	struct um_check_entry *entry;

	assert_int_equal(um_check_room(&table.entries, table.count, &table.room, sizeof(*entry)),
			 0);
	entry = &table.entries[table.count++];
	*entry = (struct um_check_entry){.name = strdup(name), .is_test = is_test};
	entry->figures[UM_CHECK_WAIT_TIME] = (struct um_check_figure){
		.is_predicted = true,
		.predicted = predicted,
		.origin = "measured",
		.repetitions = 3,
		.measured = measured,
		.least = measured - spread,
		.most = measured + spread,
	};
	entry->figures[UM_CHECK_BYTES_TO_DEVICE] = entry->figures[UM_CHECK_WAIT_TIME];
}

static void errors_are_summed_up(void **state)
{
	struct um_check_summary summary;
	char name[8];

	(void)state;
	/* 0 to 9 % off, the odd ones too high; 5 % are within the spread. */
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		add_entry(name, false, 1000 + (i % 2 ? 10 : -10) * i, 1000, 50);
	}
	add_entry("nothing", false, 0, 0, 0);
	add_entry("new", true, 5, 0, 0);
	assert_int_equal(
		um_check_summarize(&summary, &table, UM_CHECK_TRAINING, UM_CHECK_WAIT_TIME), 0);
	assert_int_equal(summary.count, 10);
	assert_int_equal(summary.exact, 1);
	assert_int_equal(summary.within, 6);
	assert_true(fabs(summary.median - 0.04) < 1e-9);
	assert_true(fabs(summary.ninetieth - 0.08) < 1e-9);
	assert_true(fabs(summary.largest - 0.09) < 1e-9);
	assert_string_equal(summary.worst, "t9");
	assert_int_equal(um_check_summarize(&summary, &table, UM_CHECK_TEST, UM_CHECK_WAIT_TIME),
			 0);
	assert_int_equal(summary.count, 1);
	assert_true(isinf(summary.median));
	assert_int_equal(um_check_summarize(&summary, &table, UM_CHECK_TEST, UM_CHECK_CPU_FAULTS),
			 0);
	assert_int_equal(summary.count, 0);
}

/* Of a, b and c the card ranks a, c, b and cannot tell a from c; d was not measured. */
static void choices_are_ranked(void **state)
{
	struct um_check_choices choices;
	struct um_check_ranking total;

	(void)state;
	add_entry("a", false, 100, 100, 10);
	add_entry("b", false, 90, 200, 10);
	add_entry("c", true, 120, 110, 10);
	assert_int_equal(um_check_choices_read(&choices,
					       ck_file("choices.txt", "# a comment\n"
								      "program: a b  c d # more\n"
								      "alone: a d\n"),
					       &table),
			 0);
	assert_int_equal(choices.count, 1);
	assert_string_equal(choices.choices[0].program, "program");
	assert_int_equal(choices.choices[0].policies, 3);
	assert_true(choices.choices[0].is_test);
	total = um_check_choices_total(&choices, UM_CHECK_BY_TIME);
	assert_int_equal(total.ties, 1);
	assert_int_equal(total.wrong, 2);
	assert_int_equal(total.right, 0);
	assert_string_equal(choices.choices[0].predicted_best, "b");
	assert_string_equal(choices.choices[0].measured_best, "a");
	assert_true(choices.choices[0].cost == 2);
	assert_false(choices.choices[0].is_as_good);
	assert_true(um_check_choices_cost(&choices).largest == 2);
	assert_string_equal(um_check_choices_cost(&choices).program, "program");
	um_check_choices_free(&choices);
	assert_int_equal(
		um_check_choices_read(&choices, ck_file("bad.txt", "ok: a b\nno colon\n"), &table),
		UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "bad.txt:2: "));
	assert_int_equal(um_check_choices_read(&choices, "/no/such/file", &table), UM_ENOENT);
}

/*
 * Of b the bytes to the device are beyond the least that there was: pairs with it are ranked without them,
 * by nothing, and d's time was not measured.
 */
static void only_what_is_compared_of_both_is_ranked(void **state)
{
	struct um_check_choices choices;
	struct um_check_ranking total;

	(void)state;
	add_entry("a", false, 100, 100, 10);
	add_entry("b", false, 300, 200, 10);
	table.entries[1].figures[UM_CHECK_BYTES_TO_DEVICE].is_least = true;
	add_entry("c", false, 150, 150, 10);
	add_entry("d", false, 1, 1, 0);
	table.entries[3].figures[UM_CHECK_WAIT_TIME].repetitions = 0;
	assert_int_equal(um_check_choices_read(
				 &choices, ck_file("choices.txt", "program: a b c d\n"), &table),
			 0);
	assert_int_equal(choices.choices[0].policies, 3);
	assert_string_equal(choices.choices[0].predicted_best, "a");
	total = um_check_choices_total(&choices, UM_CHECK_BY_TIME);
	assert_int_equal(total.right, 3);
	total = um_check_choices_total(&choices, UM_CHECK_BY_BYTES);
	assert_int_equal(total.right, 1);
	assert_int_equal(total.wrong + total.ties, 0);
	um_check_choices_free(&choices);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
	const struct CMUnitTest tests[] = {
		TEST(repetitions_are_read),
		TEST(what_is_measured_is_of_all_repetitions),
		TEST(errors_are_summed_up),
		TEST(choices_are_ranked),
		TEST(only_what_is_compared_of_both_is_ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
