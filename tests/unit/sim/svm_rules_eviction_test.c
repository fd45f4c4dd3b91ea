/*
 * Rules of driver amdgpu_svm: what takes device memory, what leaves it, and what is refused. XNACK
 * on, kernel 6.8. A machine of 128 MiB has ranges of up to 4 MiB; device memory takes most of it.
 */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: on, kernel: '6.8'");
	svm.fx.machine.memory_bytes = (uint64_t)(128 * MIB);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static int64_t evicted(int64_t op)
{
	return row_log_moved(&svm.log, op, 0, UM_HOST, "eviction");
}

/*
 * TTM's list of a device's memory: a buffer object enters it at its end when it is made
 * (svm_range_vram_node_new reserves it once), nothing in kfd_svm.c moves it there later.
 */
static void the_buffer_object_made_first_leaves_first(void **state)
{
	int64_t a = svm_data(&svm, 512), b = svm_data(&svm, 512), c = svm_data(&svm, 512), d, again;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, b, 0, 512, 0);
	svm_prefetch(&svm, a, 0, 512, 0);
	svm_prefetch(&svm, c, 0, 512, 0);
	svm_read(&svm, b, 0, 512); /* hits are not seen */
	svm_prefetch(&svm, b, 0, 512, 0);
	d = svm_data(&svm, 512);
	svm_prefetch(&svm, d, 0, 512, 0);
	again = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(0), PAGES(2 * 512));
	assert_int_equal(row_log_faults(&svm.log, again, 0), 1);
	assert_int_equal(evicted(again), PAGES(512)); /* of a */
	for (size_t i = 0; i < svm.log.migration_count; i++)
		if (svm.log.migrations[i].op == again && svm.log.migrations[i].destination == -1)
			assert_int_equal(svm.log.migrations[i].allocation, a);
}

/* svm_range_evict_svm_bo_worker: all pages of it, also where one page's room would do. */
static void a_whole_buffer_object_leaves(void **state)
{
	int64_t a = svm_data(&svm, 512), b = svm_data(&svm, 8), op;

	(void)state;
	svm_leave(&svm, 2 * MIB);
	svm_prefetch(&svm, a, 0, 512, 0);
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(512));
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(8));
}

/* The eviction is over before the pages that need the room start (ttm_bo_wait_ctx). */
static void a_fault_waits_for_the_eviction(void **state)
{
	int64_t a = svm_data(&svm, 512), b = svm_data(&svm, 512), op;

	(void)state;
	svm_leave(&svm, 2 * MIB);
	svm_prefetch(&svm, a, 0, 512, 0);
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[op].end_ns - svm.log.ops[op].start_ns, 2 * WINDOW_NS);
}

/* svm_range_vram_node_new: the buffer object has the size of the range, for a window's pages too. */
static void a_window_takes_the_memory_of_its_range(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_read(&svm, a, 0, 1); /* 2 MiB of data in 4 MiB of memory */
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(512));
}

/* svm_migrate_vram_to_ram: the last page that leaves frees the buffer object. */
static void the_last_page_that_leaves_frees_the_memory(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_read(&svm, a, 0, 1);
	fx_host(&svm.fx, a, 0, 1, UM_TOUCH_READ);
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(0), 0);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(512));
}

/* The same: as long as one page is there, all of the memory is taken. */
static void one_page_that_stays_keeps_the_memory(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	fx_host(&svm.fx, a, 0, 1, UM_TOUCH_READ);
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(512));
}

/* svm_range_split_nodes: both parts of a range share its buffer object; both are drained. */
static void both_parts_of_a_split_range_leave_together(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	fx_advise_pages(&svm.fx, a, 0, 512, "preferred_location", 0);
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(1024));
}

/* svm_range_bo_unref: the shared buffer object lives until the last part has left it. */
static void a_part_that_left_gives_no_memory_back(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	svm_prefetch(&svm, a, 0, 512, UM_HOST); /* splits, and drains that part */
	op = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(512));
}

/* The same: when both have left, it is free. */
static void the_last_part_that_left_gives_all_memory_back(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024);

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	svm_prefetch(&svm, a, 0, 512, UM_HOST);
	svm_prefetch(&svm, a, 512, 512, UM_HOST);
	svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(0), 0);
}

/* svm_range_validate_svm_bo: a part comes back into the buffer object that its sibling kept. */
static void a_part_comes_back_into_the_buffer_object_that_is_left(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 512), op;

	(void)state;
	svm_leave(&svm, 6 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	svm_prefetch(&svm, a, 0, 512, UM_HOST);
	svm_prefetch(&svm, b, 0, 512, 0); /* takes the last 2 MiB */
	op = svm_read(&svm, a, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(512));
	assert_int_equal(evicted(0), 0);
}

/*
 * amdgpu_amdkfd_reserve_mem_limit in svm_migrate_ram_to_vram: device allocations and this whole
 * range must fit; if not, svm_range_restore_pages maps the window from host memory.
 */
static void a_fault_without_room_for_its_range_maps_the_host(void **state)
{
	int64_t data = svm_data(&svm, 1024), op, again;
	const struct um_driver_event_row *event;

	(void)state;
	svm_leave(&svm, 3 * MIB);
	op = svm_read(&svm, data, 0, 512);
	again = svm_read(&svm, data, 0, 512);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(svm.fx.totals.bytes_to_device, 2 * PAGES(512));
	assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(512));
	assert_int_equal(row_log_faults(&svm.log, again, 0), 0);
	assert_int_equal(row_log_moved(&svm.log, 0, ROW_LOG_ANY, ROW_LOG_ANY, NULL), 0);
	event = row_log_event(&svm.log, UM_EVENT_VRAM_REFUSED, 0);
	assert_non_null(event);
	assert_int_equal(event->op, op);
	assert_int_equal(event->device, 0);
	assert_int_equal(event->allocation, data);
	assert_int_equal(event->first_page, 0);
	assert_int_equal(event->pages, 1024);
	assert_null(row_log_event(&svm.log, UM_EVENT_VRAM_REFUSED, 1));
}

/* What is refused depends on device allocations, not on other ranges: those are evicted. */
static void a_range_is_not_refused_for_other_ranges(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 4 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	op = svm_prefetch(&svm, b, 0, 1024, 0);
	svm_run(&svm);
	assert_int_equal(evicted(op), PAGES(1024));
	assert_null(row_log_event(&svm.log, UM_EVENT_VRAM_REFUSED, 0));
}

/* TTM makes room for hipMalloc as well. */
static void a_device_allocation_evicts_ranges(void **state)
{
	int64_t a = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 4 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	fx_alloc(&svm.fx, "device", 1 * MIB);
	op = svm_read(&svm, a, 0, 1);
	svm_run(&svm);
	assert_int_equal(evicted(0), PAGES(1024));
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1); /* 3 MiB are left: refused */
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), 0);
}

/* amdgpu_amdkfd_reserve_mem_limit: hipMalloc beyond the memory fails, whatever could be evicted. */
static void device_allocations_beyond_the_memory_fail(void **state)
{
	(void)state;
	svm_leave(&svm, 4 * MIB);
	fx_alloc(&svm.fx, "device", 5 * MIB);
	assert_int_equal(fx_simulate(&svm.fx), UM_ELIMIT);
}

/* Freed memory has no ranges (svm_range_unmap_from_cpu) and gives its buffer objects back. */
static void freed_memory_is_not_evicted(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024);

	(void)state;
	svm_leave(&svm, 4 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	fx_free(&svm.fx, a);
	svm_prefetch(&svm, b, 0, 1024, 0);
	svm_run(&svm);
	assert_int_equal(evicted(0), 0);
}

/* An evicted range faults like any other, window by window. */
static void what_was_evicted_faults_again(void **state)
{
	int64_t a = svm_data(&svm, 1024), b = svm_data(&svm, 1024), op;

	(void)state;
	svm_leave(&svm, 4 * MIB);
	svm_prefetch(&svm, a, 0, 1024, 0);
	svm_prefetch(&svm, b, 0, 1024, 0);
	op = svm_read(&svm, a, 600, 1);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(512));
	assert_int_equal(evicted(op), PAGES(1024));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(the_buffer_object_made_first_leaves_first),
		RULE(a_whole_buffer_object_leaves),
		RULE(a_fault_waits_for_the_eviction),
		RULE(a_window_takes_the_memory_of_its_range),
		RULE(the_last_page_that_leaves_frees_the_memory),
		RULE(one_page_that_stays_keeps_the_memory),
		RULE(both_parts_of_a_split_range_leave_together),
		RULE(a_part_that_left_gives_no_memory_back),
		RULE(the_last_part_that_left_gives_all_memory_back),
		RULE(a_part_comes_back_into_the_buffer_object_that_is_left),
		RULE(a_fault_without_room_for_its_range_maps_the_host),
		RULE(a_range_is_not_refused_for_other_ranges),
		RULE(a_device_allocation_evicts_ranges),
		RULE(device_allocations_beyond_the_memory_fail),
		RULE(freed_memory_is_not_evicted),
		RULE(what_was_evicted_faults_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
