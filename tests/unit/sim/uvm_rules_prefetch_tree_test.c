/*
 * Rules of driver nvidia_uvm: which pages the driver brings along with those that faulted
 * (uvm_perf_prefetch.c). Data is on the host, in blocks that begin at 2 MiB.
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

static void expect(int64_t op, int64_t faults, int64_t pages)
{
	assert_int_equal(uvm_device_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_in(&uvm, op), pages);
}

/*
 * grow_fault_granularity: the aligned 64 KiB around a fault are taken as faulted. The pages that did
 * not fault have records of their own (block_copy_resident_pages_between).
 */
static void a_page_brings_its_64_kib_along(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op = uvm_read(&uvm, data, 5, 1);

	(void)state;
	uvm_run(&uvm);
	expect(op, 1, 16);
	EXPECT_RECORDS(&uvm, op, 0, {BROUGHT_ALONG(0, 5)}, {FAULT(5, 1)}, {BROUGHT_ALONG(6, 10)});
}

/* compute_prefetch_region: more than half of each node is there when the next half is touched. */
static void ascending_touches_double_what_is_resident(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op = uvm_read(&uvm, data, 0, BLOCK);

	(void)state;
	uvm_run(&uvm);
	expect(op, 6, BLOCK);
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)}, {FAULT(16, 1)},
		       {BROUGHT_ALONG(17, 15)}, {FAULT(32, 1)}, {BROUGHT_ALONG(33, 31)},
		       {FAULT(64, 1)}, {BROUGHT_ALONG(65, 63)}, {FAULT(128, 1)},
		       {BROUGHT_ALONG(129, 127)}, {FAULT(256, 1)}, {BROUGHT_ALONG(257, 255)});
}

static void descending_touches_double_it_downwards(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;
	int pages[BLOCK];

	(void)state;
	for (int i = 0; i < BLOCK; i++)
		pages[i] = BLOCK - 1 - i;
	op = uvm_read_pages(&uvm, data, pages, BLOCK);
	uvm_run(&uvm);
	expect(op, 6, BLOCK);
	EXPECT_RECORDS(&uvm, op, 0, {BROUGHT_ALONG(496, 15)}, {FAULT(511, 1)},
		       {BROUGHT_ALONG(480, 15)}, {FAULT(495, 1)}, {BROUGHT_ALONG(448, 31)},
		       {FAULT(479, 1)}, {BROUGHT_ALONG(384, 63)}, {FAULT(447, 1)},
		       {BROUGHT_ALONG(256, 127)}, {FAULT(383, 1)}, {BROUGHT_ALONG(0, 255)},
		       {FAULT(255, 1)});
}

/* A node of which half is there does not qualify: 50 % is less than 51 %. */
static void one_touch_in_128_kib_moves_half(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;
	int pages[16];

	(void)state;
	for (int i = 0; i < 16; i++)
		pages[i] = 32 * i;
	op = uvm_read_pages(&uvm, data, pages, 16);
	uvm_run(&uvm);
	expect(op, 16, 256);
}

static void one_touch_in_64_kib_moves_all(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;
	int pages[32];

	(void)state;
	for (int i = 0; i < 32; i++)
		pages[i] = 16 * i;
	op = uvm_read_pages(&uvm, data, pages, 32);
	uvm_run(&uvm);
	expect(op, 6, BLOCK);
}

/* uvm_va_block_get_prefetch_hint: once for all pages of the block that a batch has. */
static void the_faults_of_a_batch_count_together(void **state)
{
	static const int pages[] = {0,	 32,  64,  96,	128, 160, 192, 224, 256,
				    288, 320, 352, 384, 416, 448, 480, 16};
	int64_t data = uvm_data(&uvm, 2 * BLOCK), half, all;

	(void)state;
	half = uvm_read_at_once(&uvm, data, pages, 16);
	uvm_prefetch(&uvm, data, 0, BLOCK, UM_HOST);
	all = uvm_read_at_once(&uvm, data, pages, 17);
	uvm_run(&uvm);
	expect(half, 16, 256);	/* 16 pages of each 32 */
	expect(all, 17, BLOCK); /* 17 * 16 pages are 53 % */
}

/* compute_prefetch_mask: the tree stays what it was while the faults of a batch are looked at. */
static void what_one_fault_brings_does_not_count_for_the_next(void **state)
{
	static const int pages[] = {0, 16, 48, 64};
	int64_t data = uvm_data(&uvm, BLOCK), op = uvm_read_at_once(&uvm, data, pages, 4);

	(void)state;
	uvm_run(&uvm);
	expect(op, 4, 64 + 16); /* of [0, 128) there are 64, with what is brought to [0, 64) 80 */
}

/* compute_prefetch_region goes on to the root: the largest node that qualifies decides. */
static void a_larger_node_may_qualify_where_smaller_ones_do_not(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_prefetch(&uvm, data, 64, BLOCK - 64, 0);
	op = uvm_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	expect(op, 1, 64); /* 16 of [0, 32), 16 of [0, 64), but 80 of [0, 128) */
}

/* counter * 100 > size * 51: 261 of 512 pages do not qualify, 262 do. */
static void more_than_51_percent_qualify(void **state)
{
	int64_t few = uvm_data(&uvm, BLOCK), enough = uvm_data(&uvm, BLOCK), op, more;

	(void)state;
	uvm_prefetch(&uvm, few, 267, 245, 0);
	op = uvm_read(&uvm, few, 0, 1);
	uvm_prefetch(&uvm, enough, 266, 246, 0);
	more = uvm_read(&uvm, enough, 0, 1);
	uvm_run(&uvm);
	expect(op, 1, 16);
	expect(more, 1, 266);
}

/* uvm_perf_prefetch_threshold, as well a strict limit. */
static void the_threshold_is_a_parameter(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op = uvm_read(&uvm, data, 0, 1);

	(void)state;
	uvm_choose(&uvm, "prefetch_threshold: 49");
	uvm_run(&uvm);
	expect(op, 1, 32); /* 16 of 32 are 50 %, 16 of 64 are 25 % */
	uvm_choose(&uvm, "prefetch_threshold: 50");
	uvm_run(&uvm);
	expect(op, 1, 16);
}

/* uvm_perf_prefetch_enable */
static void without_it_only_pages_that_faulted_move(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op = uvm_read(&uvm, data, 0, 20);

	(void)state;
	uvm_choose(&uvm, "prefetch_enable: off");
	uvm_run(&uvm);
	expect(op, 20, 20);
	assert_int_equal(row_log_moved(&uvm.log, 0, UM_HOST, 0, "driver_prefetch"), 0);
}

/* uvm_perf_prefetch_get_hint_va_block: by one block, whatever lies beside it. */
static void nothing_is_brought_from_another_block(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), op;

	(void)state;
	uvm_prefetch(&uvm, data, BLOCK, BLOCK, 0);
	op = uvm_read(&uvm, data, BLOCK - 1, 1);
	uvm_run(&uvm);
	expect(op, 1, 16);
}

/* As 1 MiB + 12 KiB did on an H200 (driver 580.159), 2 MiB each way: the range is whole blocks, whose trees know nothing of the allocation. */
static void the_rest_of_the_last_block_comes_too(void **state)
{
	int64_t data = uvm_data(&uvm, 259), op = uvm_read(&uvm, data, 0, 259);

	(void)state;
	uvm_run(&uvm);
	expect(op, 6, BLOCK);
}

/*
 * Small allocations share a block, one behind another (assumed: CUDA's part of it is not in the
 * source), and trees know nothing of them.
 */
static void small_allocations_come_along_with_each_other(void **state)
{
	int64_t a = uvm_data(&uvm, 8), b = uvm_alloc(&uvm, 8), host, in, more;

	(void)state;
	host = uvm_host_write(&uvm, b, 0, 8);
	in = uvm_read(&uvm, a, 7, 1);
	more = uvm_read(&uvm, b, 0, 8);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
	expect(in, 1, 16);
	expect(more, 0, 0);
}

/* block_copy_resident_pages: what is there already is not copied, and parts a record. */
static void pages_that_are_there_do_not_move(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_prefetch(&uvm, data, 0, 4, 0);
	uvm_prefetch(&uvm, data, 10, 2, 0);
	op = uvm_read(&uvm, data, 5, 1);
	uvm_run(&uvm);
	expect(op, 1, 10);
	EXPECT_RECORDS(&uvm, op, 0, {BROUGHT_ALONG(4, 1)}, {FAULT(5, 1)}, {BROUGHT_ALONG(6, 4)},
		       {BROUGHT_ALONG(12, 4)});
}

/* block_copy_set_first_touch_residency: pages that are nowhere come without a copy, by the tree. */
static void a_first_touch_by_the_device_moves_nothing(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op = uvm_write(&uvm, data, 0, BLOCK);

	(void)state;
	uvm_run(&uvm);
	expect(op, 6, 0);
	assert_int_equal(row_log_moved(&uvm.log, 0, ROW_LOG_ANY, ROW_LOG_ANY, NULL), 0);
}

/* block_zero_new_gpu_chunk: what was brought along without data is zeros, which move like any. */
static void pages_brought_along_have_data(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op;

	(void)state;
	uvm_write(&uvm, data, 0, 1);
	op = uvm_host_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, op), 1);
	assert_int_equal(uvm_pages_out(&uvm, op), 16);
}

/* compute_new_permission: pages brought along are mapped for writing as well. */
static void pages_brought_along_can_be_written(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_read(&uvm, data, 0, 1);
	op = uvm_write(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_page_brings_its_64_kib_along),
		RULE(ascending_touches_double_what_is_resident),
		RULE(descending_touches_double_it_downwards),
		RULE(one_touch_in_128_kib_moves_half),
		RULE(one_touch_in_64_kib_moves_all),
		RULE(the_faults_of_a_batch_count_together),
		RULE(what_one_fault_brings_does_not_count_for_the_next),
		RULE(a_larger_node_may_qualify_where_smaller_ones_do_not),
		RULE(more_than_51_percent_qualify),
		RULE(the_threshold_is_a_parameter),
		RULE(without_it_only_pages_that_faulted_move),
		RULE(nothing_is_brought_from_another_block),
		RULE(the_rest_of_the_last_block_comes_too),
		RULE(small_allocations_come_along_with_each_other),
		RULE(pages_that_are_there_do_not_move),
		RULE(a_first_touch_by_the_device_moves_nothing),
		RULE(pages_brought_along_have_data),
		RULE(pages_brought_along_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
