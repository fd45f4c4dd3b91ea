/* Which of the one program is which of the other, and what the errors are. */
#include "check_fixture.h"

#include "trace/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct um_check_side predicted, measured[3];
static struct um_check_comparison result;

static int open_all(void **state)
{
	(void)state;
	ck_open();
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	um_check_comparison_free(&result);
	um_check_side_free(&predicted);
	for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++)
		um_check_side_free(&measured[i]);
	ck_close();
	return 0;
}

static void compare(size_t measured_count)
{
	if (um_check_compare(&result, &predicted, measured, measured_count))
		fail_msg("%s", um_error_message());
}

static bool has_note(const char *words)
{
	for (size_t i = 0; i < result.note_count; i++)
		if (strstr(result.notes[i], words))
			return true;
	return false;
}

static double error_of(const struct um_check_row *row, enum um_check_quantity quantity)
{
	assert_true(um_check_is_compared(&row->figures[quantity]));
	return um_check_error(&row->figures[quantity]);
}

static void the_same_has_no_error(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", ck_two_ranges);
	measured[0] = ck_side("m.um.db", ck_two_ranges);
	compare(1);
	assert_int_equal(result.ranges.count, 2);
	assert_int_equal(result.kernels.count, 2);
	assert_int_equal(result.allocations.count, 1);
	assert_int_equal(result.note_count, 0);
	assert_string_equal(result.ranges.rows[1].name, "second");
	assert_string_equal(result.kernels.rows[1].range, "second");
	assert_string_equal(result.allocations.rows[0].name, "#1 managed 64 KiB");
	for (int q = 0; q < UM_CHECK_QUANTITIES; q++)
		if (um_check_is_compared(&result.total.figures[q]))
			assert_true(error_of(&result.total, (enum um_check_quantity)q) == 0);
	assert_true(result.total.figures[UM_CHECK_KERNEL_TIME].measured == 5700);
	/* The second launch had no faults; remote accesses were not measured. */
	assert_true(result.total.figures[UM_CHECK_FAULT_KERNEL_TIME].measured == 5000);
	assert_int_equal(result.total.figures[UM_CHECK_REMOTE_TO_DEVICE].repetitions, 0);
	assert_null(result.total.figures[UM_CHECK_REMOTE_TO_DEVICE].origin);
	/* What a launch cannot have. */
	assert_int_equal(result.kernels.rows[0].figures[UM_CHECK_CPU_FAULTS].repetitions, 0);
}

static char *with(const char *sql)
{
	static char *all;

	free(all);
	all = malloc(strlen(ck_two_ranges) + strlen(sql) + 1);
	assert_non_null(all);
	strcpy(all, ck_two_ranges);
	strcat(all, sql);
	return all;
}

/* Three repetitions: 5000, 5500 and 5200 ns; predicted 5400, then 6240. */
static void the_error_is_of_the_median(void **state)
{
	const struct um_check_figure *figure;

	(void)state;
	predicted = ck_side("p.um.db", with("UPDATE op SET end_ns = 5500 WHERE op = 6;"));
	measured[0] = ck_side("a.um.db", ck_two_ranges);
	measured[1] = ck_side("b.um.db", with("UPDATE op SET end_ns = 5600 WHERE op = 6;"));
	measured[2] = ck_side("c.um.db", with("UPDATE op SET end_ns = 5300 WHERE op = 6;"));
	compare(3);
	figure = &result.ranges.rows[0].figures[UM_CHECK_KERNEL_TIME];
	assert_true(figure->measured == 5200 && figure->least == 5000 && figure->most == 5500);
	assert_int_equal(figure->repetitions, 3);
	assert_true(fabs(um_check_error(figure) - 200.0 / 5200) < 1e-12);
	assert_true(fabs(um_check_spread(figure) - 500.0 / 5200) < 1e-12);
	assert_true(um_check_is_within(figure));
	assert_false(um_check_is_beyond(figure, 0));
	assert_true(um_check_is_within(&result.kernels.rows[0].figures[UM_CHECK_KERNEL_TIME]));
}

static void a_launch_counts_as_faulting_as_it_was_measured(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("DELETE FROM fault WHERE device = 0;"
					    "INSERT INTO fault (op, device, pages, start_ns)"
					    " VALUES (10, 0, 1, 9200);"));
	measured[0] = ck_side("m.um.db", ck_two_ranges);
	compare(1);
	assert_true(result.total.figures[UM_CHECK_FAULT_KERNEL_TIME].predicted == 5000);
	assert_true(result.total.figures[UM_CHECK_FAULT_KERNEL_TIME].measured == 5000);
	assert_true(isinf(um_check_error(&result.ranges.rows[1].figures[UM_CHECK_FAULT_BATCHES])));
}

static void ranges_are_paired_by_name(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("UPDATE user_range SET name = 'new' WHERE op = 2;"));
	measured[0] = ck_side("m.um.db", ck_two_ranges);
	compare(1);
	assert_int_equal(result.ranges.count, 1);
	assert_true(result.is_total_of_ranges);
	assert_true(has_note("range new: only in the accesses"));
	assert_true(has_note("range first: only when measured"));
	assert_true(result.total.figures[UM_CHECK_KERNEL_TIME].measured == 700);
}

static void ranges_of_one_name_are_paired_by_order(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("UPDATE user_range SET name = 'first';"));
	measured[0] = ck_side("m.um.db", with("UPDATE user_range SET name = 'first';"));
	compare(1);
	assert_string_equal(result.ranges.rows[1].name, "first (2)");
	assert_true(result.ranges.rows[1].figures[UM_CHECK_KERNEL_TIME].measured == 700);
}

/* A range within a range: its launch is compared once, its sums are both's. */
static void ranges_within_ranges_have_rows_of_their_own(void **state)
{
	const char *nested = "INSERT INTO op (op, kind) VALUES (3, 'range');"
			     "INSERT INTO user_range VALUES (3, 6, 'inner');";

	(void)state;
	predicted = ck_side("p.um.db", with(nested));
	measured[0] = ck_side("m.um.db", with(nested));
	compare(1);
	assert_int_equal(result.ranges.count, 3);
	assert_int_equal(result.kernels.count, 2);
	assert_true(result.ranges.rows[1].figures[UM_CHECK_KERNEL_TIME].measured == 5000);
	assert_true(result.total.figures[UM_CHECK_KERNEL_TIME].measured == 5700);
}

static void without_common_ranges_the_runs_are_compared(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("DELETE FROM user_range;"));
	measured[0] = ck_side("m.um.db", ck_two_ranges);
	compare(1);
	assert_int_equal(result.ranges.count, 0);
	assert_int_equal(result.kernels.count, 2);
	assert_null(result.kernels.rows[0].range);
	assert_true(has_note("the whole runs are compared"));
	assert_true(result.total.figures[UM_CHECK_KERNEL_TIME].predicted == 5700);
}

/* float2 is HIP_vector_type<float, 2u> with HIP. */
static void parameters_are_no_part_of_a_name(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db",
			    with("UPDATE kernel SET name = 'k(HIP_vector_type<float, 2u>*)';"));
	measured[0] = ck_side("m.um.db", with("UPDATE kernel SET name = 'k(float2*)';"
					      "DELETE FROM user_range;"));
	compare(1);
	assert_int_equal(result.kernels.count, 2);
	assert_int_equal(result.note_count, 1);
	assert_true(has_note("the whole runs are compared"));
}

static void what_differs_is_said(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("UPDATE kernel SET name = 'other' WHERE op = 10;"));
	measured[0] = ck_side(
		"m.um.db",
		with("INSERT INTO op (op, kind, start_ns, end_ns) VALUES (7, 'launch', 6000, 6100);"
		     "UPDATE user_range SET last_op = 7 WHERE op = 2;"
		     "INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)"
		     " VALUES (7, 'more', 1, 1, 1, 64, 1, 1);"));
	compare(1);
	assert_true(has_note("first: 1 launches predicted, 2 measured"));
	assert_true(has_note("second, launch 1: other in the accesses, k when measured"));
	assert_int_equal(result.kernels.count, 2);
}

/* The second of 64 KiB is the second, whatever else was allocated in between. */
static void allocations_are_paired_by_kind_and_size(void **state)
{
	const char *here =
		"INSERT INTO allocation (allocation, kind, bytes, op) VALUES"
		" (2, 'managed', 4096, 4), (3, 'managed', 65536, 4), (4, 'device', 65536, 4);"
		"UPDATE migration SET allocation = 3 WHERE cause_code = 6;";
	const char *there = "INSERT INTO allocation (allocation, kind, bytes, op) VALUES"
			    " (2, 'managed', 65536, 4), (3, 'pinned', 8, 4);"
			    "UPDATE migration SET allocation = 2 WHERE cause_code = 6;";

	(void)state;
	predicted = ck_side("p.um.db", with(here));
	measured[0] = ck_side("m.um.db", with(there));
	compare(1);
	assert_int_equal(result.allocations.count, 2);
	assert_true(result.allocations.rows[1].figures[UM_CHECK_BYTES_TO_DEVICE].measured == 61440);
	assert_true(error_of(&result.allocations.rows[1], UM_CHECK_BYTES_TO_DEVICE) == 0);
	assert_true(has_note("#2 managed 4 KiB: only in the accesses"));
	assert_true(has_note("#4 device 64 KiB: only in the accesses"));
	assert_true(has_note("#3 pinned 8 B: only when measured"));
}

/*
 * Of 1024 pages that the host wrote and the kernel touched 512 came to the device and 489 were mapped there;
 * 23 are in no record.
 */
static void records_that_were_lost_are_found(void **state)
{
	const char *both = "INSERT INTO allocation (allocation, kind, bytes, op)"
			   " VALUES (2, 'managed', 4194304, 4);";
	const char *here =
		"INSERT INTO page_access (op, allocation, first_page, pages, touch) VALUES"
		" (5, 2, 0, 1024, 10), (6, 2, 0, 1024, 9);"
		"INSERT INTO mapping (op, device, allocation, first_page, pages, change_code,"
		" at_ns) VALUES (6, 0, 2, 512, 512, 0, 400);";
	const char *there =
		"UPDATE run SET backend = 'cupti';"
		"INSERT INTO mapping (op, device, allocation, first_page, pages, change_code,"
		" at_ns) VALUES (6, 0, 2, 512, 489, 0, 400);";
	const char *moved =
		"INSERT INTO migration (op, allocation, first_page, pages, bytes, source,"
		" destination, cause_code, transfers, start_ns, duration_ns)"
		" VALUES (6, 2, 0, 512, 2097152, -1, 0, 0, 1, 300, 1000);";
	char sql[2048];

	(void)state;
	snprintf(sql, sizeof(sql), "%s%s%s", both, here, moved);
	predicted = ck_side("p.um.db", with(sql));
	snprintf(sql, sizeof(sql), "%s%s%s", both, there, moved);
	measured[0] = ck_side("m.um.db", with(sql));
	measured[1] = ck_side("again.um.db", with(sql)); /* a repetition that lost the same */
	compare(2);
	assert_true(has_note("first: no record tells how 23 pages"));
	/* Beyond the least that there was, and so not compared; what is not beyond it is. */
	assert_false(
		um_check_is_compared(&result.ranges.rows[0].figures[UM_CHECK_REMOTE_MAP_BYTES]));
	assert_false(um_check_is_compared(&result.total.figures[UM_CHECK_REMOTE_MAP_BYTES]));
	assert_true(error_of(&result.ranges.rows[0], UM_CHECK_REMOTE_MAPS) == 0);
	assert_true(error_of(&result.ranges.rows[0], UM_CHECK_BYTES_TO_DEVICE) == 0);
	assert_false(result.ranges.rows[0].figures[UM_CHECK_KERNEL_TIME].is_least);
	assert_false(result.ranges.rows[1].figures[UM_CHECK_REMOTE_MAPS].is_least);
}

/* Pages that a kernel touched first, or that the host only read, need no record. */
static void pages_that_need_no_record_are_not_missed(void **state)
{
	const char *both = "INSERT INTO allocation (allocation, kind, bytes, op)"
			   " VALUES (2, 'managed', 4194304, 4), (3, 'managed', 8192, 4);";
	const char *here =
		"INSERT INTO page_access (op, allocation, first_page, pages, touch) VALUES"
		" (6, 2, 0, 100, 9), (5, 2, 100, 100, 1), (10, 2, 100, 100, 9),"
		" (5, 3, 0, 2, 10), (6, 3, 0, 2, 9);";
	char sql[2048];

	(void)state;
	snprintf(sql, sizeof(sql), "%s%s", both, here);
	predicted = ck_side("p.um.db", with(sql));
	snprintf(sql, sizeof(sql), "%s%s", both, "UPDATE run SET backend = 'cupti';");
	measured[0] = ck_side("m.um.db", with(sql));
	compare(1);
	assert_int_equal(result.note_count, 0);
	assert_false(result.total.figures[UM_CHECK_REMOTE_MAPS].is_least);
}

static void another_program_is_refused(void **state)
{
	(void)state;
	predicted = ck_side("p.um.db", with("UPDATE kernel SET name = 'other';"
					    "DELETE FROM user_range;"));
	measured[0] = ck_side("m.um.db", ck_two_ranges);
	assert_int_equal(um_check_compare(&result, &predicted, measured, 1), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "not of the same program"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
	const struct CMUnitTest tests[] = {
		TEST(the_same_has_no_error),
		TEST(the_error_is_of_the_median),
		TEST(a_launch_counts_as_faulting_as_it_was_measured),
		TEST(ranges_are_paired_by_name),
		TEST(ranges_of_one_name_are_paired_by_order),
		TEST(ranges_within_ranges_have_rows_of_their_own),
		TEST(without_common_ranges_the_runs_are_compared),
		TEST(parameters_are_no_part_of_a_name),
		TEST(what_differs_is_said),
		TEST(allocations_are_paired_by_kind_and_size),
		TEST(records_that_were_lost_are_found),
		TEST(pages_that_need_no_record_are_not_missed),
		TEST(another_program_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
