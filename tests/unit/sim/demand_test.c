/* Traffic of driver demand against what can be worked out by hand. */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ALL_LINES UINT64_MAX

static struct trace_fixture fx;

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* A kernel of `groups` groups, each of which reads and writes its part of the pages in order. */
static void put_scale_kernel(int64_t allocation, int64_t pages, int64_t groups)
{
	int64_t part = pages / groups;

	fx_launch(&fx, "scale(float*)", groups, 0);
	for (int64_t group = 0; group < groups; group++)
		for (int64_t page = group * part; page < (group + 1) * part; page++) {
			fx_touch(&fx, (uint64_t)group, allocation, page, false);
			fx_touch(&fx, (uint64_t)group, allocation, page, true);
		}
	fx_lines(&fx, allocation, 0, pages, UM_TOUCH_READ | UM_TOUCH_WRITTEN, ALL_LINES, ALL_LINES);
	fx_launch_end(&fx);
}

static int64_t put_scale_start(int64_t pages)
{
	int64_t allocation = fx_alloc(&fx, "managed", pages * PAGE);

	fx_host(&fx, allocation, 0, pages, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	return allocation;
}

static void put_scale_rest(int64_t allocation, int64_t pages, int64_t groups)
{
	put_scale_kernel(allocation, pages, groups);
	fx_sync(&fx);
	fx_host(&fx, allocation, 0, pages, UM_TOUCH_READ);
}

static void expect(uint64_t device_faults, uint64_t host_faults, uint64_t to_device,
		   uint64_t to_host)
{
	assert_int_equal(fx.totals.device_faults, device_faults);
	assert_int_equal(fx.totals.host_faults, host_faults);
	assert_int_equal(fx.totals.bytes_to_device, to_device);
	assert_int_equal(fx.totals.bytes_to_host, to_host);
}

static void scale_faults_once_a_unit(void **state)
{
	static const uint64_t page_bytes[] = {4096, 65536, 2097152};
	static const uint64_t faults[] = {1024, 64, 2};
	int64_t allocation = put_scale_start(1024);

	(void)state;
	put_scale_rest(allocation, 1024, 256);
	for (size_t i = 0; i < 3; i++) {
		fx.policy.page_bytes = page_bytes[i];
		fx_run(&fx);
		expect(faults[i], faults[i], 1024 * PAGE, 1024 * PAGE);
	}
}

static void last_unit_has_only_the_pages_there_are(void **state)
{
	int64_t allocation = put_scale_start(20);

	(void)state;
	put_scale_rest(allocation, 20, 5);
	fx.policy.page_bytes = 65536;
	fx_run(&fx);
	expect(2, 2, 20 * PAGE, 20 * PAGE);
}

static void pages_without_data_move_nothing(void **state)
{
	int64_t allocation = fx_alloc(&fx, "managed", 32 * PAGE);

	(void)state;
	fx_host(&fx, allocation, 0, 3, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 1, 0);
	fx_touch(&fx, 0, allocation, 20, true); /* first touch by the device */
	fx_touch(&fx, 0, allocation, 1, false);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_host(&fx, allocation, 0, 32, UM_TOUCH_READ);
	fx.policy.page_bytes = 65536;
	fx_run(&fx);
	expect(2, 2, 3 * PAGE, 4 * PAGE);
}

static void prefetched_data_does_not_fault(void **state)
{
	int64_t allocation = put_scale_start(256);

	(void)state;
	fx_prefetch(&fx, allocation, 256 * PAGE, 0, 0);
	put_scale_rest(allocation, 256, 64);
	fx_run(&fx);
	expect(0, 256, 256 * PAGE, 256 * PAGE);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], 256 * PAGE);
	fx.policy.keep_program_prefetch = false;
	fx_run(&fx);
	expect(256, 256, 256 * PAGE, 256 * PAGE);
}

static void prefetch_to_the_host_spares_its_faults(void **state)
{
	int64_t allocation = put_scale_start(64);

	(void)state;
	put_scale_kernel(allocation, 64, 64);
	fx_prefetch(&fx, allocation, 64 * PAGE, UM_HOST, 0);
	fx_sync(&fx);
	fx_host(&fx, allocation, 0, 64, UM_TOUCH_READ);
	fx_run(&fx);
	expect(64, 0, 64 * PAGE, 64 * PAGE);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_PREFETCH], 64 * PAGE);
}

static void preferred_on_the_host_nothing_migrates(void **state)
{
	int64_t allocation = put_scale_start(128);

	(void)state;
	fx_advise(&fx, allocation, "preferred_location", UM_HOST);
	put_scale_rest(allocation, 128, 32);
	for (uint64_t page_bytes = 4096; page_bytes <= 65536; page_bytes *= 16) {
		fx.policy.page_bytes = page_bytes;
		fx_run(&fx);
		expect(128 * PAGE / page_bytes, 0, 128 * PAGE, 128 * PAGE);
		assert_int_equal(fx.totals.remote_lines_read, 64 * 128);
		assert_int_equal(fx.totals.remote_lines_written, 64 * 128);
		assert_int_equal(fx.totals.remote_to_device, 128 * PAGE);
		assert_int_equal(fx.totals.remote_to_host, 128 * PAGE);
	}
	fx.policy.keep_program_advice = false;
	fx.policy.page_bytes = 4096;
	fx_run(&fx);
	expect(128, 128, 128 * PAGE, 128 * PAGE);
	assert_int_equal(fx.totals.remote_lines_read, 0);
}

static void remote_pages_cost_only_the_lines_they_have(void **state)
{
	int64_t allocation = fx_alloc(&fx, "managed", 2 * PAGE);

	(void)state;
	fx_host(&fx, allocation, 0, 2, UM_TOUCH_WRITTEN);
	fx_advise(&fx, allocation, "preferred_location", UM_HOST);
	fx_launch(&fx, "k", 1, 0);
	fx_touch_range(&fx, 0, allocation, 0, 2, true);
	fx_lines(&fx, allocation, 0, 1, UM_TOUCH_READ | UM_TOUCH_WRITTEN, ALL_LINES, ALL_LINES);
	fx_lines(&fx, allocation, 1, 1, UM_TOUCH_READ | UM_TOUCH_WRITTEN, 127, 3);
	fx_launch_end(&fx);
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_lines_read, 64 + 7);
	assert_int_equal(fx.totals.remote_lines_written, 64 + 2);
	assert_int_equal(fx.totals.bytes_to_device, 64 * (64 + 7));
}

static void accessed_by_maps_without_a_fault(void **state)
{
	int64_t allocation = fx_alloc(&fx, "managed", 64 * PAGE);

	(void)state;
	fx_advise(&fx, allocation, "accessed_by", 0);
	fx_host(&fx, allocation, 0, 64, UM_TOUCH_WRITTEN);
	put_scale_rest(allocation, 64, 16);
	fx_run(&fx);
	expect(0, 0, 64 * PAGE, 64 * PAGE);
	assert_int_equal(fx.totals.remote_lines_read, 64 * 64);
}

static void unset_accessed_by_faults_again(void **state)
{
	int64_t allocation = put_scale_start(64);

	(void)state;
	fx_advise(&fx, allocation, "accessed_by", 0);
	put_scale_kernel(allocation, 64, 16);
	fx_advise(&fx, allocation, "unset_accessed_by", 0);
	fx_sync(&fx);
	put_scale_kernel(allocation, 64, 16);
	fx_run(&fx);
	/* Advice is the host's and takes effect at once: the first launch has not begun then. */
	assert_int_equal(fx.totals.device_faults, 64);
}

static void read_mostly_is_copied_once(void **state)
{
	int64_t allocation = put_scale_start(32);

	(void)state;
	fx_advise(&fx, allocation, "read_mostly", 0);
	for (int i = 0; i < 3; i++) {
		fx_launch(&fx, "reader", 8, 0);
		for (uint64_t group = 0; group < 8; group++)
			fx_touch_range(&fx, group, allocation, 0, 32, false);
		fx_launch_end(&fx);
		fx_sync(&fx);
		fx_host(&fx, allocation, 0, 32, UM_TOUCH_READ); /* its copy is still valid */
	}
	fx_run(&fx);
	expect(32, 0, 32 * PAGE, 0);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_DUPLICATE], 32 * PAGE);
}

static void a_write_drops_the_other_copy(void **state)
{
	int64_t allocation = put_scale_start(32);

	(void)state;
	fx_advise(&fx, allocation, "read_mostly", 0);
	put_scale_kernel(allocation, 32, 8); /* each page is read, then written: two faults */
	fx_sync(&fx);
	fx_host(&fx, allocation, 0, 32, UM_TOUCH_READ);	   /* duplicates back */
	fx_host(&fx, allocation, 0, 32, UM_TOUCH_WRITTEN); /* faults, moves nothing */
	fx_launch(&fx, "reader", 1, 0);
	fx_touch_range(&fx, 0, allocation, 0, 32, false);
	fx_launch_end(&fx);
	fx_run(&fx);
	expect(3 * 32, 2 * 32, 2 * 32 * PAGE, 32 * PAGE);
}

static void preferred_on_the_device_still_comes_to_the_host(void **state)
{
	int64_t allocation = put_scale_start(16);

	(void)state;
	fx_advise(&fx, allocation, "preferred_location", 0);
	put_scale_rest(allocation, 16, 4);
	put_scale_rest(allocation, 16, 4);
	fx_run(&fx);
	expect(32, 32, 32 * PAGE, 32 * PAGE);
}

static void coarse_grain_is_said_to_be_ignored(void **state)
{
	int64_t allocation = put_scale_start(16);

	(void)state;
	fx_advise(&fx, allocation, "coarse_grain", 0);
	put_scale_rest(allocation, 16, 4);
	fx_run(&fx);
	expect(16, 16, 16 * PAGE, 16 * PAGE);
	assert_string_equal(fx.ignored, "coarse_grain");
}

/* --- memory --- */

static void put_sweeps(int64_t allocation, int64_t pages, int64_t groups, int sweeps)
{
	fx_launch(&fx, "persistent", groups, 0);
	for (int64_t group = 0; group < groups; group++)
		for (int sweep = 0; sweep < sweeps; sweep++)
			for (int64_t page = group; page < pages; page += groups)
				fx_touch(&fx, (uint64_t)group, allocation, page, false);
	fx_launch_end(&fx);
}

static void sweeps_over_twice_the_memory_always_fault(void **state)
{
	int64_t allocation = put_scale_start(256);

	(void)state;
	put_sweeps(allocation, 256, 16, 4);
	fx_sync(&fx);
	fx_host(&fx, allocation, 0, 256, UM_TOUCH_READ);
	fx.policy.memory_bytes = 128 * PAGE;
	fx_run(&fx);
	expect(4 * 256, 128, 4 * 256 * PAGE, 4 * 256 * PAGE);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], (4 * 256 - 128) * PAGE);
	fx.policy.memory_bytes = 256 * PAGE;
	fx_run(&fx);
	expect(256, 256, 256 * PAGE, 256 * PAGE);
}

static void sweeps_evict_whole_units(void **state)
{
	int64_t allocation = put_scale_start(256);

	(void)state;
	put_sweeps(allocation, 256, 1, 3);
	fx.policy.page_bytes = 65536;
	fx.policy.memory_bytes = 128 * PAGE;
	fx_run(&fx);
	expect(3 * 16, 0, 3 * 256 * PAGE, (3 * 256 - 128) * PAGE);
}

static void evicted_duplicates_are_dropped(void **state)
{
	int64_t allocation = put_scale_start(64);

	(void)state;
	fx_advise(&fx, allocation, "read_mostly", 0);
	put_sweeps(allocation, 64, 1, 2);
	fx.policy.memory_bytes = 32 * PAGE;
	fx_run(&fx);
	expect(128, 0, 128 * PAGE, 0);
}

static void the_oldest_unit_leaves_first(void **state)
{
	int64_t allocation = put_scale_start(4);
	static const int64_t touches[] = {0, 1, 0, 2, 0, 1}; /* hits do not make 0 younger */

	(void)state;
	fx_launch(&fx, "k", 1, 0);
	for (size_t i = 0; i < sizeof(touches) / sizeof(*touches); i++)
		fx_touch(&fx, 0, allocation, touches[i], false);
	fx_launch_end(&fx);
	fx.policy.memory_bytes = 2 * PAGE;
	fx_run(&fx);
	/* 0 1 fault, 0 hits, 2 evicts 0, 0 evicts 1, 1 evicts 2 */
	expect(5, 0, 5 * PAGE, 3 * PAGE);
}

static void device_allocations_take_memory(void **state)
{
	int64_t managed = put_scale_start(64);
	int64_t device;

	(void)state;
	put_scale_kernel(managed, 64, 1);
	fx_sync(&fx);
	device = fx_alloc(&fx, "device", 96 * PAGE - 1); /* takes 96 pages: 32 must leave */
	put_sweeps(managed, 64, 1, 1);
	fx_free(&fx, device);
	put_sweeps(managed, 64, 1, 1);
	fx.policy.memory_bytes = 128 * PAGE;
	fx_run(&fx);
	/*
	 * 0 to 31 left. Each of them evicts the oldest: all 64 fault again. 32 to 63 are there now.
	 */
	assert_int_equal(fx.totals.device_faults, 64 + 64 + 32);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], (32 + 64) * PAGE);
}

static void a_copy_over_duplicates_frees_their_memory(void **state)
{
	int64_t managed = put_scale_start(32);
	int64_t pinned = fx_alloc(&fx, "pinned", 32 * PAGE);

	(void)state;
	fx_advise(&fx, managed, "read_mostly", 0);
	put_sweeps(managed, 32, 1, 1);
	fx_copy(&fx, managed, pinned, 32 * PAGE, 0, false);
	fx_alloc(&fx, "device", 40 * PAGE);
	fx.policy.memory_bytes = 40 * PAGE;
	fx_run(&fx);
	expect(32, 0, 32 * PAGE, 0);
}

static void a_unit_can_be_too_much(void **state)
{
	int64_t managed = put_scale_start(32);

	(void)state;
	put_sweeps(managed, 32, 1, 1);
	fx.policy.page_bytes = 64 << 10;
	fx.policy.memory_bytes = 8 * PAGE;
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "no room for a unit of 64 KiB in its 32 KiB"));
}

static void device_allocations_alone_can_be_too_much(void **state)
{
	(void)state;
	fx_alloc(&fx, "device", 100 * PAGE);
	fx_alloc(&fx, "device", 100 * PAGE);
	fx.policy.memory_bytes = 128 * PAGE;
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "device allocations"));
}

static void a_prefetch_brings_what_fits(void **state)
{
	int64_t allocation = put_scale_start(64);

	(void)state;
	fx_prefetch(&fx, allocation, 64 * PAGE, 0, 0);
	put_sweeps(allocation, 64, 1, 1);
	fx.policy.memory_bytes = 40 * PAGE;
	fx_run(&fx);
	/* 0 to 39 are there; each of the other 24 evicts one of those. */
	expect(24, 0, 64 * PAGE, 24 * PAGE);
}

/* --- other kinds of memory --- */

static void pinned_memory_is_accessed_remotely(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", 4 * PAGE);
	int64_t device = fx_alloc(&fx, "device", 4 * PAGE);

	(void)state;
	fx_launch(&fx, "k", 1, 0);
	fx_touch_range(&fx, 0, pinned, 0, 4, false);
	fx_touch_range(&fx, 0, device, 0, 4, true);
	fx_lines(&fx, pinned, 0, 4, UM_TOUCH_READ, 1, 0);
	fx_lines(&fx, device, 0, 4, UM_TOUCH_WRITTEN, 0, ALL_LINES);
	fx_launch_end(&fx);
	fx_run(&fx);
	expect(0, 0, 4 * 64, 0);
	assert_int_equal(fx.totals.remote_lines_read, 4);
}

static void copies_cross_where_the_data_are(void **state)
{
	int64_t managed = put_scale_start(16);
	int64_t device = fx_alloc(&fx, "device", 16 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 16 * PAGE);

	(void)state;
	fx_copy(&fx, device, pinned, 10000, 0, false);	    /* in */
	fx_copy(&fx, 0, device, 5000, 0, false);	    /* out, to unknown memory */
	fx_copy(&fx, pinned, managed, 16 * PAGE, 0, false); /* host to host */
	put_sweeps(managed, 8, 1, 1);			    /* pages 0 to 7 to the device */
	fx_copy(&fx, pinned, managed, 16 * PAGE, 0, false); /* 8 pages out */
	fx_copy(&fx, managed, pinned, 16 * PAGE, 0, false); /* 8 pages in, and they stay */
	fx_run(&fx);
	assert_int_equal(fx.totals.copied_to_device, 10000 + 8 * PAGE);
	assert_int_equal(fx.totals.copied_to_host, 5000 + 8 * PAGE);
	expect(8, 0, 10000 + 16 * PAGE, 5000 + 8 * PAGE);
}

static void a_memset_is_a_kernel_that_writes(void **state)
{
	int64_t managed = put_scale_start(8);
	int64_t pinned = fx_alloc(&fx, "pinned", 2 * PAGE);

	(void)state;
	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .allocation = managed,
				       .offset_bytes = PAGE - 1,
				       .bytes = PAGE + 2}); /* pages 0, 1, 2 */
	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .allocation = pinned,
				       .offset_bytes = PAGE - 65,
				       .bytes = 65 + 1}); /* 2 lines, then 1 */
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 3);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_DEVICE_FAULT], 3 * PAGE);
	assert_int_equal(fx.totals.remote_lines_written, 3);
}

static void untraced_launches_touch_nothing_and_say_so(void **state)
{
	(void)state;
	put_scale_start(8);
	fx_op(&fx, &(struct um_op_row){.kind = "launch", .flags = UM_OP_ASYNC | UM_OP_UNTRACED});
	fx_run(&fx);
	expect(0, 0, 0, 0);
	assert_string_equal(fx.ignored, "untraced launches");
}

static void failed_calls_do_nothing(void **state)
{
	int64_t allocation = put_scale_start(8);

	(void)state;
	fx_op(&fx, &(struct um_op_row){.kind = "prefetch",
				       .allocation = allocation,
				       .bytes = 8 * PAGE,
				       .device = 0,
				       .result = 1});
	fx_run(&fx);
	expect(0, 0, 0, 0);
}

/* --- damage --- */

static void touches_outside_are_refused(void **state)
{
	int64_t allocation = put_scale_start(8);

	(void)state;
	fx_launch(&fx, "k", 1, 0);
	fx_touch(&fx, 0, allocation, 8, false);
	fx_launch_end(&fx);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "allocation 1"));
}

static void touches_after_free_are_refused(void **state)
{
	int64_t allocation = put_scale_start(8);

	(void)state;
	fx_free(&fx, allocation);
	put_sweeps(allocation, 8, 1, 1);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "freed"));
}

static void kinds_that_there_are_not_are_refused(void **state)
{
	int64_t allocation = put_scale_start(8);

	(void)state;
	put_sweeps(allocation, 8, 1, 1);
	assert_int_equal(um_db_exec(fx.db, "PRAGMA ignore_check_constraints = ON"), 0);
	assert_int_equal(um_db_exec(fx.db, "UPDATE allocation SET kind = 'odd'"), 0);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "allocation 1 is of a kind"));
	assert_int_equal(um_db_exec(fx.db, "UPDATE op SET kind = 'odd'"), 0);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "op 1 is of a kind"));
}

static void numbers_that_cannot_be_are_refused(void **state)
{
	int64_t allocation = put_scale_start(8);

	(void)state;
	fx_advise(&fx, allocation, "preferred_location", -1);
	fx_launch(&fx, "k", 1, 0);
	fx_touch(&fx, 0, allocation, 0, false);
	fx_lines(&fx, allocation, 0, 8, UM_TOUCH_READ, 1, 0);
	fx_launch_end(&fx);
	fx_run(&fx);
	assert_int_equal(um_db_exec(fx.db, "UPDATE kernel SET bytes_read = 9223372036854775807,"
					   " bytes_written = 9223372036854775807"),
			 0);
	fx_run(&fx);
	assert_int_equal(um_db_exec(fx.db, "UPDATE page_access SET requests = 9223372036854775807"),
			 0);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "requests"));
	assert_int_equal(um_db_exec(fx.db, "UPDATE page_access SET requests = -1"), 0);
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
}

/* HIP looks at no device where it takes advice back; a shift by it is another device's bit. */
static void advice_taken_back_from_no_device_changes_nothing(void **state)
{
	int64_t allocation = put_scale_start(16);

	(void)state;
	fx_advise(&fx, allocation, "accessed_by", 0);
	fx_advise(&fx, allocation, "unset_accessed_by", 1000000);
	put_scale_kernel(allocation, 16, 4);
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
}

static void a_page_size_that_there_is_not(void **state)
{
	(void)state;
	fx.policy.page_bytes = 8192;
	assert_int_equal(fx_simulate(&fx), UM_EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scale_faults_once_a_unit),
		TEST(last_unit_has_only_the_pages_there_are),
		TEST(pages_without_data_move_nothing),
		TEST(prefetched_data_does_not_fault),
		TEST(prefetch_to_the_host_spares_its_faults),
		TEST(preferred_on_the_host_nothing_migrates),
		TEST(remote_pages_cost_only_the_lines_they_have),
		TEST(accessed_by_maps_without_a_fault),
		TEST(unset_accessed_by_faults_again),
		TEST(read_mostly_is_copied_once),
		TEST(a_write_drops_the_other_copy),
		TEST(preferred_on_the_device_still_comes_to_the_host),
		TEST(coarse_grain_is_said_to_be_ignored),
		TEST(sweeps_over_twice_the_memory_always_fault),
		TEST(sweeps_evict_whole_units),
		TEST(evicted_duplicates_are_dropped),
		TEST(the_oldest_unit_leaves_first),
		TEST(device_allocations_take_memory),
		TEST(a_copy_over_duplicates_frees_their_memory),
		TEST(a_unit_can_be_too_much),
		TEST(device_allocations_alone_can_be_too_much),
		TEST(a_prefetch_brings_what_fits),
		TEST(pinned_memory_is_accessed_remotely),
		TEST(copies_cross_where_the_data_are),
		TEST(a_memset_is_a_kernel_that_writes),
		TEST(untraced_launches_touch_nothing_and_say_so),
		TEST(failed_calls_do_nothing),
		TEST(touches_outside_are_refused),
		TEST(touches_after_free_are_refused),
		TEST(kinds_that_there_are_not_are_refused),
		TEST(numbers_that_cannot_be_are_refused),
		TEST(advice_taken_back_from_no_device_changes_nothing),
		TEST(a_page_size_that_there_is_not),
	};

	return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
