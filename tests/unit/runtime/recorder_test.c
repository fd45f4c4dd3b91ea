#include "launch_fixture.h"
#include "trace/runtime/window.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hip/hip_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_FLOATS (UM_PAGE_BYTES / sizeof(float))
#define ALL_LINES   UINT64_MAX

static uint64_t my_index(void)
{
	const struct um_lane *self = um_self();

	return (uint64_t)self->group[0] * self->block[0] + self->thread[0];
}

static void run(um_kernel_entry entry, void **args, uint32_t groups, uint32_t lanes)
{
	struct um_launch launch = fixture_launch(entry, args, groups, lanes);

	assert_int_equal(fixture_run(&launch), hipSuccess);
}

static void check_touch(size_t number, uint32_t page, bool write)
{
	assert_true(number < sent.touch_count);
	assert_int_equal(sent.touches[number].page, page);
	assert_int_equal(sent.touches[number].write, write);
}

/* --- masks, requests, totals --- */

static void scale_kernel(void **args)
{
	float *data = *(float **)args[0];
	uint64_t i = my_index();

	if (i < *(uint64_t *)args[1])
		STORE(&data[i], 2 * LOAD(&data[i]));
}

static void test_scale_with_a_partial_last_page(void **state)
{
	uint64_t n = 10 * PAGE_FLOATS + 20; /* the last page has two lines */
	float *data = fixture_alloc(n * sizeof(float));
	void *args[] = {&data, &n};
	uint32_t id = fixture_allocation_of(data);

	(void)state;
	run(scale_kernel, args, (uint32_t)(n + 255) / 256, 256);
	assert_int_equal(sent.run_count, 2);
	assert_int_equal(sent.runs[0].allocation, id);
	assert_int_equal(sent.runs[0].first_page, 0);
	assert_int_equal(sent.runs[0].pages, 10);
	assert_int_equal(sent.runs[0].touch, UM_TOUCH_READ | UM_TOUCH_WRITTEN);
	assert_true(sent.runs[0].lines_read == ALL_LINES);
	assert_true(sent.runs[0].lines_written == ALL_LINES);
	/* 64 lines, read by one instruction and written by another, each by one wave */
	assert_int_equal(sent.runs[0].requests, 128);
	assert_int_equal(sent.runs[0].atomics, 0);
	assert_int_equal(sent.runs[1].first_page, 10);
	assert_int_equal(sent.runs[1].pages, 1);
	assert_int_equal(sent.runs[1].lines_read, 3);
	assert_int_equal(sent.runs[1].lines_written, 3);
	assert_int_equal(sent.runs[1].requests, 4);
	assert_int_equal(totals.reads, n);
	assert_int_equal(totals.writes, n);
	assert_int_equal(totals.bytes_read, 4 * n);
	assert_int_equal(totals.bytes_written, 4 * n);
	assert_int_equal(totals.atomics, 0);
	assert_int_equal(totals.outside, 0);
}

static void fill_kernel(void **args)
{
	float *data = *(float **)args[0];

	STORE(&data[my_index()], 1);
	if (my_index() % PAGE_FLOATS == 0)
		LOAD(&data[my_index()]);
}

static void test_written_first(void **state)
{
	float *data = fixture_alloc(UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(fill_kernel, args, 4, 256);
	assert_int_equal(sent.run_count, 1);
	assert_int_equal(sent.runs[0].touch,
			 UM_TOUCH_READ | UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	assert_int_equal(sent.runs[0].lines_read, 1);
	assert_int_equal(sent.runs[0].requests, 65);
}

static void atomic_kernel(void **args)
{
	unsigned *counters = *(unsigned **)args[0];

	ATOMIC_ADD(&counters[my_index() % 32], 1u);
}

static void test_atomics_read_and_write(void **state)
{
	unsigned *counters = fixture_alloc(UM_PAGE_BYTES);
	void *args[] = {&counters};

	(void)state;
	run(atomic_kernel, args, 2, 256);
	assert_int_equal(sent.run_count, 1);
	assert_int_equal(sent.runs[0].touch, UM_TOUCH_READ | UM_TOUCH_WRITTEN);
	assert_int_equal(sent.runs[0].lines_read, 3);
	assert_int_equal(sent.runs[0].lines_written, 3);
	assert_int_equal(sent.runs[0].requests, 16); /* 8 waves, 2 lines, though lanes alternate */
	assert_int_equal(sent.runs[0].atomics, 16);
	assert_int_equal(totals.atomics, 512);
	assert_int_equal(totals.reads + totals.writes, 0);
	assert_int_equal(totals.bytes_read, 2048);
	assert_int_equal(totals.bytes_written, 2048);
	assert_int_equal(sent.touch_count, 2); /* one write for each group */
	check_touch(0, 0, true);
	check_touch(1, 0, true);
}

static void strided_kernel(void **args)
{
	char *data = *(char **)args[0];

	LOAD((uint64_t *)(data + my_index() * 48));
}

/* 8 bytes every 48: lane 1 reads 48..55, lane 5 240..247, ...: 4 lines for every 5.33 lanes. */
static void test_requests_are_distinct_lines(void **state)
{
	char *data = fixture_alloc(UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(strided_kernel, args, 1, 64);
	assert_int_equal(sent.run_count, 1);
	assert_true(sent.runs[0].lines_read == (UINT64_C(1) << 48) - 1);
	assert_int_equal(sent.runs[0].requests, 48);
	assert_int_equal(totals.reads, 64);
}

static void branch_kernel(void **args)
{
	float *data = *(float **)args[0];

	if (my_index() % 2)
		LOAD(&data[0]);
	else
		LOAD(&data[1]);
}

static void test_requests_count_instructions_apart(void **state)
{
	float *data = fixture_alloc(UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(branch_kernel, args, 1, 64);
	assert_int_equal(sent.runs[0].requests, 2);
	assert_int_equal(sent.runs[0].lines_read, 1);
	um_recorder_requests = false;
	run(branch_kernel, args, 1, 64);
	um_recorder_requests = true;
	assert_int_equal(sent.runs[0].requests, 0);
	assert_int_equal(sent.runs[0].lines_read, 1);
	assert_int_equal(sent.touch_count, 1);
}

static void straddle_kernel(void **args)
{
	char *data = *(char **)args[0];

	um_access(data + 60, UM_ACCESS(8, UM_ACCESS_READ, 1));
	um_access(data + UM_PAGE_BYTES - 4, UM_ACCESS(16, UM_ACCESS_WRITE, 2));
}

static void test_straddles_are_split(void **state)
{
	char *data = fixture_alloc(3 * UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(straddle_kernel, args, 1, 1);
	assert_int_equal(sent.run_count, 2);
	assert_int_equal(sent.runs[0].lines_read, 3);
	assert_true(sent.runs[0].lines_written == UINT64_C(1) << 63);
	assert_int_equal(sent.runs[0].touch, UM_TOUCH_READ | UM_TOUCH_WRITTEN);
	assert_int_equal(sent.runs[1].lines_written, 1);
	assert_int_equal(sent.runs[1].touch, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	assert_int_equal(totals.reads, 1);
	assert_int_equal(totals.bytes_read, 8);
	assert_int_equal(totals.writes, 1);
	assert_int_equal(totals.bytes_written, 16);
}

static void range_kernel(void **args)
{
	char *data = *(char **)args[0];

	um_access_range(data + 100, 0, UM_ACCESS(0, UM_ACCESS_READ, 1));
	um_access_range(data + 100, 3 * UM_PAGE_BYTES, UM_ACCESS(0, UM_ACCESS_WRITE, 1));
}

static void test_ranges_touch_each_line(void **state)
{
	char *data = fixture_alloc(4 * UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(range_kernel, args, 1, 1);
	assert_int_equal(sent.run_count, 3);
	assert_true(sent.runs[0].lines_written == ALL_LINES - 1);
	assert_int_equal(sent.runs[1].pages, 2);
	assert_true(sent.runs[1].lines_written == ALL_LINES);
	assert_int_equal(sent.runs[2].lines_written, 3);
	assert_int_equal(totals.writes, 1);
	assert_int_equal(totals.bytes_written, 3 * UM_PAGE_BYTES);
}

/* AddressSanitizer may move its variables off the stack. */
__attribute__((no_sanitize("address"))) static void outside_kernel(void **args)
{
	char *data = *(char **)args[0];
	static int variable;
	int private_variable = 1;

	LOAD(&variable);
	LOAD(&private_variable);
	LOAD(&um_lds_dynamic[my_index()]);
	um_access_range(&variable, sizeof(variable), UM_ACCESS(0, UM_ACCESS_READ, 1));
	LOAD(data);
	/* not allocated, though in the arena */
	um_access(um_arena.base + UM_ARENA_SPAN - 64, UM_ACCESS(4, UM_ACCESS_READ, 2));
}

static void test_outside_is_counted_but_for_what_is_private(void **state)
{
	char *data = fixture_alloc(1);
	void *args[] = {&data};

	(void)state;
	run(outside_kernel, args, 1, 1);
	assert_int_equal(totals.outside, 3);
	assert_int_equal(sent.run_count, 1);
	assert_int_equal(sent.touch_count, 1);
}

/* --- sorted by allocation, though addresses are not --- */

static void two_kernel(void **args)
{
	char *low = *(char **)args[0];
	char *high = *(char **)args[1];

	LOAD(low);
	LOAD(high);
}

static void test_runs_are_sorted_by_allocation(void **state)
{
	char *first = fixture_alloc(UM_PAGE_BYTES);
	char *high = fixture_alloc(UM_PAGE_BYTES);
	char *low;
	void *args[] = {&low, &high};

	(void)state;
	um_arena_free(um_arena_find(first));
	low = fixture_alloc(UM_PAGE_BYTES);
	assert_true(low < high);
	assert_true(fixture_allocation_of(low) > fixture_allocation_of(high));
	run(two_kernel, args, 1, 1);
	assert_int_equal(sent.run_count, 2);
	assert_int_equal(sent.runs[0].allocation, fixture_allocation_of(high));
	assert_int_equal(sent.runs[1].allocation, fixture_allocation_of(low));
}

/* --- the stream --- */

/* Each lane walks down a column of its own: row i is one page for all lanes. */
static void column_kernel(void **args)
{
	float *data = *(float **)args[0];
	unsigned rows = *(unsigned *)args[1];

	for (unsigned row = 0; row < rows; row++)
		LOAD(&data[(uint64_t)row * PAGE_FLOATS + um_self()->thread[0]]);
}

static void check_column_walk(unsigned rows, uint32_t lanes)
{
	float *data = fixture_alloc((uint64_t)rows * UM_PAGE_BYTES);
	void *args[] = {&data, &rows};

	run(column_kernel, args, 1, lanes);
	assert_int_equal(sent.touch_count, rows);
	for (uint32_t i = 0; i < rows; i++)
		check_touch(i, i, false);
	assert_int_equal(fixture_page(data)->requests, (lanes + 15) / 16);
}

static void test_order_is_the_waves(void **state)
{
	(void)state;
	check_column_walk(100, 64);
	check_column_walk(100, 200);
	check_column_walk(300, 1024); /* more rows than the window has */
	check_column_walk(2000, 64);
	check_column_walk(5000, 1);
}

/* Lane 0 reads twice as many pages as the others, which wait for it at a barrier. */
static void uneven_kernel(void **args)
{
	char *data = *(char **)args[0];
	unsigned rows = um_self()->thread[0] ? 100 : 2000;

	for (unsigned row = 0; row < rows; row++)
		LOAD(data + (uint64_t)(row + 2000 * um_self()->lane) * UM_PAGE_BYTES);
	um_barrier();
	STORE(data, 1);
}

static void test_full_columns_wait_for_the_window(void **state)
{
	char *data = fixture_alloc(UINT64_C(2000) * 64 * UM_PAGE_BYTES);
	void *args[] = {&data};
	size_t at = 0;

	(void)state;
	run(uneven_kernel, args, 1, 64);
	for (uint32_t row = 0; row < 100; row++)
		for (uint32_t lane = 0; lane < 64; lane++)
			check_touch(at++, row + 2000 * lane, false);
	/* the write of lanes 1 to 63 is first in their columns of the last window, that of lane 0
	 * last */
	assert_int_equal(sent.touch_count, 2000 + 63 * 100 + 2);
	check_touch(sent.touch_count - 1, 0, true);
	assert_int_equal(totals.reads, 2000 + 63 * 100);
	assert_int_equal(totals.writes, 64);
}

/* Sweeps n pages twice. */
static void sweep_kernel(void **args)
{
	char *data = *(char **)args[0];
	unsigned pages = *(unsigned *)args[1];

	for (unsigned i = 0; i < 2 * pages; i++)
		LOAD(data + (uint64_t)(i % pages) * UM_PAGE_BYTES);
}

static void test_filter_drops_repeats_of_the_last_pages_only(void **state)
{
	char *data = fixture_alloc(2 * UM_STREAM_FILTER_PAGES * UM_PAGE_BYTES);
	unsigned pages = UM_STREAM_FILTER_PAGES;
	void *args[] = {&data, &pages};

	(void)state;
	run(sweep_kernel, args, 1, 1);
	assert_int_equal(sent.touch_count, UM_STREAM_FILTER_PAGES);
	pages++;
	run(sweep_kernel, args, 1, 1);
	assert_int_equal(sent.touch_count, 2 * (UM_STREAM_FILTER_PAGES + 1));
	/* every group has a filter of its own */
	pages = 3;
	run(sweep_kernel, args, 5, 1);
	assert_int_equal(sent.touch_count, 15);
	for (uint32_t i = 0; i < 15; i++) {
		assert_int_equal(sent.touches[i].group, i / 3);
		check_touch(i, i % 3, false);
	}
}

static void upgrade_kernel(void **args)
{
	char *data = *(char **)args[0];

	LOAD(data);
	LOAD(data + 1);
	STORE(data, 1);
	STORE(data + 64, 1);
	LOAD(data);
}

static void test_a_write_after_a_read_is_kept(void **state)
{
	char *data = fixture_alloc(UM_PAGE_BYTES);
	void *args[] = {&data};

	(void)state;
	run(upgrade_kernel, args, 1, 64);
	assert_int_equal(sent.touch_count, 2);
	check_touch(0, 0, false);
	check_touch(1, 0, true);
}

static void random_kernel(void **args)
{
	char *data = *(char **)args[0];
	uint64_t x = my_index();

	for (int i = 0; i < 200; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		if (x >> 63)
			STORE(data + (x >> 40 & 0xfffff), 1);
		else
			LOAD(data + (x >> 40 & 0xfffff));
		if (i % 50 == 0)
			um_barrier();
	}
}

/* Many chunks, many runs; masks against those counted by hand, and the same bytes twice. */
static void test_two_runs_send_the_same(void **state)
{
	char *data = fixture_alloc(1 << 20);
	void *args[] = {&data};
	unsigned char *before;
	size_t byte_count;

	(void)state;
	run(random_kernel, args, 40, 128);
	byte_count = sent.byte_count;
	before = malloc(byte_count);
	assert_non_null(before);
	memcpy(before, sent.bytes, byte_count);
	assert_true(sent.touch_count > 500000);
	run(random_kernel, args, 40, 128);
	assert_int_equal(sent.byte_count, byte_count);
	assert_memory_equal(sent.bytes, before, byte_count);
	free(before);
	assert_int_equal(totals.reads + totals.writes, 40 * 128 * 200);
}

/* --- launches that are not recorded --- */

static void test_untraced_sends_nothing(void **state)
{
	float *data = fixture_alloc(UM_PAGE_BYTES);
	uint64_t n = PAGE_FLOATS;
	void *args[] = {&data, &n};
	struct um_launch launch = fixture_launch(scale_kernel, args, 4, 256);

	(void)state;
	launch.op = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(sent.byte_count, 0);
	assert_int_equal(totals.reads, 0);
	launch.op = 1;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(sent.run_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale_with_a_partial_last_page),
		cmocka_unit_test(test_written_first),
		cmocka_unit_test(test_atomics_read_and_write),
		cmocka_unit_test(test_requests_are_distinct_lines),
		cmocka_unit_test(test_requests_count_instructions_apart),
		cmocka_unit_test(test_straddles_are_split),
		cmocka_unit_test(test_ranges_touch_each_line),
		cmocka_unit_test(test_outside_is_counted_but_for_what_is_private),
		cmocka_unit_test(test_runs_are_sorted_by_allocation),
		cmocka_unit_test(test_order_is_the_waves),
		cmocka_unit_test(test_full_columns_wait_for_the_window),
		cmocka_unit_test(test_filter_drops_repeats_of_the_last_pages_only),
		cmocka_unit_test(test_a_write_after_a_read_is_kept),
		cmocka_unit_test(test_two_runs_send_the_same),
		cmocka_unit_test(test_untraced_sends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
