/* A coherent host link: the host reads and writes device memory where it is (driver amdgpu_svm). */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FREE "xnack: on, duplicate_window: 0ns"

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, FREE);
	svm.fx.machine.link.coherent = true;
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static int64_t duration(int64_t op)
{
	return svm.log.ops[op].end_ns - svm.log.ops[op].start_ns;
}

static void the_host_reads_device_memory_without_a_fault(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	svm_read(&svm, data, 0, 512);
	op = fx_host(&svm.fx, data, 10, 20, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, UM_HOST), 0);
	assert_int_equal(row_log_moved(&svm.log, op, 0, UM_HOST, NULL), 0);
	assert_int_equal(svm.log.remote_count, 1);
	assert_int_equal(svm.log.remotes[0].op, op);
	assert_int_equal(svm.log.remotes[0].device, UM_HOST);
	assert_int_equal(svm.log.remotes[0].first_page, 10);
	assert_int_equal(svm.log.remotes[0].pages, 20);
	assert_int_equal(svm.log.remotes[0].lines_read, 20 * 64);
	assert_int_equal(svm.log.remotes[0].lines_written, 0);
	assert_int_equal(svm.log.remotes[0].bytes_to_host, PAGES(20));
	assert_int_equal(svm.log.remotes[0].bytes_to_device, 0);
	assert_int_equal(duration(op), LATENCY_NS + 20 * PAGE_NS);
}

static void what_it_writes_crosses_to_the_device(void **state)
{
	int64_t data = svm_data(&svm, 512), op, kernel;

	(void)state;
	svm_read(&svm, data, 0, 512);
	op = fx_host(&svm.fx, data, 0, 3, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	kernel = svm_read(&svm, data, 0, 512);
	svm_run(&svm);
	assert_int_equal(svm.log.remotes[0].bytes_to_device, PAGES(3));
	assert_int_equal(svm.log.remotes[0].bytes_to_host, 0);
	assert_int_equal(duration(op), LATENCY_NS + 3 * PAGE_NS);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
	assert_int_equal(svm.fx.totals.bytes_to_device, PAGES(512 + 3));
}

/* Reads, then writes: one after the other, each its lines once. */
static void what_is_read_and_written_crosses_both_ways(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	svm_read(&svm, data, 0, 512);
	op = fx_host(&svm.fx, data, 0, 4, UM_TOUCH_READ | UM_TOUCH_WRITTEN);
	svm_run(&svm);
	assert_int_equal(svm.log.remote_count, 2);
	assert_int_equal(svm.fx.totals.remote_to_host, PAGES(4));
	assert_int_equal(svm.fx.totals.remote_to_device, PAGES(4));
	assert_int_equal(duration(op), 2 * (LATENCY_NS + 4 * PAGE_NS));
}

static void pages_of_both_sides_are_read_where_they_are(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	svm_read(&svm, data, 0, 512);
	op = fx_host(&svm.fx, data, 500, 100, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.remote_to_host, PAGES(12));
	assert_int_equal(row_log_faults(&svm.log, op, UM_HOST), 0);
}

static void a_prefetch_to_the_host_ends_it(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	svm_read(&svm, data, 0, 512);
	svm_prefetch(&svm, data, 0, 512, UM_HOST);
	op = fx_host(&svm.fx, data, 0, 512, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(svm.log.remote_count, 0);
	assert_int_equal(duration(op), 0);
	assert_int_equal(svm.fx.totals.migrated_to_host[UM_CAUSE_PREFETCH], PAGES(512));
}

static void without_xnack_it_holds_as_well(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	svm_prefetch(&svm, data, 0, 512, 0);
	op = fx_host(&svm.fx, data, 0, 8, UM_TOUCH_READ);
	svm_choose(&svm, "xnack: off", "");
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, UM_HOST), 0);
	assert_int_equal(svm.fx.totals.remote_to_host, PAGES(8));
	assert_int_equal(svm.fx.totals.queue_evictions, 1); /* the prefetch's */
}

#define LINK(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINK(the_host_reads_device_memory_without_a_fault),
		LINK(what_it_writes_crosses_to_the_device),
		LINK(what_is_read_and_written_crosses_both_ways),
		LINK(pages_of_both_sides_are_read_where_they_are),
		LINK(a_prefetch_to_the_host_ends_it),
		LINK(without_xnack_it_holds_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
