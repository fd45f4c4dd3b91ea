/*
 * explicit_copy against closed forms: a copy of n pages takes L + n * P (LATENCY_NS, PAGE_NS), a launch nothing
 * unless a test says so.
 */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define L	 LATENCY_NS
#define P	 PAGE_NS
#define OPS_MAX	 64
#define ROWS_MAX 64
#define ALL	 UINT64_MAX

static struct trace_fixture fx;
static struct um_op_row ops[OPS_MAX]; /* as simulated, by id */
static struct um_copy_traffic_row copies[ROWS_MAX];
static size_t copy_count, other_rows;

static void see_op(void *context, const struct um_op_row *row)
{
	(void)context;
	assert_true(row->op < OPS_MAX);
	ops[row->op] = *row;
}

static void see_copy(void *context, const struct um_copy_traffic_row *row)
{
	(void)context;
	assert_true(copy_count < ROWS_MAX);
	copies[copy_count++] = *row;
}

static void see_migration(void *context, const struct um_migration_row *row)
{
	(void)context;
	(void)row;
	other_rows++;
}

static void see_mapping(void *context, const struct um_mapping_row *row)
{
	(void)context;
	other_rows += strcmp(row->change, "first_touch") != 0;
}

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	fx.extra.op = see_op;
	fx.extra.copy_traffic = see_copy;
	fx.extra.migration = see_migration;
	fx.extra.mapping = see_mapping;
	fx_policy(&fx, "driver: {name: explicit_copy}\n");
	memset(ops, 0, sizeof(ops));
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void run(void)
{
	copy_count = other_rows = 0;
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
	assert_int_equal(fx.totals.host_faults, 0);
	assert_int_equal(other_rows, 0); /* there is no managed memory */
}

static void expect_bytes(uint64_t pages_to_device, uint64_t pages_to_host)
{
	assert_int_equal(fx.totals.copied_to_device, pages_to_device * PAGE);
	assert_int_equal(fx.totals.copied_to_host, pages_to_host * PAGE);
	assert_int_equal(fx.totals.bytes_to_device, pages_to_device * PAGE);
	assert_int_equal(fx.totals.bytes_to_host, pages_to_host * PAGE);
}

static void expect_times(int64_t op, int64_t start, int64_t end)
{
	assert_int_equal(ops[op].op, op);
	assert_int_equal(ops[op].start_ns, start);
	assert_int_equal(ops[op].end_ns, end);
}

static int64_t put_data(int64_t pages)
{
	int64_t allocation = fx_alloc(&fx, "managed", pages * PAGE);

	fx_host(&fx, allocation, 0, pages, UM_TOUCH_WRITTEN);
	return allocation;
}

/* Within a launch. */
static void read_pages(int64_t allocation, int64_t first, int64_t pages)
{
	fx_touch_range(&fx, 0, allocation, first, pages, false);
	fx_lines(&fx, allocation, first, pages, UM_TOUCH_READ, ALL, 0);
}

static void write_pages(int64_t allocation, int64_t first, int64_t pages, uint64_t lines)
{
	fx_touch_range(&fx, 0, allocation, first, pages, true);
	fx_lines(&fx, allocation, first, pages, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST, 0,
		 lines);
}

static int64_t put_reader(int64_t allocation, int64_t first, int64_t pages, int64_t stream)
{
	int64_t op = fx_launch(&fx, "reader", 1, stream);

	read_pages(allocation, first, pages);
	fx_launch_end(&fx);
	return op;
}

static int64_t put_writer(int64_t allocation, int64_t first, int64_t pages, uint64_t lines)
{
	int64_t op = fx_launch(&fx, "writer", 1, 0);

	write_pages(allocation, first, pages, lines);
	fx_launch_end(&fx);
	return op;
}

/* What is read goes there, what was written comes back, each once. */
static void what_is_read_goes_and_what_is_written_comes_back(void **state)
{
	int64_t in = put_data(8), out = fx_alloc(&fx, "managed", 4 * PAGE), launch, host;

	(void)state;
	launch = fx_launch(&fx, "k", 1, 0);
	read_pages(in, 0, 8);
	write_pages(out, 0, 4, ALL);
	fx_launch_end(&fx);
	fx_sync(&fx);
	host = fx_host(&fx, out, 0, 4, UM_TOUCH_READ);
	put_reader(in, 0, 8, 0); /* nothing new */
	put_reader(out, 0, 4, 0);
	run();
	expect_bytes(8, 4);
	expect_times(launch, L + 8 * P, L + 8 * P);
	expect_times(host, L + 8 * P, (L + 8 * P) + (L + 4 * P));
	assert_int_equal(copy_count, 2);
	assert_int_equal(copies[0].op, launch);
	assert_int_equal(copies[0].allocation, in);
	assert_int_equal(copies[1].op, host);
	assert_int_equal(copies[1].allocation, out);
	assert_int_equal(fx.totals.end_ns, (L + 8 * P) + (L + 4 * P));
}

static void what_the_host_wrote_since_goes_again(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	put_reader(data, 0, 8, 0);
	fx_sync(&fx);
	fx_host(&fx, data, 2, 3, UM_TOUCH_WRITTEN); /* valid there: nothing comes back */
	put_reader(data, 0, 8, 0);
	run();
	expect_bytes(8 + 3, 0);
}

static void what_is_overwritten_needs_no_copy_and_parts_of_pages_do(void **state)
{
	int64_t data = put_data(8), whole, part, host;

	(void)state;
	whole = put_writer(data, 0, 4, ALL);
	part = put_writer(data, 4, 2, ALL >> 1);
	fx_sync(&fx);
	host = fx_host(&fx, data, 0, 8, UM_TOUCH_READ);
	run();
	expect_bytes(2, 6); /* pages 6 and 7 never left */
	expect_times(whole, 0, 0);
	expect_times(part, L + 2 * P, L + 2 * P);
	expect_times(host, L + 2 * P, 2 * L + 8 * P);
}

static void a_page_that_was_read_and_written_is_needed(void **state)
{
	int64_t data = put_data(2);

	(void)state;
	fx_launch(&fx, "k", 1, 0);
	fx_touch_range(&fx, 0, data, 0, 2, true);
	fx_lines(&fx, data, 0, 2, UM_TOUCH_READ | UM_TOUCH_WRITTEN, ALL, ALL);
	fx_launch_end(&fx);
	run();
	expect_bytes(2, 0);
}

static void memory_without_data_is_not_copied(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 8 * PAGE);

	(void)state;
	put_writer(data, 0, 8, 1);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 8, UM_TOUCH_READ);
	run();
	expect_bytes(0, 8);
}

/* 3 pages take 3000 ns, less than 3500 of latency; 4 take more. */
static void a_gap_goes_along_where_it_is_cheaper_than_a_transfer(void **state)
{
	int64_t data = put_data(32), op;

	(void)state;
	fx.machine.link.to_device_latency_ns = 3500;
	op = fx_launch(&fx, "k", 1, 0);
	read_pages(data, 0, 1);
	read_pages(data, 4, 1);	 /* 3 pages between */
	read_pages(data, 9, 1);	 /* 4 */
	read_pages(data, 10, 1); /* none */
	fx_launch_end(&fx);
	run();
	expect_bytes(5 + 2, 0);
	assert_int_equal(copy_count, 2);
	expect_times(op, 2 * 3500 + 7 * P, 2 * 3500 + 7 * P);
}

/* What the device wrote meanwhile must not be copied over. */
static void a_gap_that_is_newer_on_the_device_does_not_go_along(void **state)
{
	int64_t data = put_data(4);

	(void)state;
	fx.machine.link.to_device_latency_ns = 3500;
	put_writer(data, 1, 1, ALL);
	fx_launch(&fx, "k", 1, 0);
	read_pages(data, 0, 3);
	fx_launch_end(&fx);
	run();
	expect_bytes(2, 0);
	assert_int_equal(copy_count, 2);
}

static void copies_overlap_with_kernels_of_other_streams(void **state)
{
	int64_t first = put_data(8), second = put_data(8), a, b;

	(void)state;
	fx.machine.launch_ns = 20000;
	a = put_reader(first, 0, 8, 1);
	b = put_reader(second, 0, 8, 2);
	run();
	expect_times(a, L + 8 * P, (L + 8 * P) + 20000);
	expect_times(b, 2 * (L + 8 * P), 2 * (L + 8 * P) + 20000);
}

/* MiB of 256 pages: the link takes L + 256 us, the host 100 us. */
static void pageable_memory_is_staged_by_the_host(void **state)
{
	int64_t data = put_data(1024), launch, next;
	const int64_t mib = 256 * P, stage = 100000;

	(void)state;
	launch = put_reader(data, 0, 1024, 1);
	next = fx_op(&fx, &(struct um_op_row){.kind = "attach"});
	fx_policy(&fx, "driver: {name: explicit_copy, host_memory: pageable}\n");
	run();
	/* The link is the slower: it waits for the first piece. */
	expect_times(launch, stage + L + 4 * mib, stage + L + 4 * mib);
	expect_times(next, stage + L + 4 * mib, stage + L + 4 * mib); /* the host waited */
	fx_policy(&fx, "driver: {name: explicit_copy, host_memory: pageable, staging_time: 1ms}\n");
	run();
	/* The host is: the link carries the last piece behind it. */
	expect_times(launch, 4 * 1000000 + mib, 4 * 1000000 + mib);
	fx_policy(&fx, "driver: {name: explicit_copy, host_memory: pinned, staging_time: 1ms}\n");
	run();
	expect_times(launch, L + 4 * mib, L + 4 * mib);
	expect_times(next, 0, 0);
}

static void what_comes_back_to_pageable_memory_is_staged_too(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 1024 * PAGE), host;
	const int64_t mib = 256 * P, stage = 100000;

	(void)state;
	put_writer(data, 0, 1024, ALL);
	fx_sync(&fx);
	host = fx_host(&fx, data, 0, 1024, UM_TOUCH_READ);
	fx_policy(&fx, "driver: {name: explicit_copy, host_memory: pageable}\n");
	run();
	expect_times(host, 0, L + 4 * mib + stage);
	fx_policy(&fx, "driver: {name: explicit_copy, host_memory: pageable, staging_time: 1ms}\n");
	run();
	expect_times(host, 0, L + mib + 4 * 1000000);
}

static void data_beyond_the_memory_is_refused(void **state)
{
	int64_t first = put_data(8), second = put_data(9);

	(void)state;
	put_reader(first, 0, 8, 0);
	put_reader(second, 0, 1, 0); /* a buffer of all of it */
	fx_policy(&fx, "driver: {name: explicit_copy}\nmemory: 64KiB\n");
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "a buffer of 36 KiB for allocation 2"));
	fx_policy(&fx, "driver: {name: explicit_copy}\nmemory: 68KiB\n");
	run();
	expect_bytes(9, 0);
}

static void freed_buffers_make_room(void **state)
{
	int64_t first = put_data(8), second;

	(void)state;
	put_reader(first, 0, 8, 0);
	fx_free(&fx, first);
	second = put_data(8);
	put_reader(second, 0, 8, 0);
	fx_policy(&fx, "driver: {name: explicit_copy}\nmemory: 32KiB\n");
	run();
	expect_bytes(16, 0);
}

static void a_memset_needs_only_its_ragged_ends(void **state)
{
	int64_t data = put_data(4);

	(void)state;
	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .allocation = data,
				       .offset_bytes = 64,
				       .bytes = 3 * PAGE - 64});
	run();
	expect_bytes(1, 0);
}

/* Through the host, whose copy is valid then: what it reads afterwards costs nothing. */
static void from_device_to_device_goes_through_the_host(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE), op;

	(void)state;
	fx.machine.devices = 2;
	put_writer(data, 0, 4, ALL);
	fx_sync(&fx);
	fx.device = 1;
	op = put_reader(data, 0, 4, 0);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 4, UM_TOUCH_READ);
	run();
	expect_bytes(4, 4);
	expect_times(op, 2 * (L + 4 * P), 2 * (L + 4 * P));
}

/* malloc'ed memory is copied as managed memory is; pinned memory stays and is accessed in place. */
static void what_kernels_use_of_the_host_is_copied_unless_it_is_pinned(void **state)
{
	int64_t pageable = fx_alloc(&fx, "pageable", 4 * PAGE);

	(void)state;
	fx_host(&fx, pageable, 0, 4, UM_TOUCH_WRITTEN);
	put_reader(pageable, 0, 4, 0);
	fx_alloc(&fx, "pinned", 4 * PAGE);
	fx_launch(&fx, "k", 1, 0);
	read_pages(2, 0, 4);
	fx_launch_end(&fx);
	run();
	assert_int_equal(fx.totals.copied_to_device, 4 * PAGE);
	assert_int_equal(fx.totals.remote_to_device, 4 * PAGE);
}

/* The kernel has page 0 and waits for its launch; the host writes it meanwhile, without a copy back. */
static void sharing_is_served_and_said(void **state)
{
	int64_t data = put_data(2);

	(void)state;
	fx.machine.launch_ns = 20000;
	put_reader(data, 0, 2, 0);
	put_reader(data, 0, 2, 1);
	fx_host(&fx, data, 0, 1, UM_TOUCH_WRITTEN);
	fx_sync(&fx);
	copy_count = 0;
	fx_run(&fx);
	assert_true(fx.totals.copied_to_device > 2 * PAGE);
	assert_string_equal(fx.ignored, "sharing");
}

static void advice_and_prefetches_do_nothing(void **state)
{
	int64_t data = put_data(4);

	(void)state;
	fx_advise(&fx, data, "preferred_location", UM_HOST);
	fx_prefetch(&fx, data, 4 * PAGE, 0, 0);
	put_reader(data, 0, 2, 0);
	run();
	expect_bytes(2, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_read_goes_and_what_is_written_comes_back),
		TEST(what_the_host_wrote_since_goes_again),
		TEST(what_is_overwritten_needs_no_copy_and_parts_of_pages_do),
		TEST(a_page_that_was_read_and_written_is_needed),
		TEST(memory_without_data_is_not_copied),
		TEST(a_gap_goes_along_where_it_is_cheaper_than_a_transfer),
		TEST(a_gap_that_is_newer_on_the_device_does_not_go_along),
		TEST(copies_overlap_with_kernels_of_other_streams),
		TEST(pageable_memory_is_staged_by_the_host),
		TEST(what_comes_back_to_pageable_memory_is_staged_too),
		TEST(data_beyond_the_memory_is_refused),
		TEST(freed_buffers_make_room),
		TEST(a_memset_needs_only_its_ragged_ends),
		TEST(from_device_to_device_goes_through_the_host),
		TEST(what_kernels_use_of_the_host_is_copied_unless_it_is_pinned),
		TEST(sharing_is_served_and_said),
		TEST(advice_and_prefetches_do_nothing),
	};

	return cmocka_run_group_tests_name("explicit_copy", tests, NULL, NULL);
}
