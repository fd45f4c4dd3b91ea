/*
 * Rules of driver nvidia_uvm: how faults of a device form batches, and what a batch is
 * (uvm_gpu_replayable_faults.c; replay policy BATCH_FLUSH, the default).
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, NULL);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

/* Services that op's faults had, and what the n-th of them fetched; batches count from 1. */
static int batches_of(int64_t op, int64_t *fetched, int most)
{
	int64_t last = 0;
	int count = 0;

	for (size_t i = 0; i < uvm.log.fault_count; i++) {
		const struct um_fault_row *row = &uvm.log.faults[i];

		if (row->op != op || row->device != 0)
			continue;
		assert_true(row->batch >= last);
		if (row->batch != last) {
			assert_true(count < most);
			fetched[count++] = 0;
		}
		fetched[count - 1] += row->faults;
		last = row->batch;
	}
	return count;
}

/* fetch_fault_buffer_entries: what is in the buffer, of however many blocks. */
static void faults_that_wait_together_are_one_batch(void **state)
{
	int64_t data = uvm_data(&uvm, 4 * BLOCK), fetched[4],
		op = uvm_read_each(&uvm, data, 0, BLOCK / 2, 8);

	(void)state;
	uvm_run(&uvm);
	assert_int_equal(batches_of(op, fetched, 4), 1);
	assert_int_equal(fetched[0], 8);
	assert_int_equal(uvm_pages_in(&uvm, op), 8 * 16);
}

/*
 * uvm_perf_fault_batch_count. fault_buffer_flush_locked: the entries behind the batch are thrown
 * away, and their accesses fault anew after the replay, so that each is fetched once.
 */
static void a_batch_has_at_most_256_entries(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), fetched[4], op = uvm_read_each(&uvm, data, 0, 1, 300);

	(void)state;
	uvm_run(&uvm);
	assert_int_equal(batches_of(op, fetched, 4), 2);
	assert_int_equal(fetched[0], 256);
	assert_int_equal(fetched[1], 44);
	/* half of the block, which brings nothing; then 256 + 48, which brings all */
	assert_int_equal(row_log_moved(&uvm.log, op, UM_HOST, 0, "device_fault"), PAGES(300));
	assert_int_equal(row_log_moved(&uvm.log, op, UM_HOST, 0, "driver_prefetch"),
			 PAGES(BLOCK - 300));
}

static void the_batch_count_is_a_parameter(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), fetched[16],
		op = uvm_read_each(&uvm, data, 0, 16, 32);

	(void)state;
	uvm_choose(&uvm, "fault_batch_count: 512");
	uvm_run(&uvm);
	assert_int_equal(batches_of(op, fetched, 16), 1);
	uvm_choose(&uvm, "fault_batch_count: 4");
	uvm_run(&uvm);
	/* pages 0 to 48 bring 64, then 64 to 112 bring 128, 128 to 176: 192 of 256, 256 to 304: 320 */
	assert_int_equal(batches_of(op, fetched, 16), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fetched[i], 4);
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
}

/* One batch with 256 pages brings nothing more (50 %), one with 260 all (17 * 16 are 53 %). */
static void more_faults_at_once_bring_more(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), few, many;

	(void)state;
	uvm_choose(&uvm, "fault_batch_count: 512");
	few = uvm_read_each(&uvm, data, 0, 1, 256);
	uvm_prefetch(&uvm, data, 0, BLOCK, UM_HOST);
	many = uvm_read_each(&uvm, data, 0, 1, 260);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, few, 0, {FAULT(0, 256)});
	EXPECT_RECORDS(&uvm, many, 0, {FAULT(0, 260)}, {BROUGHT_ALONG(260, 252)});
}

/* fetch_fault_buffer_try_merge_entry: entries on one page fill the batch, and move it once. */
static void faults_on_one_page_are_fetched_and_merged(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), fetched[4], op = uvm_read_each(&uvm, data, 7, 0, 8);

	(void)state;
	uvm_run(&uvm);
	assert_int_equal(batches_of(op, fetched, 4), 1);
	assert_int_equal(fetched[0], 8);
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
}

/* They count towards the 256: what is behind them has to wait. */
static void merged_faults_take_places_of_the_batch(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), fetched[4], op = fx_launch(&uvm.fx, "k()", 6, 0);

	(void)state;
	for (uint64_t group = 0; group < 6; group++)
		fx_touch(&uvm.fx, group, data, group < 4 ? 0 : 256, false);
	fx_launch_end(&uvm.fx);
	fx_sync(&uvm.fx);
	uvm_choose(&uvm, "fault_batch_count: 4");
	uvm_run(&uvm);
	assert_int_equal(batches_of(op, fetched, 4), 2);
	assert_int_equal(fetched[0], 4);
	assert_int_equal(fetched[1], 2);
}

/* cmp_sort_fault_entry_by_va_space_gpu_address_access_type: by address, whoever was first. */
static void a_batch_is_served_by_address(void **state)
{
	static const int pages[] = {3 * BLOCK, BLOCK + 64, BLOCK, 0};
	int64_t data = uvm_data(&uvm, 4 * BLOCK), op = uvm_read_at_once(&uvm, data, pages, 4);

	(void)state;
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)}, {FAULT(BLOCK, 1)},
		       {BROUGHT_ALONG(BLOCK + 1, 15)}, {FAULT(BLOCK + 64, 1)},
		       {BROUGHT_ALONG(BLOCK + 65, 15)}, {FAULT(3 * BLOCK, 1)},
		       {BROUGHT_ALONG(3 * BLOCK + 1, 15)});
}

/*
 * The strongest access of a page decides (the sort, service_fault_batch_block_locked): one write
 * among reads of a read-mostly page takes it away from the host.
 */
static void the_strongest_access_of_a_page_is_served(void **state)
{
	int64_t data = uvm_alloc(&uvm, 16), op, host;

	(void)state;
	uvm_host_write(&uvm, data, 0, 16);
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	op = fx_launch(&uvm.fx, "k()", 3, 0);
	for (uint64_t group = 0; group < 3; group++)
		fx_touch(&uvm.fx, group, data, 0, group == 1);
	fx_launch_end(&uvm.fx);
	fx_sync(&uvm.fx);
	host = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 3);
	assert_int_equal(uvm_host_faults(&uvm, host), 1);
}

/* uvm_parent_gpu_service_replayable_faults: one replay, when the whole batch is done. */
static void nobody_goes_on_before_the_batch_is_done(void **state)
{
	static const int pages[] = {0, BLOCK, 2 * BLOCK};
	int64_t data = uvm_data(&uvm, 3 * BLOCK), op = uvm_read_at_once(&uvm, data, pages, 3);
	int64_t took = 3 * (RECORD_NS(1) + RECORD_NS(15));

	(void)state;
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns, took);
	for (size_t i = 0; i < uvm.log.fault_count; i++)
		if (uvm.log.faults[i].op == op)
			assert_int_equal(uvm.log.faults[i].end_ns - uvm.log.faults[i].start_ns,
					 took);
}

/* A copy engine takes each record as one copy: latency, and its bytes. */
static void a_record_takes_a_copy(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), middle, first;

	(void)state;
	middle = uvm_read(&uvm, data, 5, 1);
	first = uvm_read(&uvm, data, 256, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[middle].end_ns - uvm.log.ops[middle].start_ns,
			 RECORD_NS(5) + RECORD_NS(1) + RECORD_NS(10));
	assert_int_equal(uvm.log.ops[first].end_ns - uvm.log.ops[first].start_ns,
			 RECORD_NS(1) + RECORD_NS(15));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(faults_that_wait_together_are_one_batch),
		RULE(a_batch_has_at_most_256_entries),
		RULE(the_batch_count_is_a_parameter),
		RULE(more_faults_at_once_bring_more),
		RULE(faults_on_one_page_are_fetched_and_merged),
		RULE(merged_faults_take_places_of_the_batch),
		RULE(a_batch_is_served_by_address),
		RULE(the_strongest_access_of_a_page_is_served),
		RULE(nobody_goes_on_before_the_batch_is_done),
		RULE(a_record_takes_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
