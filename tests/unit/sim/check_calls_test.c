/* Whether two programs asked for the same, how many calls differ, and which is the first. */
#include "check_fixture.h"

#include "sim/check/check_edits.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct um_check_side here, there;
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
	um_check_side_free(&here);
	um_check_side_free(&there);
	ck_close();
	return 0;
}

/* Two buffers of a size, advice for the second, a launch, a prefetch of the first. */
static const char program[] =
	"INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device, advice, result) VALUES"
	" (2, 'alloc', 1, 0, 65536, 0, NULL, 0), (4, 'alloc', 2, 0, 65536, 0, NULL, 0),"
	" (6, 'advise', 2, 0, 65536, 0, 'read_mostly', 0), (8, 'launch', NULL, NULL, NULL, 0, NULL, 0),"
	" (10, 'sync_device', NULL, NULL, NULL, 0, NULL, 0), (12, 'prefetch', 1, 0, 65536, -1, NULL, 0),"
	" (14, 'copy', 1, 4096, 8, 0, NULL, 0);"
	"UPDATE op SET source_allocation = 2, source_offset_bytes = 0 WHERE op = 14;"
	"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)"
	" VALUES (8, 'k(float*)', 16, 1, 1, 64, 1, 1);"
	"INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 2),"
	" (2, 'managed', 65536, 4);";

/* The same program, with what `sql` makes of it, beside the one above. */
static struct um_check_difference compare_with(const char *sql)
{
	char *all = malloc(sizeof(program) + strlen(sql));

	assert_non_null(all);
	strcpy(all, program);
	strcat(all, sql);
	here = ck_side("here.um.db", program);
	there = ck_side("there.um.db", all);
	free(all);
	if (um_check_compare(&result, &here, &there, 1))
		fail_msg("%s", um_error_message());
	return result.differences[0];
}

static void expect_first(const struct um_check_side *side, size_t call, const char *words)
{
	char *text;

	assert_int_not_equal(call, SIZE_MAX);
	text = um_check_call_text(side, call);
	assert_non_null(text);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, text);
	free(text);
}

/* What waits, what failed, times, ids and the types of a kernel's parameters are no difference. */
static void the_same_calls(void **state)
{
	struct um_check_difference difference = compare_with(
		"DELETE FROM op WHERE kind = 'sync_device';"
		"UPDATE kernel SET name = 'k(HIP_vector*)';"
		"INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device, advice, result)"
		" VALUES (7, 'advise', 1, 0, 65536, 0, 'read_mostly', 1);");

	(void)state;
	assert_false(um_check_calls_differ(&difference));
	assert_int_equal(difference.calls_here, 6);
	assert_false(result.is_other);
	assert_false(result.total.figures[UM_CHECK_BYTES_TO_DEVICE].is_other);
}

static void advice_for_the_other_buffer(void **state)
{
	struct um_check_difference difference =
		compare_with("UPDATE op SET allocation = 1 WHERE kind = 'advise';");

	(void)state;
	assert_int_equal(difference.only_here, 1);
	assert_int_equal(difference.only_there, 1);
	expect_first(&here, difference.first_here,
		     "advice read_mostly (device 0) for #2 managed 64 KiB");
	expect_first(&there, difference.first_there, "for #1 managed 64 KiB");
	assert_true(result.is_other);
	for (int q = 0; q < UM_CHECK_QUANTITIES; q++)
		assert_true(!um_check_quantities[q].record || result.total.figures[q].is_other);
	assert_true(result.kernels.rows[0].figures[UM_CHECK_KERNEL_TIME].is_other);
}

static void a_call_less_and_one_of_another_size(void **state)
{
	struct um_check_difference difference =
		compare_with("DELETE FROM op WHERE kind = 'advise';"
			     "UPDATE op SET bytes = 16 WHERE kind = 'copy';");

	(void)state;
	assert_int_equal(difference.only_here, 2);
	assert_int_equal(difference.only_there, 1);
	assert_int_equal(difference.calls_there, 5);
	expect_first(&here, difference.first_here, "advice read_mostly");
	expect_first(&there, difference.first_there,
		     "launch of k, 16 x 1 x 1 groups of 64 x 1 x 1 lanes");
}

static void another_grid(void **state)
{
	struct um_check_difference difference = compare_with("UPDATE kernel SET grid_x = 15;");

	(void)state;
	assert_int_equal(difference.only_here, 1);
	expect_first(&there, difference.first_there, "15 x 1 x 1 groups");
}

/* It does not matter how streams are called, but which calls share one. */
static void another_stream(void **state)
{
	struct um_check_difference difference;

	(void)state;
	compare_with("UPDATE op SET stream = 7 WHERE op IN (8, 14);");
	assert_true(result.is_other);
	um_check_comparison_free(&result);
	here.calls[3].stream = 2;
	here.calls[5].stream = 2;
	assert_int_equal(um_check_compare(&result, &here, &there, 1), 0);
	assert_false(result.is_other);
	um_check_comparison_free(&result);
	here.calls[5].stream = 3;
	assert_int_equal(um_check_compare(&result, &here, &there, 1), 0);
	difference = result.differences[0];
	assert_int_equal(difference.only_here, 1);
	expect_first(&there, difference.first_there, "on stream 7");
}

/* Two more at the end: the other side has nothing there. */
static void calls_behind_the_end(void **state)
{
	struct um_check_difference difference =
		compare_with("INSERT INTO op (op, kind, allocation, offset_bytes, bytes)"
			     " VALUES (16, 'free', 1, 0, 65536), (18, 'free', 2, 0, 65536);");

	(void)state;
	assert_int_equal(difference.only_here, 0);
	assert_int_equal(difference.only_there, 2);
	assert_true(difference.first_here == SIZE_MAX);
	expect_first(&there, difference.first_there, "free of #1 managed 64 KiB");
}

/* Calls that name it differ too; what has no counterpart is said by name. */
static void an_allocation_of_another_size(void **state)
{
	struct um_check_difference difference =
		compare_with("UPDATE allocation SET bytes = 131072 WHERE allocation = 2;"
			     "UPDATE op SET bytes = 131072 WHERE op = 4;");

	(void)state;
	assert_int_equal(difference.only_here, 3);
	assert_int_equal(difference.only_there, 3);
	assert_string_equal(result.notes[0], "allocation #2 managed 64 KiB: only in the accesses");
	assert_string_equal(result.notes[1], "allocation #2 managed 128 KiB: only when measured");
}

static void what_a_policy_changed_is_not_looked_at(void **state)
{
	struct um_check_difference difference;

	(void)state;
	compare_with("DELETE FROM op WHERE kind IN ('advise', 'prefetch');");
	um_check_comparison_free(&result);
	here.has_policy = true;
	assert_int_equal(um_check_compare(&result, &here, &there, 1), 0);
	difference = result.differences[0];
	assert_false(um_check_calls_differ(&difference));
	assert_int_equal(difference.calls_here, 4);
}

/* Only the range that differs is of another program, and the total. */
static void by_range(void **state)
{
	(void)state;
	here = ck_side("here.um.db", ck_two_ranges);
	there = ck_side("there.um.db", ck_two_ranges);
	there.launches[1].groups[0] = 2;
	assert_int_equal(um_check_compare(&result, &here, &there, 1), 0);
	assert_false(result.ranges.rows[0].figures[UM_CHECK_KERNEL_TIME].is_other);
	assert_true(result.ranges.rows[1].figures[UM_CHECK_KERNEL_TIME].is_other);
	assert_true(result.total.figures[UM_CHECK_KERNEL_TIME].is_other);
	assert_string_equal(result.notes[0],
			    "range second: 1 of its 1 calls are only in the accesses, 1 "
			    "only in what was measured");
}

/* A launch that was in the first range and is in the second: the same calls, but not in the ranges. */
static void a_range_that_begins_later(void **state)
{
	(void)state;
	here = ck_side("here.um.db", ck_two_ranges);
	there = ck_side("there.um.db", ck_two_ranges);
	there.ranges[0].end = 3;
	assert_int_equal(um_check_compare(&result, &here, &there, 1), 0);
	assert_false(result.is_other);
	assert_true(result.ranges.rows[0].figures[UM_CHECK_KERNEL_TIME].is_other);
	assert_false(result.ranges.rows[1].figures[UM_CHECK_KERNEL_TIME].is_other);
}

/* --- lists --- */

static void expect_edits(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
			 size_t only_a, size_t only_b)
{
	size_t left, right;
	bool is_least;

	assert_int_equal(um_check_edits(&left, &right, &is_least, a, a_count, b, b_count), 0);
	assert_false(is_least);
	assert_int_equal(left, only_a);
	assert_int_equal(right, only_b);
}

/* The example of Myers' paper: abcabba and cbabac are 5 apart. */
static void edits_of_short_lists(void **state)
{
	const uint64_t a[] = {'a', 'b', 'c', 'a', 'b', 'b', 'a'};
	const uint64_t b[] = {'c', 'b', 'a', 'b', 'a', 'c'};

	(void)state;
	expect_edits(a, 7, b, 6, 3, 2);
	expect_edits(b, 6, a, 7, 2, 3);
	expect_edits(a, 0, b, 6, 0, 6);
	expect_edits(a, 7, b, 0, 7, 0);
	expect_edits(a, 7, a, 7, 0, 0);
	expect_edits(a, 7, a + 1, 6, 1, 0);
}

/* Against the length of the longest common part, by its recurrence. */
static void edits_of_random_lists(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t a[24], b[24];
		size_t common[25][25] = {{0}}, n, m;

		seed = seed * 1664525 + 1013904223;
		n = seed >> 24 & 15;
		m = seed >> 16 & 15;
		for (size_t i = 0; i < 24; i++) {
			seed = seed * 1664525 + 1013904223;
			a[i] = seed >> 30;
			b[i] = seed >> 28 & 3;
		}
		for (size_t i = 1; i <= n; i++)
			for (size_t k = 1; k <= m; k++)
				common[i][k] = a[i - 1] == b[k - 1] ? common[i - 1][k - 1] + 1
					       : common[i - 1][k] > common[i][k - 1]
						       ? common[i - 1][k]
						       : common[i][k - 1];
		expect_edits(a, n, b, m, n - common[n][m], m - common[n][m]);
	}
}

static void too_many_edits_are_at_least_so_many(void **state)
{
	static uint64_t a[2 * UM_CHECK_EDITS_MAX], b[2 * UM_CHECK_EDITS_MAX];
	size_t left, right, count = 2 * UM_CHECK_EDITS_MAX;
	bool is_least;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		a[i] = i;
		b[i] = count + i;
	}
	assert_int_equal(um_check_edits(&left, &right, &is_least, a, count, b, count), 0);
	assert_true(is_least);
	assert_in_range(left, 1, count);
	assert_int_equal(left, right);
	assert_int_equal(um_check_edits(&left, &right, &is_least, a, count, b, 1), 0);
	assert_true(is_least && left >= count - 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
	const struct CMUnitTest tests[] = {
		TEST(the_same_calls),
		TEST(advice_for_the_other_buffer),
		TEST(a_call_less_and_one_of_another_size),
		TEST(another_grid),
		TEST(another_stream),
		TEST(calls_behind_the_end),
		TEST(an_allocation_of_another_size),
		TEST(what_a_policy_changed_is_not_looked_at),
		TEST(by_range),
		TEST(a_range_that_begins_later),
		cmocka_unit_test(edits_of_short_lists),
		cmocka_unit_test(edits_of_random_lists),
		cmocka_unit_test(too_many_edits_are_at_least_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
