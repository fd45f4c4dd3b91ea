/* Rules of driver amdgpu_svm: several devices, in one xGMI hive or not. XNACK on, kernel 6.8. */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HIVE	"xnack: on, kernel: '6.8', hive: on"
#define NO_HIVE "xnack: on, kernel: '6.8', hive: off"

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, NO_HIVE);
	svm.fx.machine.devices = 2;
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static int64_t read_on(int64_t device, int64_t allocation, int64_t first, int64_t pages)
{
	int64_t op;

	svm.fx.device = device;
	op = svm_read(&svm, allocation, first, pages);
	svm.fx.device = 0;
	return op;
}

static void run_in_hive(const char *parameters)
{
	svm_choose(&svm, parameters, "");
	svm_run(&svm);
}

static int64_t moved(int64_t op, int64_t from, int64_t to)
{
	return row_log_moved(&svm.log, op, from, to, NULL);
}

/*
 * svm_migrate_vram_to_vram: all pages that the range has on the other device go to host memory, then
 * the window goes from there to the device that faulted; in a hive too.
 */
static void from_device_to_device_through_the_host(void **state)
{
	int64_t data = svm_data(&svm, 1024), op, took;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	op = read_on(1, data, 0, 1);
	for (int hive = 0; hive < 2; hive++) {
		run_in_hive(hive ? HIVE : NO_HIVE);
		assert_int_equal(row_log_faults(&svm.log, op, 1), 1);
		assert_int_equal(moved(op, 0, UM_HOST), PAGES(1024));
		assert_int_equal(moved(op, UM_HOST, 1), PAGES(512));
		assert_int_equal(moved(op, 0, 1), 0);
		assert_int_equal(row_log_moved(&svm.log, op, 0, UM_HOST, "device_fault"),
				 PAGES(1024));
		/* the range was validated when it was prefetched: 2 ms, and the retry */
		took = svm.log.ops[op].end_ns - svm.log.ops[op].start_ns - PENDING_NS;
		assert_in_range(took, LATENCY_NS + 1024 * PAGE_NS + WINDOW_NS,
				LATENCY_NS + 1024 * PAGE_NS + WINDOW_NS + 50000);
	}
}

/* svm_range_evict unmaps from every device: the first one faults when it comes back. */
static void what_another_device_took_faults(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	read_on(0, data, 0, 1);
	read_on(1, data, 0, 1);
	op = read_on(0, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(moved(op, 1, UM_HOST), PAGES(512));
	assert_int_equal(moved(op, UM_HOST, 0), PAGES(512));
}

/* svm_range_restore_pages maps to the device that faulted, svm_range_set_attr to where it went. */
static void a_prefetch_maps_to_its_target_only(void **state)
{
	int64_t data = svm_data(&svm, 512), there, elsewhere;

	(void)state;
	svm_prefetch(&svm, data, 0, 512, 1);
	there = read_on(1, data, 0, 512);
	elsewhere = read_on(0, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, there, 1), 0);
	assert_int_equal(row_log_faults(&svm.log, elsewhere, 0), 1);
}

/* svm_range_best_restore_location, ACCESS_IN_PLACE: from the other device's memory in a hive. */
static void accessed_by_in_a_hive_reads_the_other_device(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	read_on(0, data, 0, 1);
	fx_advise(&svm.fx, data, "accessed_by", 1);
	op = read_on(1, data, 0, 512);
	run_in_hive(HIVE);
	assert_int_equal(row_log_faults(&svm.log, op, 1), 1);
	assert_int_equal(moved(op, ROW_LOG_ANY, ROW_LOG_ANY), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 1), PAGES(512));
}

/*
 * svm_range_restore_pages tries to migrate whenever a device is involved, migrate_vma_setup
 * invalidates before it finds that all is in place: the other device has to fault its mapping in.
 */
static void a_fault_that_moves_nothing_unmaps_the_other_devices(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	read_on(0, data, 0, 1);
	fx_advise(&svm.fx, data, "accessed_by", 1);
	read_on(1, data, 0, 1);
	op = read_on(0, data, 0, 1);
	run_in_hive(HIVE);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(moved(op, ROW_LOG_ANY, ROW_LOG_ANY), 0);
}

/* The same: outside of one the window goes to the host and is mapped from there. */
static void accessed_by_outside_a_hive_brings_the_window_to_the_host(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 1);
	read_on(0, data, 0, 1);
	read_on(0, data, 512, 1);
	op = read_on(1, data, 0, 512);
	run_in_hive(NO_HIVE);
	assert_int_equal(row_log_faults(&svm.log, op, 1), 1);
	assert_int_equal(moved(op, 0, UM_HOST), PAGES(512));
	assert_int_equal(moved(op, UM_HOST, 1), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 1), PAGES(512));
}

/* svm_range_best_restore_location: a preferred device of the same hive is where it goes. */
static void a_preferred_device_of_the_hive_gets_the_window(void **state)
{
	int64_t data = svm_data(&svm, 1024), op, there;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", 0);
	op = read_on(1, data, 0, 512);
	there = read_on(0, data, 0, 512);
	run_in_hive(HIVE);
	assert_int_equal(row_log_faults(&svm.log, op, 1), 1);
	assert_int_equal(moved(op, UM_HOST, 0), PAGES(512));
	assert_int_equal(row_log_remote_reads(&svm.log, op, 1), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, there, 0), 1); /* mapped to the other one only */
	assert_int_equal(moved(there, ROW_LOG_ANY, ROW_LOG_ANY), 0);
}

/* The same: of another hive it is as if there was none. */
static void a_preferred_device_outside_the_hive_does_not_count(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", 0);
	op = read_on(1, data, 0, 512);
	run_in_hive(NO_HIVE);
	assert_int_equal(moved(op, UM_HOST, 1), PAGES(512));
	assert_int_equal(moved(op, UM_HOST, 0), 0);
}

/*
 * svm_range_best_prefetch_location: with XNACK, a device outside the target's hive that has
 * ACCESS_IN_PLACE keeps a prefetch on the host; one that only has ACCESS does not.
 */
static void accessed_by_outside_the_hive_keeps_a_prefetch_on_the_host(void **state)
{
	int64_t plain = svm_data(&svm, 512), advised = svm_data(&svm, 512), a, b;

	(void)state;
	fx_advise(&svm.fx, advised, "accessed_by", 1);
	a = svm_prefetch(&svm, plain, 0, 512, 0);
	b = svm_prefetch(&svm, advised, 0, 512, 0);
	run_in_hive(NO_HIVE);
	assert_int_equal(moved(a, UM_HOST, 0), PAGES(512));
	assert_int_equal(moved(b, ROW_LOG_ANY, ROW_LOG_ANY), 0);
	run_in_hive(HIVE);
	assert_int_equal(moved(b, UM_HOST, 0), PAGES(512));
}

/* svm_range_validate_and_map: in a hive a prefetch maps to the ACCESS_IN_PLACE devices too. */
static void in_a_hive_a_prefetch_maps_to_all_that_access_in_place(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 1);
	svm_prefetch(&svm, data, 0, 512, 0);
	op = read_on(1, data, 0, 512);
	run_in_hive(HIVE);
	assert_int_equal(row_log_faults(&svm.log, op, 1), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 1), PAGES(512));
}

/* svms.lock is one for the process: devices with links of their own wait for each other. */
static void faults_of_two_devices_are_served_in_turn(void **state)
{
	int64_t a = svm_data(&svm, 512), b = svm_data(&svm, 512);

	(void)state;
	svm_launch(&svm, a, 0, 1, false, 1);
	svm.fx.device = 1;
	svm_launch(&svm, b, 0, 1, false, 2);
	svm.fx.device = 0;
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.end_ns, 2 * WINDOW_NS);
	assert_int_equal(row_log_transfer(&svm.log, 1)->start_ns, WINDOW_NS);
}

/* svm_range_vram_node_new: each device has its own memory to evict from. */
static void a_range_leaves_the_memory_of_the_first_device(void **state)
{
	int64_t data = svm_data(&svm, 512), other = svm_data(&svm, 512);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(64 * MIB);
	svm_leave(&svm, 2 * MIB);
	svm_prefetch(&svm, data, 0, 512, 0);
	svm_prefetch(&svm, data, 0, 512, 1);
	svm_prefetch(&svm, other, 0, 512, 0);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, 0, ROW_LOG_ANY, ROW_LOG_ANY, "eviction"), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(from_device_to_device_through_the_host),
		RULE(what_another_device_took_faults),
		RULE(a_prefetch_maps_to_its_target_only),
		RULE(accessed_by_in_a_hive_reads_the_other_device),
		RULE(a_fault_that_moves_nothing_unmaps_the_other_devices),
		RULE(accessed_by_outside_a_hive_brings_the_window_to_the_host),
		RULE(a_preferred_device_of_the_hive_gets_the_window),
		RULE(a_preferred_device_outside_the_hive_does_not_count),
		RULE(accessed_by_outside_the_hive_keeps_a_prefetch_on_the_host),
		RULE(in_a_hive_a_prefetch_maps_to_all_that_access_in_place),
		RULE(faults_of_two_devices_are_served_in_turn),
		RULE(a_range_leaves_the_memory_of_the_first_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
