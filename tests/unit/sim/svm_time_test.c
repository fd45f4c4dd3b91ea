/*
 * What driver amdgpu_svm's work takes, against closed forms. A transfer of n pages takes
 * LATENCY_NS + n * PAGE_NS; a fault F before that, a page that moves or is mapped U, a copy of up to
 * 512 pages S, a page of a new buffer object A; nothing else takes time.
 */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define F     100000
#define U     10
#define S     7000
#define A     3
#define COSTS "fault_service: 100us, page_update: 10ns, copy_setup: 7us, page_alloc: 3ns"

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

static void run_with(const char *parameters)
{
	char text[512];

	snprintf(text, sizeof(text), "driver: {name: amdgpu_svm, " COSTS ", %s}\n", parameters);
	fx_policy(&svm.fx, text);
	svm_run(&svm);
}

static int64_t duration(int64_t op)
{
	return svm.log.ops[op].end_ns - svm.log.ops[op].start_ns;
}

static void a_fault_takes_its_range_and_moves_its_block(void **state)
{
	int64_t data = svm_data(&svm, 1000), op = svm_read(&svm, data, 0, 512);

	(void)state;
	run_with("xnack: on");
	assert_int_equal(duration(op), F + 1000 * A + 512 * U + S + WINDOW_NS);
}

static void a_range_that_has_memory_takes_none(void **state)
{
	int64_t data = svm_data(&svm, 1000), op;

	(void)state;
	svm_read(&svm, data, 0, 512);
	op = svm_read(&svm, data, 512, 488);
	run_with("xnack: on, duplicate_window: 0ns");
	assert_int_equal(duration(op), F + 488 * U + S + LATENCY_NS + 488 * PAGE_NS);
}

static void pages_without_data_are_updated_and_not_copied(void **state)
{
	int64_t data = svm_alloc(&svm, 512), op = svm_write(&svm, data, 0, 1);

	(void)state;
	run_with("xnack: on");
	assert_int_equal(duration(op), F + 512 * A + 512 * U);
}

static void a_fault_that_maps_only_updates(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", UM_HOST);
	op = svm_read(&svm, data, 0, 1);
	run_with("xnack: on");
	assert_int_equal(duration(op), F + 512 * U); /* what is read remotely fits into that */
}

static void a_host_fault_copies_the_block_back(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	svm_prefetch(&svm, data, 0, 512, 0);
	op = fx_host(&svm.fx, data, 3, 1, UM_TOUCH_READ);
	run_with("xnack: on");
	assert_int_equal(duration(op), F + 512 * U + S + WINDOW_NS);
}

static void a_prefetch_moves_range_by_range(void **state)
{
	/* 32 MiB are the largest range: one, and 100 pages of another, which comes first. */
	int64_t pages = 32 * MIB / PAGE + 100, data = svm_data(&svm, pages), op;

	(void)state;
	op = svm_prefetch(&svm, data, 0, pages, 0);
	run_with("xnack: on");
	assert_int_equal(duration(op), pages * (A + U + PAGE_NS) + 17 * S + 2 * LATENCY_NS);
}

static void without_xnack_allocating_maps_every_page(void **state)
{
	int64_t op;

	(void)state;
	svm_alloc(&svm, 300);
	op = svm.fx.ops;
	run_with("xnack: off");
	assert_int_equal(duration(op), 300 * U);
}

/* The queues start when all pages are mapped again. */
static void the_restore_work_maps_page_by_page(void **state)
{
	int64_t data = svm_data(&svm, 512);
	const struct um_driver_event_row *stop;

	(void)state;
	svm_prefetch(&svm, data, 0, 512, 0);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	run_with("xnack: off");
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 1);
	stop = row_log_event(&svm.log, UM_EVENT_QUEUE_EVICTION, 0);
	assert_int_equal(stop->end_ns - stop->start_ns, RESTORE_NS + 512 * U);
}

/* svm_range_evict: what becomes invalid before the restore work comes is in the same stop. */
static void prefetches_of_two_streams_stop_the_queues_once(void **state)
{
	int64_t data = svm_data(&svm, 1000), other = svm_data(&svm, 512), clock;
	const struct um_driver_event_row *stop;

	(void)state;
	svm.fx.machine.launch_ns = 0;
	fx_prefetch_pages(&svm.fx, data, 0, 1000, 0);
	clock = fx_alloc(&svm.fx, "pinned", 1000 * PAGE);
	fx_copy(&svm.fx, clock, clock, 0, 3, true);
	fx_prefetch(&svm.fx, other, 512 * PAGE, 0, 2);
	fx_sync(&svm.fx);
	svm_read(&svm, data, 0, 1); /* ends when the queues go on */
	run_with("xnack: off, prefetch_waits: off, restore_delay: 2ms");
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_QUEUE_EVICTION), 1);
	stop = row_log_event(&svm.log, UM_EVENT_QUEUE_EVICTION, 0);
	assert_int_equal(stop->start_ns, 1512 * U);
	assert_in_range(stop->end_ns - stop->start_ns, 2 * RESTORE_NS, 2 * RESTORE_NS + 1512 * U);
}

/* A row for each time that some access waited; here one access after another. */
static void a_dropped_fault_waits_for_its_range(void **state)
{
	int64_t data = svm_data(&svm, 3 * WINDOW), op = svm_read(&svm, data, 0, 3 * WINDOW);
	int64_t first_end, second_end;

	(void)state;
	run_with("xnack: on");
	first_end = svm.log.ops[op].start_ns + F + 3 * WINDOW * A + WINDOW * U + S + WINDOW_NS;
	second_end = first_end + PENDING_NS + F + WINDOW * U + S + WINDOW_NS;
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_FAULT_DROPPED), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct um_driver_event_row *dropped =
			row_log_event(&svm.log, UM_EVENT_FAULT_DROPPED, i);

		assert_int_equal(dropped->op, op);
		assert_int_equal(dropped->device, 0);
		assert_int_equal(dropped->count, 1);
		assert_int_equal(dropped->start_ns, i ? second_end : first_end);
		assert_int_equal(dropped->end_ns - dropped->start_ns, PENDING_NS);
		assert_int_equal(dropped->waited_ns, PENDING_NS);
	}
	assert_int_equal(svm.fx.totals.dropped_faults, 2);
	assert_int_equal(svm.fx.totals.dropped_waited_ns, 2 * PENDING_NS);
	assert_int_equal(svm.fx.totals.dropped_ns, 2 * PENDING_NS);
}

/* One of them comes to be mapped by the other's fault, and waits no longer than that one. */
static void accesses_that_wait_together_are_one_row(void **state)
{
	int64_t data = svm_data(&svm, 2 * WINDOW);
	const struct um_driver_event_row *dropped;

	(void)state;
	fx_launch(&svm.fx, "three", 3, 0);
	fx_touch(&svm.fx, 0, data, 0, false);
	fx_touch(&svm.fx, 1, data, WINDOW, false);
	fx_touch(&svm.fx, 2, data, WINDOW + 1, false);
	fx_launch_end(&svm.fx);
	run_with("xnack: on");
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_FAULT_DROPPED), 1);
	dropped = row_log_event(&svm.log, UM_EVENT_FAULT_DROPPED, 0);
	assert_int_equal(dropped->count, 2);
	assert_int_equal(dropped->end_ns - dropped->start_ns, PENDING_NS);
	assert_int_equal(dropped->waited_ns, 2 * PENDING_NS);
	assert_int_equal(row_log_faults(&svm.log, 0, 0), 2);
	assert_int_equal(svm.fx.totals.dropped_faults, 2);
	assert_int_equal(svm.fx.totals.dropped_waited_ns, 2 * PENDING_NS);
	assert_int_equal(svm.fx.totals.dropped_ns, PENDING_NS);
}

static void without_the_window_none_is_dropped(void **state)
{
	int64_t data = svm_data(&svm, 3 * WINDOW);

	(void)state;
	svm_read(&svm, data, 0, 3 * WINDOW);
	run_with("xnack: on, duplicate_window: 0ns");
	assert_int_equal(row_log_events(&svm.log, UM_EVENT_FAULT_DROPPED), 0);
	assert_int_equal(svm.fx.totals.dropped_faults, 0);
}

/* The default costs are those that the help tells of. */
static void defaults_add_up(void **state)
{
	int64_t data = svm_data(&svm, 512), op = svm_read(&svm, data, 0, 512);

	(void)state;
	fx_policy(&svm.fx, "driver: {name: amdgpu_svm, xnack: on}\n");
	svm_run(&svm);
	assert_int_equal(duration(op), 100000 + 512 * (120 + 120) + 60000 + WINDOW_NS);
}

#define TIME(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIME(a_fault_takes_its_range_and_moves_its_block),
		TIME(a_range_that_has_memory_takes_none),
		TIME(pages_without_data_are_updated_and_not_copied),
		TIME(a_fault_that_maps_only_updates),
		TIME(a_host_fault_copies_the_block_back),
		TIME(a_prefetch_moves_range_by_range),
		TIME(without_xnack_allocating_maps_every_page),
		TIME(the_restore_work_maps_page_by_page),
		TIME(prefetches_of_two_streams_stop_the_queues_once),
		TIME(a_dropped_fault_waits_for_its_range),
		TIME(accesses_that_wait_together_are_one_row),
		TIME(without_the_window_none_is_dropped),
		TIME(defaults_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
