/* Rules of driver amdgpu_svm without XNACK: all is mapped up front, and queues stop. Kernel 6.8. */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: off, kernel: '6.8'");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static void expect_in_place(int64_t op, int64_t pages)
{
	assert_int_equal(row_log_faults(&svm.log, op, 0), 0);
	assert_int_equal(row_log_moved(&svm.log, op, ROW_LOG_ANY, ROW_LOG_ANY, NULL), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(pages));
}

static void expect_stop(size_t n, int64_t device, int64_t start_ns, int64_t end_ns)
{
	const struct um_driver_event_row *event;

	event = row_log_event(&svm.log, UM_EVENT_QUEUE_EVICTION, n);
	assert_non_null(event);
	assert_string_equal(event->reason, "svm");
	assert_int_equal(event->device, device);
	assert_int_equal(event->start_ns, start_ns);
	assert_int_equal(event->end_ns, end_ns);
}

/* svm_range_set_attr: ACCESS sets update_mapping; hipMallocManaged gives it to every device. */
static void managed_memory_is_mapped_when_it_is_made(void **state)
{
	int64_t data = svm_data(&svm, 1536), op = svm_read(&svm, data, 0, 1536);

	(void)state;
	svm_run(&svm);
	expect_in_place(op, 1536);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
}

/* svm_range_validate_and_map: to be mapped the pages must exist, in host memory. */
static void managed_memory_has_data_when_it_is_made(void **state)
{
	int64_t data = svm_alloc(&svm, 1536), write = svm_write(&svm, data, 0, 1), move;

	(void)state;
	move = svm_prefetch(&svm, data, 0, 1536, 0);
	svm_run(&svm);
	assert_int_equal(row_log_remote_writes(&svm.log, write, 0), PAGES(1));
	assert_int_equal(row_log_moved(&svm.log, move, UM_HOST, 0, "prefetch"), PAGES(1536));
}

/*
 * svm_range_evict: what is to move is invalidated, and that stops the queues; svm_range_restore_work
 * comes 1 ms later, maps it and lets them go on.
 */
static void a_prefetch_stops_the_queues_for_1_ms(void **state)
{
	int64_t data = svm_data(&svm, 100), move = svm_prefetch(&svm, data, 0, 100, 0);
	int64_t op = svm_read(&svm, data, 0, 100);

	(void)state;
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, move, UM_HOST, 0, "prefetch"), PAGES(100));
	assert_int_equal(svm.log.ops[move].end_ns, LATENCY_NS + 100 * PAGE_NS);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 1);
	expect_stop(0, 0, 0, RESTORE_NS);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 0), 0);
	assert_int_equal(svm.log.ops[op].end_ns, RESTORE_NS);
	assert_int_equal(svm.fx.totals.queue_evictions, 1);
	assert_int_equal(svm.fx.totals.queues_stopped_ns, RESTORE_NS);
	assert_int_equal(svm.fx.totals.device_faults, 0);
}

/* svm_range_restore_work needs the locks that svm_range_set_attr holds until all has moved. */
static void the_queues_stand_until_a_long_prefetch_is_over(void **state)
{
	int64_t data = svm_data(&svm, 2048), op;

	(void)state;
	svm_prefetch(&svm, data, 0, 2048, 0);
	op = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	expect_stop(0, 0, 0, LATENCY_NS + 2048 * PAGE_NS);
	assert_int_equal(svm.log.ops[op].end_ns, LATENCY_NS + 2048 * PAGE_NS);
}

/* svm_range_evict: only the first of several invalidations stops them (evicted_ranges). */
static void the_ranges_of_one_prefetch_stop_the_queues_once(void **state)
{
	int64_t data = svm_data(&svm, 1536);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(64 * MIB);
	svm_prefetch(&svm, data, 0, 1536, 0);
	svm_run(&svm);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 1);
	expect_stop(0, 0, 0, 3 * WINDOW_NS);
}

/* svm_migrate_to_ram invalidates as well; the page stays in host memory and is mapped from there. */
static void a_host_fault_stops_the_queues_and_its_window_stays(void **state)
{
	int64_t data = svm_data(&svm, 1024), host, back, rest;
	int64_t start = LATENCY_NS + 1024 * PAGE_NS;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	host = fx_host(&svm.fx, data, 700, 1, UM_TOUCH_READ);
	back = svm_read(&svm, data, 512, 512);
	rest = svm_read(&svm, data, 0, 512);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, host, 0, UM_HOST, "host_fault"), PAGES(512));
	assert_int_equal(svm.log.ops[host].end_ns - svm.log.ops[host].start_ns, WINDOW_NS);
	expect_stop(1, 0, start, start + RESTORE_NS);
	expect_in_place(back, 512);
	expect_in_place(rest, 0);
	assert_int_equal(svm.log.ops[rest].end_ns >= start + RESTORE_NS, 1);
}

/* svm_range_list_fini: the end of the process is that of its queues, and cancels the restore work. */
static void a_stop_ends_with_the_program(void **state)
{
	int64_t data = svm_data(&svm, 100), host;

	(void)state;
	svm_prefetch(&svm, data, 0, 100, 0);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	host = fx_host(&svm.fx, data, 0, 1, UM_TOUCH_READ);
	svm_run(&svm);
	assert_true(svm.log.ops[host].end_ns < 2 * RESTORE_NS);
	expect_stop(1, 0, RESTORE_NS, svm.log.ops[host].end_ns);
	assert_int_equal(svm.fx.totals.queues_stopped_ns, svm.fx.totals.end_ns);
}

/* Work that runs while the queues stop stands still for as long. */
static void a_running_kernel_stands_still(void **state)
{
	int64_t a = svm_data(&svm, 8), b = svm_data(&svm, 100), op;

	(void)state;
	svm.fx.machine.launch_ns = 1000;
	op = svm_launch(&svm, a, 0, 8, false, 1);
	fx_prefetch(&svm.fx, b, PAGES(100), 0, 2);
	fx_sync(&svm.fx);
	svm_run(&svm);
	expect_stop(0, 0, 0, RESTORE_NS);
	assert_true(svm.log.ops[op].end_ns >= RESTORE_NS);
}

/* migrate_vma_setup invalidates whether it then finds pages or not (6.8 tries again, see below). */
static void a_prefetch_that_moves_nothing_stops_the_queues_all_the_same(void **state)
{
	int64_t data = svm_data(&svm, 100);

	(void)state;
	svm_prefetch(&svm, data, 0, 100, 0);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	svm_prefetch(&svm, data, 0, 100, 0);
	svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, 0, UM_HOST, 0, NULL), PAGES(100));
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 2);
	expect_stop(1, 0, RESTORE_NS, 2 * RESTORE_NS);
}

/* svm_range_trigger_migration, 6.6: where the range is at the location already, nothing is done. */
static void under_6_6_a_repeated_prefetch_stops_nothing(void **state)
{
	int64_t data = svm_data(&svm, 100);

	(void)state;
	svm_prefetch(&svm, data, 0, 100, 0);
	svm_read(&svm, data, 0, 1);
	svm_prefetch(&svm, data, 0, 100, 0);
	svm_choose(&svm, "xnack: off, kernel: '6.6'", "");
	svm_run(&svm);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 1);
}

/* A prefetch to the host of what is there triggers no migration. */
static void a_prefetch_to_where_all_is_stops_nothing(void **state)
{
	int64_t data = svm_data(&svm, 100);

	(void)state;
	svm_prefetch(&svm, data, 0, 100, UM_HOST);
	svm_run(&svm);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
}

/* svm_range_best_restore_location is asked by faults only, and there are none. */
static void a_preferred_location_is_never_asked_for(void **state)
{
	int64_t data = svm_data(&svm, 100), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", 0);
	op = svm_read(&svm, data, 0, 100);
	svm_run(&svm);
	expect_in_place(op, 100);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
}

/* Advice repeats the last prefetch here as well, and the queues stop for it. */
static void advice_repeats_the_last_prefetch_and_stops_the_queues(void **state)
{
	int64_t data = svm_data(&svm, 1024), advice, op;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	fx_host(&svm.fx, data, 0, 1, UM_TOUCH_WRITTEN);
	svm_read(&svm, data, 0, 1);
	advice = fx_advise(&svm.fx, data, "preferred_location", 0);
	op = svm_read(&svm, data, 0, 1024);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, advice, UM_HOST, 0, NULL), PAGES(512));
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 3);
	expect_in_place(op, 0);
}

/* svm_range_evict_svm_bo_worker: evicting a range moves it, so it stops the queues. */
static void an_eviction_stops_the_queues_and_its_pages_stay(void **state)
{
	int64_t a = svm_data(&svm, 512), b = svm_data(&svm, 512), op, other;
	int64_t start;

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(64 * MIB);
	svm_leave(&svm, 2 * MIB);
	svm_prefetch(&svm, a, 0, 512, 0);
	op = svm_read(&svm, a, 0, 512);
	other = svm_prefetch(&svm, b, 0, 512, 0);
	svm_read(&svm, b, 0, 512);
	svm_run(&svm);
	start = svm.log.ops[op].end_ns;
	assert_int_equal(row_log_moved(&svm.log, other, 0, UM_HOST, "eviction"), PAGES(512));
	assert_int_equal(row_log_moved(&svm.log, other, UM_HOST, 0, "prefetch"), PAGES(512));
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 2);
	expect_stop(1, 0, start, start + 2 * WINDOW_NS);
}

/* The queues of every device of the process stop (kfd_process_evict_queues). */
static void the_queues_of_every_device_stop(void **state)
{
	int64_t data;

	(void)state;
	svm_choose(&svm, "xnack: off, kernel: '6.8', hive: on", "");
	svm.fx.machine.devices = 2;
	data = svm_data(&svm, 100);
	svm_prefetch(&svm, data, 0, 100, 1);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, 0, UM_HOST, 1, NULL), PAGES(100));
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 2);
	expect_stop(0, 0, 0, RESTORE_NS);
	expect_stop(1, 1, 0, RESTORE_NS);
}

/*
 * svm_range_best_prefetch_location: without XNACK a device outside the hive that may access the
 * range keeps it on the host; hipMallocManaged lets every device.
 */
static void outside_a_hive_no_prefetch_leaves_the_host(void **state)
{
	int64_t data, op;

	(void)state;
	svm_choose(&svm, "xnack: off, kernel: '6.8', hive: off", "");
	svm.fx.machine.devices = 2;
	data = svm_data(&svm, 100);
	svm_prefetch(&svm, data, 0, 100, 0);
	op = svm_read(&svm, data, 0, 100);
	svm_run(&svm);
	expect_in_place(op, 100);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
}

/* svm_range_set_attr: a prefetch for which there is no room leaves mapping and queues alone. */
static void a_prefetch_without_room_stops_nothing(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 3 * MIB);
	svm_prefetch(&svm, data, 0, 1024, 0);
	op = svm_read(&svm, data, 0, 1024);
	svm_run(&svm);
	expect_in_place(op, 1024);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 0);
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_VRAM_REFUSED), 1);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(managed_memory_is_mapped_when_it_is_made),
		RULE(managed_memory_has_data_when_it_is_made),
		RULE(a_prefetch_stops_the_queues_for_1_ms),
		RULE(the_queues_stand_until_a_long_prefetch_is_over),
		RULE(the_ranges_of_one_prefetch_stop_the_queues_once),
		RULE(a_host_fault_stops_the_queues_and_its_window_stays),
		RULE(a_stop_ends_with_the_program),
		RULE(a_running_kernel_stands_still),
		RULE(a_prefetch_that_moves_nothing_stops_the_queues_all_the_same),
		RULE(under_6_6_a_repeated_prefetch_stops_nothing),
		RULE(a_prefetch_to_where_all_is_stops_nothing),
		RULE(a_preferred_location_is_never_asked_for),
		RULE(advice_repeats_the_last_prefetch_and_stops_the_queues),
		RULE(an_eviction_stops_the_queues_and_its_pages_stay),
		RULE(the_queues_of_every_device_stop),
		RULE(outside_a_hive_no_prefetch_leaves_the_host),
		RULE(a_prefetch_without_room_stops_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
