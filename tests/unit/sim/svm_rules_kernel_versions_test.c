/*
 * Rules of driver amdgpu_svm that changed with 6.8: before, a device fault moved its whole range and
 * a host fault split it (svm_range_split_by_granularity).
 */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define OLD "xnack: on, kernel: '6.6'"
#define NEW "xnack: on, kernel: '6.8'"

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, OLD);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static void run_with(const char *parameters)
{
	svm_choose(&svm, parameters, "");
	svm_run(&svm);
}

static int64_t to_device(int64_t op)
{
	return row_log_moved(&svm.log, op, UM_HOST, 0, NULL);
}

static int64_t to_host(int64_t op)
{
	return row_log_moved(&svm.log, op, 0, UM_HOST, NULL);
}

/* svm_range_restore_pages */
static void a_device_fault_moved_the_whole_range(void **state)
{
	int64_t data = svm_data(&svm, 1536), op = svm_read(&svm, data, 700, 1);
	int64_t rest = svm_read(&svm, data, 0, 1536);

	(void)state;
	run_with(OLD);
	assert_int_equal(to_device(op), PAGES(1536));
	assert_int_equal(row_log_transfer(&svm.log, 0)->pages, 1536);
	assert_int_equal(row_log_faults(&svm.log, rest, 0), 0);
	run_with(NEW);
	assert_int_equal(to_device(op), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, rest, 0), 2);
}

/* svm_migrate_to_ram, svm_range_split_by_granularity: the granule alone goes back, in both. */
static void a_host_fault_moved_its_granule(void **state)
{
	int64_t data = svm_data(&svm, 1536), op, kernel;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	op = fx_host(&svm.fx, data, 700, 1, UM_TOUCH_READ);
	kernel = svm_read(&svm, data, 0, 512);
	run_with(OLD);
	assert_int_equal(to_host(op), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
	run_with(NEW);
	assert_int_equal(to_host(op), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
}

/* ... and is a range of its own from then on: what faults there moves no more than that. */
static void a_host_fault_split_the_range_for_good(void **state)
{
	int64_t data = svm_data(&svm, 1536), granule, head;

	(void)state;
	svm_read(&svm, data, 0, 1);
	fx_host(&svm.fx, data, 700, 1, UM_TOUCH_READ);
	svm_prefetch(&svm, data, 0, 1536, UM_HOST);
	granule = svm_read(&svm, data, 512, 1);
	head = svm_read(&svm, data, 511, 1);
	run_with(OLD);
	assert_int_equal(to_device(granule), PAGES(512));
	assert_int_equal(to_device(head), PAGES(512));
}

/* A range that no host fault has split moves whole again. */
static void without_a_host_fault_the_range_stayed_whole(void **state)
{
	int64_t data = svm_data(&svm, 1536), again;

	(void)state;
	svm_read(&svm, data, 0, 1);
	svm_prefetch(&svm, data, 0, 1536, UM_HOST);
	again = svm_read(&svm, data, 511, 1);
	run_with(OLD);
	assert_int_equal(to_device(again), PAGES(1536));
}

/* svm_range_validate_and_map: preferred on the host, the whole range was mapped by one fault. */
static void one_fault_mapped_the_whole_range(void **state)
{
	int64_t data = svm_data(&svm, 1536), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", UM_HOST);
	op = svm_read(&svm, data, 0, 1536);
	run_with(OLD);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(1536));
	run_with(NEW);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 3);
}

/* svm_range_trigger_migration: a prefetch to where the range is did nothing; what a host fault had
 * taken is a range of its own, which is on the host, and is fetched. */
static void a_repeated_prefetch_took_what_host_faults_had_split_off(void **state)
{
	int64_t data = svm_data(&svm, 1536), again;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 512, 1, UM_TOUCH_READ);
	again = svm_prefetch(&svm, data, 0, 1536, 0);
	run_with(OLD);
	assert_int_equal(to_device(again), PAGES(512));
	run_with(NEW);
	assert_int_equal(to_device(again), PAGES(512));
}

/* svm_migrate_vram_to_vram: the whole range both ways. */
static void between_devices_the_whole_range_went_both_ways(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	svm.fx.machine.devices = 2;
	svm_prefetch(&svm, data, 0, 1024, 0);
	svm.fx.device = 1;
	op = svm_read(&svm, data, 0, 1);
	run_with(OLD);
	assert_int_equal(to_host(op), PAGES(1024));
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 1, NULL), PAGES(1024));
}

/* svm_range_vram_node_free, svm_range_validate_svm_bo: the granule comes back into the same memory. */
static void a_granule_came_back_into_the_memory_of_its_range(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 512), back;

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(128 * MIB);
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	fx_host(&svm.fx, a, 0, 1, UM_TOUCH_READ);
	svm_prefetch(&svm, b, 0, 512, 0);
	back = svm_read(&svm, a, 0, 1);
	run_with(OLD);
	assert_int_equal(to_device(back), PAGES(512));
	assert_int_equal(row_log_moved(&svm.log, 0, 0, UM_HOST, "eviction"), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_device_fault_moved_the_whole_range),
		RULE(a_host_fault_moved_its_granule),
		RULE(a_host_fault_split_the_range_for_good),
		RULE(without_a_host_fault_the_range_stayed_whole),
		RULE(one_fault_mapped_the_whole_range),
		RULE(a_repeated_prefetch_took_what_host_faults_had_split_off),
		RULE(between_devices_the_whole_range_went_both_ways),
		RULE(a_granule_came_back_into_the_memory_of_its_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
