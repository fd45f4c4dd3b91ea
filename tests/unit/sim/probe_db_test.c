/* Rows of a simulation: few, true, and the same each time. */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct trace_fixture fx;
static char out_path[80];
static struct um_db *out;
static unsigned probe_flags;

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	probe_flags = UM_PROBE_OPS;
	snprintf(out_path, sizeof(out_path), "%s.sim", fx.path);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	um_db_close(out);
	unlink(out_path);
	out = NULL;
	fx_close(&fx);
	return 0;
}

/* Simulates into a fresh database. */
static void run(void)
{
	assert_int_equal(um_db_create(&out, out_path, true), 0);
	assert_int_equal(um_probe_db(&fx.extra, out, probe_flags), 0);
	fx_run(&fx);
}

static void run_again(void)
{
	um_db_close(out);
	unlink(out_path);
	run();
}

static int64_t number(const char *sql)
{
	int64_t value;

	if (um_db_integer(out, sql, 0, &value))
		fail_msg("%s: %s", sql, um_error_message());
	return value;
}

static int64_t put_program(void)
{
	int64_t data = fx_alloc(&fx, "managed", 256 * PAGE);

	fx_host(&fx, data, 0, 256, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 64, 0);
	for (uint64_t group = 0; group < 64; group++)
		for (int64_t page = (int64_t)group * 4; page < (int64_t)group * 4 + 4; page++)
			fx_touch(&fx, group, data, page, true);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 256, UM_TOUCH_READ);
	return data;
}

static void a_sweep_is_one_row(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 1000 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 1000, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 1, 0);
	fx_touch_range(&fx, 0, data, 0, 1000, false);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 1000, UM_TOUCH_READ);
	run();
	assert_int_equal(number("SELECT count(*) FROM fault WHERE ?1 = 0"), 2);
	assert_int_equal(number("SELECT faults FROM fault WHERE device = ?1"), 1000);
	assert_int_equal(number("SELECT pages FROM fault WHERE device = ?1"), 1000);
	assert_int_equal(number("SELECT count(*) FROM migration WHERE ?1 = 0"), 2);
	assert_int_equal(number("SELECT transfers FROM migration WHERE destination = ?1"), 1000);
	assert_int_equal(number("SELECT bytes FROM migration WHERE destination = ?1"), 1000 * PAGE);
	assert_int_equal(number("SELECT end_ns - start_ns FROM migration WHERE destination = ?1"),
			 1000 * (LATENCY_NS + PAGE_NS));
	assert_int_equal(number("SELECT count(*) FROM mapping WHERE ?1 = 0"), 1); /* first touch */
}

static void evictions_do_not_break_rows(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 100 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 100, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 1, 0);
	fx_touch_range(&fx, 0, data, 0, 100, false);
	fx_launch_end(&fx);
	fx.policy.memory_bytes = 50 * PAGE;
	run();
	assert_int_equal(number("SELECT count(*) FROM migration WHERE ?1 = 0"), 2);
	assert_int_equal(number("SELECT bytes FROM migration WHERE cause = 'eviction' AND ?1 = 0"),
			 50 * PAGE);
}

static void rows_add_up_to_the_totals(void **state)
{
	(void)state;
	put_program();
	fx.policy.memory_bytes = 100 * PAGE;
	run();
	assert_int_equal(number("SELECT sum(bytes_to_device) FROM traffic WHERE ?1 = 0"),
			 fx.totals.bytes_to_device);
	assert_int_equal(number("SELECT sum(bytes_to_host) FROM traffic WHERE ?1 = 0"),
			 fx.totals.bytes_to_host);
	assert_int_equal(number("SELECT sum(faults) FROM fault WHERE device >= ?1"),
			 fx.totals.device_faults);
	assert_int_equal(number("SELECT sum(faults) FROM fault WHERE device < ?1"),
			 fx.totals.host_faults);
	assert_int_equal(number("SELECT max(end_ns) FROM op WHERE ?1 = 0"), fx.totals.end_ns);
	assert_int_equal(number("SELECT count(*) FROM op WHERE ?1 = 0"), fx.ops);
}

#define SUM_OF_PAGES "sum(first_page * pages + pages * (pages - 1) / 2)"

/* A row for each page that is not told apart: what a query of any page's history would add up. */
static void merged_rows_tell_the_same_of_each_page(void **state)
{
	static const char *const queries[] = {
		"SELECT sum(faults) FROM fault WHERE ?1 = 0",
		"SELECT sum(pages) FROM fault WHERE ?1 = 0",
		"SELECT " SUM_OF_PAGES " FROM fault WHERE ?1 = 0",
		"SELECT sum(bytes * (1 + op)) FROM migration WHERE ?1 = 0",
		"SELECT sum(transfers) FROM migration WHERE ?1 = 0",
		"SELECT " SUM_OF_PAGES " FROM migration WHERE ?1 = 0",
		"SELECT sum(pages) FROM mapping WHERE ?1 = 0",
		"SELECT max(end_ns) FROM migration WHERE ?1 = 0",
		"SELECT min(start_ns) FROM migration WHERE cause = 'eviction' AND ?1 = 0",
	};
	int64_t apart[9], data, rows;

	(void)state;
	data = fx_alloc(&fx, "managed", 4096 * PAGE);
	fx_host(&fx, data, 0, 4096, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 4, 0);
	for (uint64_t i = 0; i < 3 * 4096; i++) /* 2741 is prime to 4096: every page three times */
		fx_touch(&fx, i / 4096, data, (int64_t)(i * 2741 % 4096), i / 4096 == 2);
	fx_launch_end(&fx);
	fx.policy.memory_bytes = 3000 * PAGE;
	run();
	rows = number("SELECT count(*) FROM fault WHERE ?1 = 0");
	assert_true(rows > 4000);
	for (size_t i = 0; i < 9; i++)
		apart[i] = number(queries[i]);
	probe_flags = UM_PROBE_OPS | UM_PROBE_MERGE;
	run_again();
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(number(queries[i]), apart[i]);
	assert_true(number("SELECT count(*) FROM fault WHERE ?1 = 0") < rows / 10);
}

static void random_faults_of_every_page_are_one_row(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 1024 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 1024, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 1, 0);
	for (int64_t i = 0; i < 1024; i++)
		fx_touch(&fx, 0, data, i * 389 % 1024, false);
	fx_launch_end(&fx);
	probe_flags = UM_PROBE_MERGE;
	run();
	assert_int_equal(number("SELECT count(*) FROM fault WHERE ?1 = 0"), 1);
	assert_int_equal(number("SELECT faults FROM fault WHERE first_page = ?1"), 1024);
	assert_int_equal(number("SELECT pages FROM migration WHERE first_page = ?1"), 1024);
	assert_int_equal(number("SELECT count(*) FROM op WHERE ?1 = 0"), 0);
}

/* Mappings from afar of nvidia_uvm, one a block, stay apart, merged or not; others do not. */
static void records_of_a_driver_stay_rows(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 2048 * PAGE);

	(void)state;
	fx.machine.xnack = UM_XNACK_ALWAYS;
	snprintf(fx.machine.arch, sizeof(fx.machine.arch), "sm_90");
	fx_policy(&fx, "driver: nvidia_uvm\n");
	fx_host(&fx, data, 0, 2048, UM_TOUCH_WRITTEN);
	fx_advise(&fx, data, "accessed_by", 0);
	run();
	assert_int_equal(number("SELECT count(*) FROM mapping WHERE change = 'remote' AND ?1 = 0"),
			 4);
	assert_int_equal(number("SELECT count(*) FROM mapping WHERE change <> 'remote' AND ?1 = 0"),
			 1);
	probe_flags = UM_PROBE_MERGE;
	run_again();
	assert_int_equal(number("SELECT sum(pages) FROM mapping WHERE change = 'remote' AND "
				"pages = 512 AND ?1 = 0"),
			 2048);
}

/* Everything a table holds, as one number. */
static void fingerprint(int64_t *sums)
{
	static const char fault[] =
		"SELECT total(rowid * (first_page * 3 + pages * 5 + faults * 7 + ifnull(batch, 3) + "
		"start_ns * 11 + end_ns * 13 + op)) FROM fault WHERE ?1 = 0";
	static const char migration[] =
		"SELECT total(rowid * (first_page * 3 + pages * 5 + bytes * 7 + start_ns * 11 + "
		"end_ns * 13 + ifnull(op, 0) + unicode(cause))) FROM migration WHERE ?1 = 0";
	static const char mapping[] =
		"SELECT total(rowid * (first_page * 3 + pages * 5 + at_ns * 7 + ifnull(op, 0) + "
		"unicode(change))) FROM mapping WHERE ?1 = 0";
	static const char op[] =
		"SELECT total(op * (start_ns * 3 + end_ns * 5)) FROM op WHERE ?1 = 0";
	const char *const queries[] = {fault, migration, mapping, op};

	for (size_t i = 0; i < 4; i++)
		sums[i] = number(queries[i]);
}

static void two_runs_are_alike(void **state)
{
	int64_t first[4], second[4], data = put_program();

	(void)state;
	fx_advise(&fx, data, "accessed_by", 0);
	put_program();
	fx.policy.memory_bytes = 100 * PAGE;
	fx.policy.page_bytes = 65536;
	run();
	fingerprint(first);
	run_again();
	fingerprint(second);
	assert_memory_equal(first, second, sizeof(first));
	assert_true(first[0] && first[1] && first[2] && first[3]);
}

static void an_error_of_the_database_is_told(void **state)
{
	(void)state;
	put_program();
	assert_int_equal(um_db_create(&out, out_path, true), 0);
	assert_int_equal(um_db_exec(out, "DROP TABLE fault"), 0);
	assert_int_equal(um_probe_db(&fx.extra, out, probe_flags), 0);
	assert_int_not_equal(fx_simulate(&fx), 0);
	assert_non_null(strstr(um_error_message(), "fault"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sweep_is_one_row),
		TEST(evictions_do_not_break_rows),
		TEST(rows_add_up_to_the_totals),
		TEST(merged_rows_tell_the_same_of_each_page),
		TEST(random_faults_of_every_page_are_one_row),
		TEST(records_of_a_driver_stay_rows),
		TEST(two_runs_are_alike),
		TEST(an_error_of_the_database_is_told),
	};

	return cmocka_run_group_tests_name("probe_db", tests, NULL, NULL);
}
