/* What a measured trace comes to, and which are none. */
#include "check_fixture.h"

#include "sim/check/check_measured.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int open_folder(void **state)
{
	(void)state;
	ck_open();
	return 0;
}

static int close_folder(void **state)
{
	(void)state;
	ck_close();
	return 0;
}

static struct um_check_facts sum(const struct um_check_side *side, size_t first, size_t end)
{
	struct um_check_facts facts;

	assert_int_equal(um_check_side_sum(side, first, end, &facts), 0);
	return facts;
}

static void each_row_is_counted_where_it_belongs(void **state)
{
	struct um_check_side side = ck_side("a.um.db", ck_two_ranges);
	struct um_check_facts first, second;

	(void)state;
	assert_string_equal(side.card.name, "Test GPU");
	assert_int_equal(side.range_count, 2);
	first = sum(&side, side.ranges[0].first, side.ranges[0].end);
	second = sum(&side, side.ranges[1].first, side.ranges[1].end);
	assert_int_equal(first.value[UM_CHECK_BYTES_TO_DEVICE], 65536);
	assert_int_equal(first.value[UM_CHECK_RECORDS_TO_DEVICE], 2);
	assert_int_equal(first.value[UM_CHECK_CPU_FAULTS], 2);
	assert_int_equal(first.value[UM_CHECK_FAULT_BATCHES], 1);
	assert_int_equal(first.value[UM_CHECK_TRANSFER_TIME], 2000);
	assert_int_equal(first.value[UM_CHECK_KERNEL_TIME], 5000);
	assert_int_equal(first.value[UM_CHECK_SERVED_TO_DEVICE], 65536);
	assert_int_equal(first.value[UM_CHECK_BROUGHT_TO_DEVICE], 61440);
	assert_int_equal(first.value[UM_CHECK_REMOTE_MAPS], 0);
	assert_int_equal(second.value[UM_CHECK_REMOTE_MAPS], 1);
	assert_int_equal(second.value[UM_CHECK_REMOTE_MAP_BYTES], 4096);
	assert_int_equal(second.value[UM_CHECK_KERNEL_TIME], 700);
	assert_int_equal(second.value[UM_CHECK_BYTES_TO_DEVICE], 0);
	um_check_side_free(&side);
}

/* The kernel from 100 to 5100 covers its transfers; one after it, and one that overlaps, do not. */
static void time_that_overlaps_is_waited_for_once(void **state)
{
	struct um_check_side side = ck_side(
		"a.um.db",
		"INSERT INTO op (op, kind, start_ns, end_ns) VALUES (2, 'launch', 100, 5100),"
		" (4, 'memset', 6000, 6500), (6, 'launch', 4100, 5600), (8, 'prefetch', 0, 9000);"
		"INSERT INTO migration (op, pages, bytes, source, destination, cause_code, transfers,"
		" start_ns, duration_ns) VALUES (2, 1, 4096, -1, 0, 0, 1, 300, 1000),"
		" (8, 1, 4096, 0, -1, 2, 1, 7000, 300), (8, 1, 4096, 0, -1, 2, 1, 7200, 300);");
	struct um_check_facts facts = sum(&side, 0, side.op_count);

	(void)state;
	assert_int_equal(facts.value[UM_CHECK_KERNEL_TIME], 6500);
	assert_int_equal(facts.value[UM_CHECK_TRANSFER_TIME], 1600);
	assert_int_equal(facts.value[UM_CHECK_STEP_TIME], 5500);
	assert_int_equal(facts.value[UM_CHECK_WAIT_TIME], 5500 + 500 + 500);
	um_check_side_free(&side);
}

/* Rows of a batch follow one another; a row without one is a batch. */
static void batches_are_counted_once(void **state)
{
	struct um_check_side side = ck_side(
		"a.um.db",
		"INSERT INTO op (op, kind) VALUES (2, 'launch');"
		"INSERT INTO fault (op, device, pages, batch, start_ns) VALUES (2, 0, 1, 7, 1),"
		" (2, 0, 1, 7, 2), (2, 0, 1, 8, 3), (2, 1, 1, 8, 3), (2, 0, 1, NULL, 4),"
		" (2, 0, 1, NULL, 5);");

	(void)state;
	assert_int_equal(sum(&side, 0, 1).value[UM_CHECK_FAULT_BATCHES], 5);
	um_check_side_free(&side);
}

/* A duplicate for a prefetch is one; else the driver may have brought it along or not. */
static void duplicates_count_as_what_they_were_made_for(void **state)
{
	struct um_check_side side = ck_side(
		"a.um.db",
		"INSERT INTO op (op, kind) VALUES (2, 'launch'), (4, 'prefetch');"
		"INSERT INTO migration (op, pages, bytes, source, destination, cause_code, transfers,"
		" start_ns, duration_ns) VALUES (2, 1, 4096, -1, 0, 5, 1, 0, 1),"
		" (4, 2, 8192, -1, 0, 5, 1, 0, 1), (4, 2, 12288, 0, -1, 3, 1, 0, 1);");
	struct um_check_facts facts = sum(&side, 0, 2);

	(void)state;
	assert_int_equal(facts.value[UM_CHECK_SERVED_TO_DEVICE], 4096);
	assert_int_equal(facts.value[UM_CHECK_PREFETCHED_TO_DEVICE], 8192);
	assert_int_equal(facts.value[UM_CHECK_EVICTED_TO_HOST], 12288);
	assert_true(facts.unknown >> UM_CHECK_BROUGHT_TO_DEVICE & 1);
	um_check_side_free(&side);
}

static void what_is_not_told_is_not_known(void **state)
{
	struct um_check_side side = ck_side(
		"a.um.db", "UPDATE origin SET origin = 'absent' WHERE record = 'fault.host';"
			   "INSERT INTO op (op, kind) VALUES (2, 'launch');"
			   "INSERT INTO migration (op, pages, bytes, source, destination, start_ns)"
			   " VALUES (2, 1, 4096, -1, 0, 0), (NULL, 1, 4096, -1, 0, 0);");
	struct um_check_facts facts = sum(&side, 0, 1);

	(void)state;
	assert_null(side.origin[UM_CHECK_CPU_FAULTS]);
	assert_string_equal(side.origin[UM_CHECK_FAULT_BATCHES], "measured");
	assert_int_equal(facts.value[UM_CHECK_BYTES_TO_DEVICE], 4096);
	assert_true(facts.unknown >> UM_CHECK_RECORDS_TO_DEVICE & 1);
	assert_true(facts.unknown >> UM_CHECK_TRANSFER_TIME & 1);
	assert_int_equal(side.rows_without_op, 1);
	assert_int_equal(side.without_op.value[UM_CHECK_BYTES_TO_DEVICE], 4096);
	um_check_side_free(&side);
}

static void sums_stop_at_what_can_be_counted(void **state)
{
	struct um_check_side side = ck_side(
		"a.um.db",
		"INSERT INTO op (op, kind) VALUES (-9223372036854775807, 'launch'),"
		" (9223372036854775807, 'launch');"
		"INSERT INTO user_range VALUES (9223372036854775807, 9223372036854775807, 'r');"
		"INSERT INTO migration (op, pages, bytes, source, destination, transfers, start_ns)"
		" VALUES (9223372036854775807, 1, 9223372036854775807, -1, 0, 1, 0),"
		" (9223372036854775807, 1, 9223372036854775807, -1, 0, 1, 0),"
		" (9223372036854775807, 1, 9223372036854775807, -1, 0, 1, 0);");

	(void)state;
	assert_true(sum(&side, 0, 2).value[UM_CHECK_BYTES_TO_DEVICE] == UINT64_MAX);
	assert_int_equal(side.ranges[0].first, 1);
	assert_int_equal(side.ranges[0].end, 2);
	um_check_side_free(&side);
}

static void assert_refused(int error, const char *name, const char *sql, const char *words)
{
	struct um_check_side side;

	assert_int_equal(um_check_measured_read(&side, ck_trace(name, sql)), error);
	if (!strstr(um_error_message(), words))
		fail_msg("not \"%s\": %s", words, um_error_message());
}

static void what_is_no_measurement_is_refused(void **state)
{
	struct um_check_side side;

	(void)state;
	assert_refused(UM_EINVAL, "a.um.db", "UPDATE run SET role = 'simulation';",
		       "is a simulation");
	assert_refused(UM_EINVAL, "b.um.db",
		       "UPDATE origin SET origin = 'modelled' WHERE record = 'migration';",
		       "no migrations");
	assert_refused(UM_EINVAL, "c.um.db", "DELETE FROM origin;", "no migrations");
	assert_int_equal(um_check_measured_read(&side, ck_file("d", "no database")), UM_EFORMAT);
	assert_int_equal(um_check_measured_read(&side, "/no/such/file"), UM_ENOENT);
}

static void what_cannot_be_is_damage(void **state)
{
	(void)state;
	assert_refused(UM_EFORMAT, "a.um.db",
		       "INSERT INTO migration (op, pages, bytes, source, destination, start_ns)"
		       " VALUES (2, 1, -4096, -1, 0, 0);",
		       "bytes to device -4096");
	assert_refused(UM_EFORMAT, "b.um.db",
		       "INSERT INTO op (op, kind, start_ns, end_ns) VALUES (2, 'launch', 9, 8);",
		       "ends before it starts");
	assert_refused(
		UM_EFORMAT, "c.um.db",
		"INSERT INTO op (op, kind) VALUES (2, 'launch'); PRAGMA foreign_keys = off;"
		"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)"
		" VALUES (3, 'k', 1, 1, 1, 64, 1, 1);",
		"op 3, which there is not");
	assert_refused(UM_EFORMAT, "d.um.db",
		       "INSERT INTO mapping (op, device, pages, change_code, at_ns)"
		       " VALUES (2, 0, 9223372036854775807, 0, 0);",
		       "pages of a mapping");
	assert_refused(
		UM_EFORMAT, "e.um.db",
		"INSERT INTO fault (op, device, pages, faults, start_ns) VALUES (2, -1, 1, -3, 0);",
		"CPU faults -3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_row_is_counted_where_it_belongs, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(time_that_overlaps_is_waited_for_once, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(batches_are_counted_once, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(duplicates_count_as_what_they_were_made_for,
						open_folder, close_folder),
		cmocka_unit_test_setup_teardown(what_is_not_told_is_not_known, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(sums_stop_at_what_can_be_counted, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(what_is_no_measurement_is_refused, open_folder,
						close_folder),
		cmocka_unit_test_setup_teardown(what_cannot_be_is_damage, open_folder,
						close_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
