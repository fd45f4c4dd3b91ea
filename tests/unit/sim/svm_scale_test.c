/* Many: groups that fault at once, blocks, allocations, pieces; and the same again (amdgpu_svm). */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: on");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

/* Each group reads the first page of a block of its own. */
static int64_t put_groups(int64_t data, int64_t groups)
{
	int64_t op = fx_launch(&svm.fx, "k()", groups, 0);

	for (int64_t group = 0; group < groups; group++)
		fx_touch(&svm.fx, (uint64_t)group, data, group * WINDOW, false);
	fx_launch_end(&svm.fx);
	fx_sync(&svm.fx);
	return op;
}

/*
 * Of the groups that fault on one range at once one is served every 2 ms; the others' faults are
 * dropped until then, and each is served once.
 */
static void dropped_faults_are_served_in_their_turn(void **state)
{
	int64_t groups = 16, data = svm_data(&svm, groups * WINDOW), op = put_groups(data, groups);

	(void)state;
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), groups);
	assert_int_equal(svm.fx.totals.bytes_to_device, PAGES(groups * WINDOW));
	assert_int_equal(svm.log.ops[op].end_ns, groups * WINDOW_NS + (groups - 1) * PENDING_NS);
	for (int64_t i = 0; i < groups; i++) {
		assert_int_equal(svm.log.faults[i].first_page, i * WINDOW);
		assert_int_equal(svm.log.faults[i].start_ns, 0);
	}
}

/* Groups on two ranges take turns: neither waits for the other's 2 ms. */
static void ranges_do_not_wait_for_each_other(void **state)
{
	int64_t range = 32 * MIB / PAGE, data = svm_data(&svm, 2 * range);
	int64_t op = fx_launch(&svm.fx, "k()", 4, 0);

	(void)state;
	for (uint64_t group = 0; group < 4; group++)
		fx_touch(&svm.fx, group, data,
			 (int64_t)(group / 2) * range + (int64_t)(group % 2) * WINDOW, false);
	fx_launch_end(&svm.fx);
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 4);
	assert_int_equal(svm.log.ops[op].end_ns, 3 * WINDOW_NS + PENDING_NS);
}

/* Freeing and cutting ranges between dropped faults: what was dropped is not lost. */
static void pieces_of_a_range_serve_what_it_dropped(void **state)
{
	int64_t groups = 8, data = svm_data(&svm, groups * WINDOW), op;

	(void)state;
	op = put_groups(data, groups);
	fx_advise_pages(&svm.fx, data, 3 * WINDOW, WINDOW, "preferred_location", 0);
	put_groups(data, groups);
	fx_free(&svm.fx, data);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), groups);
	assert_int_equal(svm.fx.totals.device_faults, groups);
}

/*
 * A copy of 1000 pages later one block has been served and the others' faults are dropped: advice
 * cuts the range, and each of its pieces serves what is its own. The prefetch that follows brings
 * the rest at once.
 */
static void a_range_is_cut_while_its_faults_wait(void **state)
{
	int64_t groups = 8, data = svm_data(&svm, groups * WINDOW), op;
	int64_t pinned = fx_alloc(&svm.fx, "pinned", PAGES(1000));
	int64_t buffer = fx_alloc(&svm.fx, "device", PAGES(1000));

	(void)state;
	op = fx_launch(&svm.fx, "k()", groups, 5);
	for (int64_t group = 0; group < groups; group++)
		fx_touch(&svm.fx, (uint64_t)group, data, group * WINDOW, false);
	fx_launch_end(&svm.fx);
	fx_copy(&svm.fx, pinned, buffer, PAGES(1000), 6, false);
	fx_advise_pages(&svm.fx, data, 2 * WINDOW, 2 * WINDOW, "preferred_location", 0);
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), groups);
	assert_int_equal(svm.fx.totals.bytes_to_device, PAGES(groups * WINDOW));
	/* Three pieces, each new: 1 + 2 + 4 blocks are left, so that the last 3 wait 2 ms each. */
	assert_in_range(svm.log.ops[op].end_ns, 3 * PENDING_NS, 4 * PENDING_NS + 8 * WINDOW_NS);
}

/*
 * The host faults while a device's fault is served; before its turn comes a prefetch has brought the
 * page back: there is nothing to serve.
 */
static void a_host_fault_whose_page_came_back_is_none(void **state)
{
	int64_t other = svm_data(&svm, WINDOW), data = svm_data(&svm, WINDOW), op;
	int64_t pinned = fx_alloc(&svm.fx, "pinned", PAGES(100));
	int64_t buffer = fx_alloc(&svm.fx, "device", PAGES(100));

	(void)state;
	svm_prefetch(&svm, data, 0, WINDOW, 0);
	svm_launch(&svm, other, 0, WINDOW, false, 5);
	fx_copy(&svm.fx, buffer, pinned, PAGES(100), 9, true);
	fx_prefetch(&svm.fx, data, PAGES(WINDOW), UM_HOST, 9);
	fx_copy(&svm.fx, pinned, buffer, PAGES(1), 7, false); /* the device's fault comes first */
	op = fx_host(&svm.fx, data, 0, 1, UM_TOUCH_READ);
	fx_sync(&svm.fx);
	svm_choose(&svm, "xnack: on, prefetch_waits: off", "");
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, UM_HOST), 0);
	assert_int_equal(svm.fx.totals.migrated_to_host[UM_CAUSE_PREFETCH], PAGES(WINDOW));
	assert_int_equal(svm.fx.totals.migrated_to_host[UM_CAUSE_HOST_FAULT], 0);
	assert_true(svm.log.ops[op].end_ns - svm.log.ops[op].start_ns > 0);
}

static void a_gibibyte_is_swept_block_by_block(void **state)
{
	int64_t pages = 1 << 18, data = svm_data(&svm, pages), op = svm_read(&svm, data, 0, pages);

	(void)state;
	svm.fx.machine.memory_bytes = 2ull << 30;
	svm_choose(&svm, "xnack: on, duplicate_window: 0ns", "");
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 512);
	assert_int_equal(svm.log.ops[op].end_ns, 512 * WINDOW_NS);
	assert_int_equal(svm.log.migration_count, 512);
}

static void twice_as_much_as_fits_leaves_range_by_range(void **state)
{
	int64_t pages = 128 * MIB / PAGE, data = svm_data(&svm, pages), op;

	(void)state;
	svm_leave(&svm, 64 * MIB);
	op = svm_read(&svm, data, 0, pages);
	svm_choose(&svm, "xnack: on, duplicate_window: 0ns", "");
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), 128 * MIB);
	assert_int_equal(row_log_moved(&svm.log, op, 0, UM_HOST, "eviction"), 64 * MIB);
}

#define MANY 100000

static void many_small_allocations(void **state)
{
	/* As fx_alloc() would, in one statement each. */
	static const char *const statements[] = {
		"INSERT INTO op(op, thread, kind, allocation, bytes, start_ns, end_ns) "
		"SELECT value, 1, 'alloc', value, 4096, value, value FROM generate",
		"INSERT INTO allocation(allocation, kind, bytes, op) "
		"SELECT value, 'managed', 4096, value FROM generate",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char sql[512];

		snprintf(sql, sizeof(sql),
			 "WITH RECURSIVE generate(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
			 "FROM generate WHERE value < %d) %s",
			 MANY, statements[i]);
		assert_int_equal(um_db_exec(svm.fx.db, sql), 0);
	}
	svm.fx.ops = svm.fx.allocations = MANY;
	svm.fx.extra = (struct um_observer){0}; /* more ops than the log holds */
	fx_launch(&svm.fx, "k()", 4, 0);
	for (int64_t i = 1; i <= MANY; i += 100)
		fx_touch(&svm.fx, 0, i, 0, true);
	fx_launch_end(&svm.fx);
	fx_sync(&svm.fx);
	fx_run(&svm.fx);
	assert_int_equal(svm.fx.totals.device_faults, MANY / 100);
	assert_int_equal(svm.fx.totals.bytes_to_device, 0);
}

static void the_same_again(void **state)
{
	static struct row_log first;
	int64_t pages = 48 * MIB / PAGE, data = svm_data(&svm, pages), op;

	(void)state;
	svm_leave(&svm, 32 * MIB);
	put_groups(data, 12);
	fx_advise_pages(&svm.fx, data, 77, 900, "accessed_by", 0);
	svm_prefetch(&svm, data, 0, pages, 0);
	fx_host(&svm.fx, data, 40, 3000, UM_TOUCH_WRITTEN);
	op = put_groups(data, 12);
	svm_run(&svm);
	first = svm.log;
	assert_true(first.fault_count > 12);
	svm_run(&svm);
	assert_int_equal(first.fault_count, svm.log.fault_count);
	assert_int_equal(first.migration_count, svm.log.migration_count);
	for (size_t i = 0; i < first.fault_count; i++) {
		assert_int_equal(first.faults[i].first_page, svm.log.faults[i].first_page);
		assert_int_equal(first.faults[i].end_ns, svm.log.faults[i].end_ns);
	}
	assert_int_equal(first.ops[op].end_ns, svm.log.ops[op].end_ns);
}

#define SCALE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCALE(dropped_faults_are_served_in_their_turn),
		SCALE(ranges_do_not_wait_for_each_other),
		SCALE(pieces_of_a_range_serve_what_it_dropped),
		SCALE(a_range_is_cut_while_its_faults_wait),
		SCALE(a_host_fault_whose_page_came_back_is_none),
		SCALE(a_gibibyte_is_swept_block_by_block),
		SCALE(twice_as_much_as_fits_leaves_range_by_range),
		SCALE(many_small_allocations),
		SCALE(the_same_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
