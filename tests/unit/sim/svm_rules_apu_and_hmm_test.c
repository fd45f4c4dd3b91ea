/*
 * Rules of driver amdgpu_svm for other machines and memory: one memory for host and device, a
 * coherent link, no HMM, and memory that HIP did not allocate.
 */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: on, kernel: '6.8'");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static int64_t moved(int64_t op)
{
	return row_log_moved(&svm.log, op, ROW_LOG_ANY, ROW_LOG_ANY, NULL);
}

static void expect_no_traffic(void)
{
	assert_int_equal(svm.fx.totals.bytes_to_device, 0);
	assert_int_equal(svm.fx.totals.bytes_to_host, 0);
	assert_int_equal(moved(0), 0);
}

/* --- one memory (mi300a) --- */

/* svm_range_best_restore_location: is_app_apu, always the host, which is the device's memory. */
static void on_an_apu_faults_map_and_nothing_moves(void **state)
{
	int64_t data = svm_data(&svm, 300), op = svm_write(&svm, data, 0, 300);

	(void)state;
	svm.fx.machine.apu = true;
	svm.fx.machine.link.coherent = true;
	fx_host(&svm.fx, data, 0, 300, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(svm.fx.totals.host_faults, 0);
	expect_no_traffic();
}

/* svm_range_best_prefetch_location: is_app_apu, always the host. */
static void on_an_apu_a_prefetch_does_nothing(void **state)
{
	int64_t data = svm_data(&svm, 300), op = svm_prefetch(&svm, data, 0, 300, 0);
	int64_t kernel = svm_read(&svm, data, 0, 300);

	(void)state;
	svm.fx.machine.apu = true;
	svm.fx.machine.link.coherent = true;
	svm_run(&svm);
	expect_no_traffic();
	assert_int_equal(svm.log.ops[op].end_ns, 0);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 1);
}

/* --- a coherent link (Frontier's MI250X) --- */

/* kgd2kfd_init_zone_device: MEMORY_DEVICE_COHERENT, the host maps it and does not fault. */
static void over_a_coherent_link_the_host_accesses_the_device_in_place(void **state)
{
	int64_t data = svm_data(&svm, 1024), read, write, kernel;

	(void)state;
	svm.fx.machine.link.coherent = true;
	svm_prefetch(&svm, data, 0, 1024, 0);
	read = fx_host(&svm.fx, data, 0, 512, UM_TOUCH_READ);
	write = fx_host(&svm.fx, data, 512, 512, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	kernel = svm_read(&svm, data, 0, 1024);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.host_faults, 0);
	assert_int_equal(moved(read) + moved(write) + moved(kernel), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, read, UM_HOST), PAGES(512));
	assert_int_equal(row_log_remote_writes(&svm.log, write, UM_HOST), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
	assert_int_equal(svm.fx.totals.bytes_to_host, PAGES(512));
	assert_int_equal(svm.fx.totals.bytes_to_device, PAGES(1024) + PAGES(512));
}

/* The rest is as elsewhere: the device's own first accesses fault and move. */
static void over_a_coherent_link_device_faults_move(void **state)
{
	int64_t data = svm_data(&svm, 1024), op = svm_read(&svm, data, 0, 1);

	(void)state;
	svm.fx.machine.link.coherent = true;
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(512));
}

/* --- no HMM: the runtime makes managed memory pinned host memory --- */

/* rocdevice.cpp: hmmSupported_ false; SetSvmAttributesInt warns and succeeds. */
static void without_hmm_managed_memory_is_pinned(void **state)
{
	int64_t data = svm_data(&svm, 1024), op, host;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_prefetch(&svm, data, 0, 1024, 0);
	op = svm_read(&svm, data, 0, 1024);
	host = fx_host(&svm.fx, data, 0, 1024, UM_TOUCH_READ);
	for (int xnack = 0; xnack < 2; xnack++) {
		svm_choose(&svm,
			   xnack ? "xnack: on, kernel: '6.8', hmm: off"
				 : "xnack: off, kernel: '6.8', hmm: off",
			   "");
		svm_run(&svm);
		assert_int_equal(moved(0), 0);
		assert_int_equal(svm.fx.totals.device_faults + svm.fx.totals.host_faults, 0);
		assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(1024));
		assert_int_equal(row_log_remote_reads(&svm.log, host, UM_HOST), 0);
		assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
		assert_true(svm.fx.ignored[0] != '\0'); /* the result says so */
	}
}

/* --- memory that HIP did not allocate --- */

static int64_t pageable(int64_t pages, int64_t flags)
{
	int64_t allocation = fx_alloc_flags(&svm.fx, "pageable", PAGES(pages), flags);

	fx_host(&svm.fx, allocation, 0, pages, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	return allocation;
}

/*
 * svm_range_create_unregistered_range: what malloc mapped becomes a range, 2 MiB around the fault
 * that lie in the mapping, and moves like managed memory.
 */
static void malloc_moves_block_by_block(void **state)
{
	int64_t data = pageable(1024, 0), op = svm_read(&svm, data, 0, 1), sum;

	(void)state;
	svm_read(&svm, data, 0, 1024);
	svm_choose(&svm, "xnack: on, kernel: '6.6'", ""); /* moves ranges: no range is longer */
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_in_range(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(1), PAGES(512));
	sum = row_log_moved(&svm.log, 0, UM_HOST, 0, NULL);
	assert_int_equal(sum, PAGES(1024));
	assert_in_range(svm.fx.totals.device_faults, 2, 3);
}

/* svm_range_create_unregistered_range: the initial heap and stack prefer host memory. */
static void heap_and_stack_stay_on_the_host(void **state)
{
	static const int64_t kinds[] = {UM_PAGEABLE_HEAP, UM_PAGEABLE_STACK};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int64_t data = pageable(300, kinds[i]), op = svm_read(&svm, data, 0, 300);
		int64_t host = fx_host(&svm.fx, data, 0, 300, UM_TOUCH_READ);

		svm_run(&svm);
		assert_in_range(row_log_faults(&svm.log, op, 0), 1, 2);
		assert_int_equal(moved(op), 0);
		assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(300));
		assert_int_equal(row_log_faults(&svm.log, host, UM_HOST), 0);
	}
}

/* What malloc mapped and the device took comes back by a host fault. */
static void malloc_comes_back_by_host_faults(void **state)
{
	int64_t data = pageable(100, 0), host;

	(void)state;
	svm_read(&svm, data, 0, 100);
	host = fx_host(&svm.fx, data, 0, 100, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(moved(host), row_log_moved(&svm.log, 0, UM_HOST, 0, NULL));
	assert_in_range(row_log_faults(&svm.log, host, UM_HOST), 1, 2);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(on_an_apu_faults_map_and_nothing_moves),
		RULE(on_an_apu_a_prefetch_does_nothing),
		RULE(over_a_coherent_link_the_host_accesses_the_device_in_place),
		RULE(over_a_coherent_link_device_faults_move),
		RULE(without_hmm_managed_memory_is_pinned),
		RULE(malloc_moves_block_by_block),
		RULE(heap_and_stack_stay_on_the_host),
		RULE(malloc_comes_back_by_host_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
