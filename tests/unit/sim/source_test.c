/* Operations in order; groups that span chunks, come back in segments and advance side by side. */
#include "sim/source/source.h"
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct trace_fixture fx;
static struct um_source *source;

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	source = NULL;
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	um_source_close(source);
	fx_close(&fx);
	return 0;
}

static void open_source(void)
{
	assert_int_equal(um_source_open(&source, fx.db, NULL), 0);
}

static void operations_come_in_program_order(void **state)
{
	const struct um_op_row *op;
	int error;

	(void)state;
	for (int i = 0; i < 3000; i++) /* several reads of the database */
		fx_op(&fx, &(struct um_op_row){.kind = i % 2 ? "attach" : "advise",
					       .advice = i % 2 ? NULL : "accessed_by",
					       .device = -1,
					       .allocation = i + 1});
	open_source();
	for (int i = 0; i < 3000; i++) {
		op = um_source_next(source, &error);
		assert_non_null(op);
		assert_int_equal(op->op, i + 1);
		assert_int_equal(op->allocation, i + 1);
		assert_string_equal(op->kind, i % 2 ? "attach" : "advise");
		if (i % 2 == 0)
			assert_string_equal(op->advice, "accessed_by");
	}
	assert_null(um_source_next(source, &error));
	assert_int_equal(error, 0);
	assert_null(um_source_next(source, &error));
}

static void rows_are_found_by_id(void **state)
{
	const struct um_page_access_row *rows;
	const struct um_kernel_row *kernel;
	int64_t a, b, launch;

	(void)state;
	a = fx_alloc(&fx, "managed", 100);
	b = fx_alloc(&fx, "pinned", 200);
	launch = fx_launch(&fx, "kernel(int)", 3, 0);
	fx_lines(&fx, b, 4, 2, UM_TOUCH_READ, 5, 0);
	fx_lines(&fx, a, 0, 1, UM_TOUCH_READ, 6, 0);
	fx_touch(&fx, 0, a, 0, false);
	fx_launch_end(&fx);
	open_source();
	assert_string_equal(um_source_allocation(source, b)->kind, "pinned");
	assert_int_equal(um_source_allocation(source, a)->bytes, 100);
	assert_null(um_source_allocation(source, 99));
	assert_int_equal(um_source_allocation(source, a)->allocation, a);
	kernel = um_source_kernel(source, launch);
	assert_string_equal(kernel->name, "kernel(int)");
	assert_int_equal(kernel->grid_x, 3);
	assert_null(um_source_kernel(source, 1));
	assert_int_equal(um_source_pages(source, launch, &rows), 2);
	assert_int_equal(rows[0].allocation, a);
	assert_int_equal(rows[1].lines_read, 5);
	assert_int_equal(um_source_pages(source, 1, &rows), 0);
}

/* --- groups --- */

static void expect_touches(struct um_group_cursor *cursor, uint64_t group, const int64_t *pages,
			   size_t count)
{
	const struct um_access_run *run;
	size_t seen = 0;
	int error;

	while ((run = um_group_next(cursor, &error))) {
		assert_int_equal(run->group, group);
		for (uint32_t i = 0; i < run->count; i++) {
			assert_true(seen < count);
			assert_int_equal(run->first_page + (int64_t)run->stride * i, pages[seen++]);
		}
	}
	assert_int_equal(error, 0);
	assert_int_equal(seen, count);
	um_group_close(cursor);
}

static struct um_group_cursor *next_group(struct um_groups *groups)
{
	int error;
	struct um_group_cursor *cursor = um_groups_next(groups, &error);

	assert_int_equal(error, 0);
	return cursor;
}

static void groups_go_on_in_later_chunks_and_segments(void **state)
{
	static const int64_t first[] = {10, 11, 12, 50, 90}, second[] = {20, 7}, third[] = {30};
	struct um_group_cursor *cursors[3];
	struct um_groups *groups;
	int64_t launch;

	(void)state;
	launch = fx_launch(&fx, "k", 100, 0);
	fx_touch_range(&fx, 5, 1, 10, 2, false);
	fx_touch(&fx, 9, 1, 20, true);
	fx_touch(&fx, 5, 1, 12, false); /* a second segment */
	fx_next_chunk(&fx);
	fx_touch(&fx, 5, 1, 50, false); /* a chunk of its own */
	fx_next_chunk(&fx);
	fx_touch(&fx, 2, 1, 30, false); /* a lower group runs later */
	fx_touch(&fx, 9, 1, 7, false);
	fx_next_chunk(&fx);
	fx_touch(&fx, 5, 1, 90, false);
	fx_launch_end(&fx);
	open_source();
	assert_int_equal(um_groups_open(&groups, source, launch), 0);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(cursors[i] = next_group(groups));
	assert_null(next_group(groups));
	expect_touches(cursors[1], 9, second, 2); /* in any order */
	expect_touches(cursors[0], 5, first, 5);
	expect_touches(cursors[2], 2, third, 1);
	um_groups_close(groups);
}

static void cursors_advance_side_by_side(void **state)
{
	struct um_group_cursor *cursors[8];
	struct um_groups *groups;
	int64_t launch;
	int error;

	(void)state;
	launch = fx_launch(&fx, "k", 8, 0);
	for (uint64_t group = 0; group < 8; group++)
		for (int64_t i = 0; i < 20000; i++) /* too many for one chunk */
			fx_touch(&fx, group, 1 + i % 3, i * 7919 % 100003, i & 1);
	fx_launch_end(&fx);
	assert_true(fx.chunks > 8);
	open_source();
	assert_int_equal(um_groups_open(&groups, source, launch), 0);
	for (size_t i = 0; i < 8; i++)
		assert_non_null(cursors[i] = next_group(groups));
	for (int64_t i = 0; i < 20000; i++)
		for (uint64_t group = 0; group < 8; group++) {
			const struct um_access_run *run = um_group_next(cursors[group], &error);

			assert_non_null(run);
			assert_int_equal(run->group, group);
			assert_int_equal(run->count, 1);
			assert_int_equal(run->allocation, 1 + i % 3);
			assert_int_equal(run->first_page, i * 7919 % 100003);
			assert_int_equal(run->write, i & 1);
		}
	for (size_t i = 0; i < 8; i++) {
		assert_null(um_group_next(cursors[i], &error));
		um_group_close(cursors[i]);
	}
	um_groups_close(groups);
}

static void a_launch_that_touches_nothing_has_no_groups(void **state)
{
	struct um_groups *groups;
	int64_t launch;

	(void)state;
	launch = fx_launch(&fx, "k", 8, 0);
	fx_launch_end(&fx);
	open_source();
	assert_int_equal(um_groups_open(&groups, source, launch), 0);
	assert_null(next_group(groups));
	um_groups_close(groups);
}

static void damaged_chunks_are_refused(void **state)
{
	struct um_groups *groups;
	struct um_group_cursor *cursor;
	int64_t launch;
	int error;

	(void)state;
	launch = fx_launch(&fx, "k", 2, 0);
	fx_touch(&fx, 0, 1, 1, false);
	fx_touch(&fx, 1, 1, 1, false);
	fx_launch_end(&fx);
	assert_int_equal(um_db_exec(fx.db, "UPDATE access_chunk SET data = x'28b52ffd00'"), 0);
	open_source();
	assert_int_equal(um_groups_open(&groups, source, launch), 0);
	cursor = um_groups_next(groups, &error);
	assert_null(cursor);
	assert_int_equal(error, UM_EFORMAT);
	um_groups_close(groups);
}

static void operations_that_stand_twice_are_refused(void **state)
{
	int error;

	(void)state;
	fx_sync(&fx);
	assert_int_equal(um_db_exec(fx.db, "CREATE TEMP TABLE kept AS SELECT * FROM op;"
					   "DROP TABLE op; CREATE TABLE op AS SELECT * FROM kept;"
					   "INSERT INTO op SELECT * FROM kept"),
			 0);
	open_source();
	assert_null(um_source_next(source, &error));
	assert_int_equal(error, UM_EFORMAT);
}

static void launches_without_a_stream_cannot_be_replayed(void **state)
{
	(void)state;
	fx_launch(&fx, "k", 1, 0);
	fx_lines(&fx, 1, 0, 1, UM_TOUCH_READ, 1, 0);
	fx_launch_end(&fx);
	assert_int_equal(um_source_open(&source, fx.db, NULL), UM_ENOTSUP);
	assert_non_null(strstr(um_error_message(), "access stream"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(operations_come_in_program_order),
		TEST(rows_are_found_by_id),
		TEST(groups_go_on_in_later_chunks_and_segments),
		TEST(cursors_advance_side_by_side),
		TEST(a_launch_that_touches_nothing_has_no_groups),
		TEST(damaged_chunks_are_refused),
		TEST(operations_that_stand_twice_are_refused),
		TEST(launches_without_a_stream_cannot_be_replayed),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
