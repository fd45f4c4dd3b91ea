/* Rules of driver amdgpu_svm: what a fault moves, and when. XNACK is on, the kernel 6.8. */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

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

static void expect_moved(int64_t op, int64_t faults, int64_t pages)
{
	assert_int_equal(row_log_faults(&svm.log, op, 0), faults);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(pages));
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, "device_fault"), PAGES(pages));
}

/* svm_range_restore_pages: the aligned 2^granularity pages (9 by default) around the fault. */
static void a_device_fault_moves_its_aligned_2MiB(void **state)
{
	int64_t data = svm_data(&svm, 1536), first = svm_read(&svm, data, 700, 1);
	int64_t again = svm_read(&svm, data, 512, 512);

	(void)state;
	svm_run(&svm);
	expect_moved(first, 1, WINDOW);
	expect_moved(again, 0, 0);
	assert_int_equal(row_log_transfer(&svm.log, 0)->first_page, 512);
}

/* svm_range_restore_pages: window and range are intersected. */
static void a_window_ends_where_its_range_does(void **state)
{
	int64_t data = svm_data(&svm, 600), last = svm_read(&svm, data, 599, 1);
	int64_t small = svm_data(&svm, 3), all = svm_read(&svm, small, 1, 1);

	(void)state;
	svm_run(&svm);
	expect_moved(last, 1, 600 - 512);
	expect_moved(all, 1, 3);
}

/* svm_range_restore_pages: a granularity of 4 is 16 pages, of 0 is one. */
static void the_granularity_is_the_page_size_asked_for(void **state)
{
	int64_t data = svm_data(&svm, 1024), op = svm_read(&svm, data, 700, 1);

	(void)state;
	svm_choose(&svm, "xnack: on, kernel: '6.8'", "page_size: 64KiB\n");
	svm_run(&svm);
	expect_moved(op, 1, 16);
	assert_int_equal(row_log_transfer(&svm.log, 0)->first_page, 688);
	svm_choose(&svm, "xnack: on, kernel: '6.8'", "page_size: 4KiB\n");
	svm_run(&svm);
	expect_moved(op, 1, 1);
}

/* svm_range_validate_and_map maps with the VMA's rights: a read maps for writes too. */
static void what_a_read_mapped_can_be_written(void **state)
{
	int64_t data = svm_data(&svm, 8), read = svm_read(&svm, data, 0, 1);
	int64_t write = svm_write(&svm, data, 0, 8);

	(void)state;
	svm_run(&svm);
	expect_moved(read, 1, 8);
	expect_moved(write, 0, 0);
}

/* svm_migrate_to_ram: the window around the page goes back, cause "host fault". */
static void a_host_fault_moves_its_aligned_2MiB(void **state)
{
	int64_t data = svm_data(&svm, 1536), back, rest;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	back = fx_host(&svm.fx, data, 700, 1, UM_TOUCH_READ);
	rest = fx_host(&svm.fx, data, 512, 512, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, back, UM_HOST), 1);
	assert_int_equal(row_log_faults(&svm.log, rest, UM_HOST), 0);
	assert_int_equal(row_log_moved(&svm.log, 0, 0, UM_HOST, NULL), PAGES(WINDOW));
	assert_int_equal(row_log_moved(&svm.log, back, 0, UM_HOST, "host_fault"), PAGES(WINDOW));
}

/* svm_range_evict (XNACK on): only the pages that left are unmapped from the devices. */
static void a_host_fault_leaves_the_other_windows_mapped(void **state)
{
	int64_t data = svm_data(&svm, 1536), mapped, faults;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 700, 1, UM_TOUCH_READ);
	mapped = svm_read(&svm, data, 0, 512);
	faults = svm_read(&svm, data, 1000, 1);
	svm_run(&svm);
	expect_moved(mapped, 0, 0);
	expect_moved(faults, 1, WINDOW);
}

/*
 * migrate_vma_collect_hole (mm/migrate_device.c), svm_migrate_copy_to_vram: pages of the window
 * that were never touched become device pages without a copy, and are pages like any other then.
 */
static void pages_without_data_are_born_on_the_device(void **state)
{
	int64_t data = svm_alloc(&svm, 1024), touch = svm_write(&svm, data, 3, 1);
	int64_t others = svm_write(&svm, data, 400, 1), back;

	(void)state;
	back = fx_host(&svm.fx, data, 500, 1, UM_TOUCH_READ);
	svm_run(&svm);
	expect_moved(touch, 1, 0);
	expect_moved(others, 0, 0);
	assert_int_equal(row_log_faults(&svm.log, back, UM_HOST), 1);
	assert_int_equal(row_log_moved(&svm.log, back, 0, UM_HOST, NULL), PAGES(WINDOW));
}

/* What has data is copied, what has none is not (svm_migrate_copy_to_vram). */
static void a_window_copies_only_what_has_data(void **state)
{
	int64_t data = svm_alloc(&svm, WINDOW), op;

	(void)state;
	fx_host(&svm.fx, data, 10, 20, UM_TOUCH_WRITTEN);
	op = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	expect_moved(op, 1, 20);
}

/* First touches of the host are the operating system's; svm_migrate_to_ram is for device pages. */
static void the_host_faults_on_device_pages_only(void **state)
{
	int64_t data = svm_data(&svm, 1024);

	(void)state;
	fx_host(&svm.fx, data, 0, 1024, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.host_faults, 0);
}

/*
 * svm_range_restore_pages: a fault taken up less than 2 ms after its range was validated is
 * dropped, on whichever page of the range; the device retries until it is heard. So a range takes
 * no more than a window every 2 ms. How soon the retry comes is the hardware's: within the 50 us
 * for which amdgpu_gmc_filter_faults drops repetitions (AMDGPU_GMC_FAULT_TIMEOUT ticks of 10 ns).
 */
static void a_range_takes_a_window_every_2_ms(void **state)
{
	int64_t data = svm_data(&svm, 1024), op = svm_read(&svm, data, 0, 1024);
	int64_t second;

	(void)state;
	svm_run(&svm);
	expect_moved(op, 2, 1024);
	second = row_log_transfer(&svm.log, 1)->start_ns;
	assert_in_range(second, WINDOW_NS + PENDING_NS, WINDOW_NS + PENDING_NS + 50000);
	assert_int_equal(svm.log.ops[op].end_ns, second + WINDOW_NS);
}

/* The same: the other range was not validated. */
static void another_range_does_not_wait_2_ms(void **state)
{
	int64_t a = svm_data(&svm, WINDOW), b = svm_data(&svm, WINDOW), second;

	(void)state;
	svm_read(&svm, a, 0, 1);
	second = svm_read(&svm, b, 0, 1);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[second].start_ns, WINDOW_NS);
	assert_int_equal(svm.log.ops[second].end_ns, 2 * WINDOW_NS);
}

/* svm_range_split, svm_range_new: a range split off was never validated, nor was the clone. */
static void a_new_range_does_not_wait_2_ms(void **state)
{
	int64_t data = svm_data(&svm, 1024), second;

	(void)state;
	svm_read(&svm, data, 0, 1);
	fx_advise_pages(&svm.fx, data, 512, 512, "preferred_location", 0);
	second = svm_read(&svm, data, 512, 1);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[second].start_ns, WINDOW_NS);
	assert_int_equal(svm.log.ops[second].end_ns, 2 * WINDOW_NS);
}

static void expect_one_after_the_other(void)
{
	const struct um_migration_row *a, *b;
	size_t count = 0;

	while (row_log_transfer(&svm.log, count))
		count++;
	assert_true(count >= 2);
	a = row_log_transfer(&svm.log, count - 2);
	b = row_log_transfer(&svm.log, count - 1);
	assert_true(a->source != b->source);
	assert_true(a->end_ns <= b->start_ns || b->end_ns <= a->start_ns);
}

/*
 * svm_range_restore_pages and svm_migrate_to_ram both hold svms.lock of the process while they
 * copy: what needs both directions of the link takes them one after the other all the same.
 */
static void a_device_fault_and_a_host_fault_are_served_in_turn(void **state)
{
	int64_t a = svm_data(&svm, WINDOW), b = svm_data(&svm, WINDOW), kernel, host;

	(void)state;
	svm_prefetch(&svm, b, 0, WINDOW, 0);
	kernel = svm_launch(&svm, a, 0, 1, false, 1);
	host = fx_host(&svm.fx, b, 0, 1, UM_TOUCH_READ);
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[kernel].start_ns, WINDOW_NS);
	assert_int_equal(svm.log.ops[host].start_ns, WINDOW_NS);
	expect_one_after_the_other();
	assert_int_equal(svm.fx.totals.end_ns, 3 * WINDOW_NS);
}

/* svm_range_set_attr holds it too: a prefetch to the host beside a device fault. */
static void a_prefetch_and_a_fault_are_served_in_turn(void **state)
{
	int64_t a = svm_data(&svm, WINDOW), b = svm_data(&svm, WINDOW);

	(void)state;
	svm_prefetch(&svm, b, 0, WINDOW, 0);
	svm_launch(&svm, a, 0, 1, false, 1);
	fx_prefetch(&svm.fx, b, PAGES(WINDOW), UM_HOST, 2);
	fx_sync(&svm.fx);
	svm_run(&svm);
	expect_one_after_the_other();
	assert_int_equal(svm.fx.totals.end_ns, 3 * WINDOW_NS);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_device_fault_moves_its_aligned_2MiB),
		RULE(a_window_ends_where_its_range_does),
		RULE(the_granularity_is_the_page_size_asked_for),
		RULE(what_a_read_mapped_can_be_written),
		RULE(a_host_fault_moves_its_aligned_2MiB),
		RULE(a_host_fault_leaves_the_other_windows_mapped),
		RULE(pages_without_data_are_born_on_the_device),
		RULE(a_window_copies_only_what_has_data),
		RULE(the_host_faults_on_device_pages_only),
		RULE(a_range_takes_a_window_every_2_ms),
		RULE(another_range_does_not_wait_2_ms),
		RULE(a_new_range_does_not_wait_2_ms),
		RULE(a_device_fault_and_a_host_fault_are_served_in_turn),
		RULE(a_prefetch_and_a_fault_are_served_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
