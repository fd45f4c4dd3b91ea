/* How driver nvidia_uvm goes about its rules: windows, costs, groups that fault side by side. */
#include "uvm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static int64_t transfers(int64_t op)
{
	int64_t sum = 0;

	for (size_t i = 0; i < uvm.log.migration_count; i++)
		if (uvm.log.migrations[i].op == op)
			sum += uvm.log.migrations[i].transfers;
	return sum;
}

static int64_t bytes_of(int64_t op, int64_t allocation)
{
	int64_t sum = 0;

	for (size_t i = 0; i < uvm.log.migration_count; i++)
		if (uvm.log.migrations[i].op == op &&
		    uvm.log.migrations[i].allocation == allocation)
			sum += uvm.log.migrations[i].bytes;
	return sum;
}

static int64_t batches(int64_t op)
{
	int64_t count = 0, last = 0;

	for (size_t i = 0; i < uvm.log.fault_count; i++) {
		const struct um_fault_row *row = &uvm.log.faults[i];

		if (row->op == op && row->device == 0 && row->batch != last) {
			last = row->batch;
			count++;
		}
	}
	return count;
}

/* --- windows --- */

/* A record of pages of several allocations is one transfer: its latency is taken once. */
static void a_record_across_allocations_is_one_transfer(void **state)
{
	int64_t a = uvm_alloc(&uvm, 1), b = uvm_alloc(&uvm, 2), c = uvm_alloc(&uvm, 3), read;

	(void)state;
	uvm_host_write(&uvm, b, 0, 1);
	read = uvm_read(&uvm, b, 1, 1);
	uvm_run(&uvm);
	assert_int_equal(transfers(read),
			 3); /* what is before the page, the page, what is behind */
	assert_int_equal(bytes_of(read, a), PAGES(1));
	assert_int_equal(bytes_of(read, b), PAGES(2));
	assert_int_equal(bytes_of(read, c), PAGES(3));
	assert_int_equal(bytes_of(read, UM_NULL), PAGES(10));
	assert_int_equal(uvm.log.ops[read].end_ns - uvm.log.ops[read].start_ns,
			 3 * LATENCY_NS + 16 * PAGE_NS);
}

/* What the tree populated of nobody's pages is there when an allocation gets them. */
static void pages_are_given_with_what_they_hold(void **state)
{
	int64_t first = uvm_alloc(&uvm, 1), touch, second, read;

	(void)state;
	touch = uvm_host_write(&uvm, first, 0, 1);
	second = uvm_alloc(&uvm, 20);
	read = uvm_host_read(&uvm, second, 0, 20);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, touch), 1);
	assert_int_equal(uvm_host_faults(&uvm, read), 1); /* of 20 pages 15 were there */
}

static void pages_on_the_device_are_given_too(void **state)
{
	int64_t first = uvm_alloc(&uvm, 1), second, read, back;

	(void)state;
	uvm_write(&uvm, first, 0, 1);
	second = uvm_alloc(&uvm, 10);
	read = uvm_read(&uvm, second, 0, 10);
	back = uvm_host_read(&uvm, second, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_pages_out(&uvm, back), 16);
	assert_int_equal(bytes_of(back, second), PAGES(10));
}

/* The window outlives any of its allocations, and so do their pages. */
static void what_is_freed_leaves_the_others(void **state)
{
	int64_t a = uvm_alloc(&uvm, 8), b = uvm_alloc(&uvm, 8), read, again;

	(void)state;
	uvm_write(&uvm, a, 0, 8);
	fx_free(&uvm.fx, a);
	read = uvm_read(&uvm, b, 0, 8);
	again = uvm_host_read(&uvm, b, 0, 8);
	fx_free(&uvm.fx, b);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_pages_out(&uvm, again), 16);
}

/*
 * An H200: 12 allocations of 500000 and 700 bytes in turns, of which the ninth opened the next 2 MiB
 * and later small ones filled the first; 400000 bytes took the place of 500000 that were freed, whose
 * pages were there without a fault. 5 host faults for the first of them.
 */
static void what_is_freed_is_a_hole(void **state)
{
	int64_t ids[12], first, again;

	(void)state;
	for (int i = 0; i < 12; i++)
		ids[i] = fx_alloc(&uvm.fx, "managed", i % 2 ? 700 : 500000);
	first = uvm_host_write(&uvm, ids[2], 0, 123);
	fx_free(&uvm.fx, ids[2]);
	again = fx_alloc(&uvm.fx, "managed", 400000);
	again = uvm_host_write(&uvm, again, 0, 98);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, first), 5);
	assert_int_equal(uvm_host_faults(&uvm, again), 0);
}

/* The smallest that is large enough, not the first; holes side by side are one. */
static void the_smallest_hole_is_filled(void **state)
{
	int64_t large = uvm_data(&uvm, 100), after = uvm_data(&uvm, 28);
	int64_t small = uvm_data(&uvm, 40), last = uvm_data(&uvm, 8), fits, whole;

	(void)state;
	uvm_write(&uvm, small, 0, 40);
	fx_free(&uvm.fx, large);
	fx_free(&uvm.fx, small);
	fits = uvm_alloc(&uvm, 33);
	fits = uvm_host_read(&uvm, fits, 0, 33);
	fx_free(&uvm.fx, after);
	whole = uvm_alloc(&uvm, 128);
	whole = uvm_host_read(&uvm, whole, 0, 128);
	uvm_host_read(&uvm, last, 0, 8);
	uvm_run(&uvm);
	assert_true(uvm_pages_out(&uvm, fits) >= 33);
	assert_int_equal(uvm_host_faults(&uvm, whole), 0);
	assert_int_equal(uvm_pages_out(&uvm, whole), 0);
}

/* What was freed keeps its memory on the device, where none is left besides. */
static void a_hole_keeps_its_memory(void **state)
{
	int64_t small = uvm_alloc(&uvm, 300), other = uvm_alloc(&uvm, 200), again, device;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_write(&uvm, small, 0, 300);
	uvm_write(&uvm, other, 0, 200);
	fx_free(&uvm.fx, small);
	again = uvm_alloc(&uvm, 300);
	again = uvm_host_read(&uvm, again, 0, 16);
	device = uvm_read(&uvm, other, 150, 50);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, again), 1);
	assert_int_equal(uvm_pages_out(&uvm, again), 16);
	assert_int_equal(uvm_device_faults(&uvm, device), 0);
}

static void a_full_window_is_followed_by_another(void **state)
{
	int64_t a = uvm_alloc(&uvm, 500), b = uvm_alloc(&uvm, 20), c = uvm_alloc(&uvm, 492);
	int64_t read, other;

	(void)state;
	uvm_host_write(&uvm, b, 0, 20);
	read = uvm_read(&uvm, b, 0, 1);
	other = uvm_read(&uvm, a, 0, 1);
	uvm_prefetch(&uvm, c, 0, 492, 0);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, read), 16);
	assert_int_equal(uvm_pages_in(&uvm, other), 0);
}

/* One page takes 2 MiB. */
static void a_page_takes_a_window_of_memory(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), evicts;

	(void)state;
	uvm_leave(&uvm, 3 * MIB);
	uvm_read(&uvm, a, 0, 1);
	evicts = uvm_read(&uvm, b, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_evicted(&uvm, evicts), 16);
}

static void what_does_not_fit_is_refused(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK);

	(void)state;
	uvm_leave(&uvm, MIB);
	uvm_read(&uvm, a, 0, 1);
	row_log_clear(&uvm.log);
	assert_int_equal(fx_simulate(&uvm.fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "has no 2 MiB left for managed memory"));
}

static void device_memory_that_is_not_there_is_refused(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK);

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, 1);
	fx_alloc(&uvm.fx, "device", 5 * MIB);
	row_log_clear(&uvm.log);
	assert_int_equal(fx_simulate(&uvm.fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "hipErrorOutOfMemory"));
}

/* --- groups that fault side by side --- */

static int64_t read_far_pages(int64_t data, int64_t count, int64_t stride)
{
	int64_t op = fx_launch(&uvm.fx, "k()", 1, 0);

	for (int64_t i = 0; i < count; i++)
		fx_touch(&uvm.fx, 0, data, i * stride, false);
	fx_launch_end(&uvm.fx);
	fx_sync(&uvm.fx);
	return op;
}

static void expect_batches(int64_t faults_per_wave, uint32_t wave_lanes, int64_t expected)
{
	int64_t data = uvm_data(&uvm, 32 * BLOCK), op = read_far_pages(data, 32, BLOCK);
	char text[64];

	uvm.fx.machine.wave_lanes = wave_lanes;
	snprintf(text, sizeof(text), "faults_per_wave: %lld", (long long)faults_per_wave);
	uvm_choose(&uvm, text);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 32);
	assert_int_equal(uvm_pages_in(&uvm, op), 32 * 16);
	assert_int_equal(batches(op), expected);
}

static void one_wave_waits_for_each_page(void **state)
{
	(void)state;
	expect_batches(1, 64, 32);
}

static void waves_of_a_group_fault_side_by_side(void **state)
{
	(void)state;
	expect_batches(1, 16, 8);
}

static void a_wave_can_fault_on_several_pages(void **state)
{
	(void)state;
	expect_batches(8, 64, 4);
}

/* Of 12 touches 8 wait; the last 4 follow when those are served. */
static void a_group_ends_when_all_its_touches_are_done(void **state)
{
	int64_t data = uvm_data(&uvm, 12 * BLOCK), op = read_far_pages(data, 12, BLOCK);

	(void)state;
	uvm_choose(&uvm, "faults_per_wave: 8");
	uvm_run(&uvm);
	assert_int_equal(batches(op), 2);
	assert_int_equal(uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns, 24 * RECORD_NS(8));
}

/* The same pages again and again: each is touched, none twice at once needs more than one fault. */
static void touches_of_one_page_wait_together(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op = fx_launch(&uvm.fx, "k()", 1, 0);

	(void)state;
	for (int i = 0; i < 16; i++)
		fx_touch(&uvm.fx, 0, data, i % 2 * 256, i > 8);
	fx_launch_end(&uvm.fx);
	fx_sync(&uvm.fx);
	uvm_choose(&uvm, "faults_per_wave: 8");
	uvm_run(&uvm);
	assert_int_equal(batches(op), 1);
	assert_int_equal(uvm_device_faults(&uvm, op), 8);
	assert_int_equal(uvm_pages_in(&uvm, op), 32);
}

/* What its lanes accessed, in all, tells how many touches a group makes at once. */
static void a_group_touches_as_much_at_once_as_its_lanes_do(void **state)
{
	static const struct {
		int64_t lanes, reads, batches;
	} launches[] = {
		{256, 32 * 256, 32}, /* each touch is all lanes' */
		{256, 4 * 256, 4},   /* 8 touches at once */
		{256, 256, 1},	     /* 32 */
		{1, 32, 32},	     /* a lane's accesses, one after another */
		{1, 320, 32},	     /* which repeat pages */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
		int64_t data = uvm_data(&uvm, 32 * BLOCK), op = read_far_pages(data, 32, BLOCK);
		char sql[128];

		snprintf(sql, sizeof(sql),
			 "UPDATE kernel SET block_x = %lld, reads = %lld WHERE op = %lld",
			 (long long)launches[i].lanes, (long long)launches[i].reads, (long long)op);
		assert_int_equal(um_db_exec(uvm.fx.db, sql), 0);
		uvm_run(&uvm);
		assert_int_equal(batches(op), launches[i].batches);
	}
}

/* --- how entries come --- */

/* The policy's driver without costs, and with these parameters. */
#define WAY                                                                                        \
	"entry_jitter: 0ns, batch_time: 0ns, block_time: 0ns, page_time: 0ns, "                    \
	"new_block_time: 0ns, unmap_time: 0ns, evict_time: 0ns, cpu_fault_time: 0ns"

static int64_t faults_of_batch(int64_t op, int64_t place)
{
	int64_t count = 0, batch = 0, seen = -1;

	for (size_t i = 0; i < uvm.log.fault_count; i++) {
		const struct um_fault_row *row = &uvm.log.faults[i];

		if (row->op != op || row->device != 0)
			continue;
		seen += row->batch != batch;
		batch = row->batch;
		count += seen == place ? row->faults : 0;
	}
	return count;
}

/* Of 64 groups, each at a page of its own, those that came until the driver looked. */
static void a_batch_has_the_entries_that_have_come(void **state)
{
	int64_t data = uvm_data(&uvm, 64 * BLOCK);
	int64_t op = uvm_read_each(&uvm, data, 0, BLOCK, 64);

	(void)state;
	fx_policy(&uvm.fx, "driver: {name: nvidia_uvm, entry_time: 20ns, fetch_time: 110ns, "
			   "interrupt_time: 190ns, touch_time: 0ns, store_time: 0ns, " WAY "}\n");
	uvm_run(&uvm);
	assert_int_equal(faults_of_batch(op, 0), 10); /* at 0, 20 ... 180 ns */
	assert_int_equal(uvm_pages_in(&uvm, op), 64 * 16);
}

/*
 * What came between the driver's look and the replay is the next batch's, although the replay has
 * all of it come again: that is served twice, the second time for nothing.
 */
static void entries_that_come_later_are_of_the_next_batch(void **state)
{
	int64_t data = uvm_data(&uvm, 64 * BLOCK);
	int64_t op = uvm_read_each(&uvm, data, 0, BLOCK, 64);

	(void)state;
	fx_policy(&uvm.fx, "driver: {name: nvidia_uvm, entry_time: 20ns, fetch_time: 110ns, "
			   "interrupt_time: 190ns, touch_time: 0ns, store_time: 0ns, " WAY "}\n");
	uvm_run(&uvm);
	/* 54 that came during the copies, and 6 of them again until 100 ns after the replay. */
	assert_int_equal(faults_of_batch(op, 1), 60);
	assert_int_equal(faults_of_batch(op, 2), 48);
	assert_int_equal(batches(op), 3);
}

/* 100 touches of pages that are there, and 99 more once the first has come. */
static void touches_take_their_time(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), there, op;
	char sql[128];

	(void)state;
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	there = uvm_read(&uvm, data, 0, 100);
	op = uvm_write(&uvm, data, 0, 100);
	snprintf(sql, sizeof(sql), "UPDATE kernel SET reads = 100 WHERE op = %lld",
		 (long long)there);
	assert_int_equal(um_db_exec(uvm.fx.db, sql), 0);
	snprintf(sql, sizeof(sql), "UPDATE kernel SET writes = 400 WHERE op = %lld", (long long)op);
	assert_int_equal(um_db_exec(uvm.fx.db, sql), 0);
	assert_int_equal(um_db_exec(uvm.fx.db, "UPDATE kernel SET block_x = 1"), 0);
	fx_policy(&uvm.fx, "driver: {name: nvidia_uvm, touch_time: 250ns, store_time: 30ns}\n");
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[there].end_ns - uvm.log.ops[there].start_ns, 100 * 250);
	/* Four accesses a touch: the other three are of the page that was touched just before. */
	assert_int_equal(uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns, 100 * 30);
}

/* --- what it costs --- */

/* T = batch + blocks + pages + blocks without memory + blocks that the host has mapped + copies. */
static void a_batch_takes_the_sum_of_its_parts(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), first = uvm_read(&uvm, data, 0, 1);
	int64_t second = uvm_read(&uvm, data, 64, 1);

	(void)state;
	fx_policy(
		&uvm.fx,
		"driver: {name: nvidia_uvm, entry_time: 0ns, fetch_time: 0ns, interrupt_time: 0ns, "
		"touch_time: 0ns, store_time: 0ns, batch_time: 100us, block_time: 20us, page_time: 3us, "
		"new_block_time: 1ms, unmap_time: 400us, cpu_fault_time: 0ns}\n");
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[first].end_ns - uvm.log.ops[first].start_ns,
			 100000 + 20000 + 3000 + 1000000 + 400000 + RECORD_NS(1) + RECORD_NS(15));
	assert_int_equal(uvm.log.ops[second].end_ns - uvm.log.ops[second].start_ns,
			 100000 + 20000 + 3000 + 400000 + RECORD_NS(1) + RECORD_NS(15));
}

static void an_eviction_and_a_host_fault_take_theirs(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), evicts, back;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, 1);
	evicts = uvm_read(&uvm, b, 0, 1);
	back = uvm_host_read(&uvm, b, 0, 1);
	fx_policy(
		&uvm.fx,
		"driver: {name: nvidia_uvm, entry_time: 0ns, fetch_time: 0ns, interrupt_time: 0ns, "
		"touch_time: 0ns, store_time: 0ns, batch_time: 0ns, block_time: 0ns, page_time: 0ns, "
		"new_block_time: 0ns, unmap_time: 0ns, evict_time: 2ms, cpu_fault_time: 70us}\n");
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[evicts].end_ns - uvm.log.ops[evicts].start_ns,
			 2000000 + RECORD_NS(16) + RECORD_NS(1) + RECORD_NS(15));
	assert_int_equal(uvm.log.ops[back].end_ns - uvm.log.ops[back].start_ns,
			 70000 + RECORD_NS(1) + RECORD_NS(15));
}

/* --- the rest --- */

/* The host maps what is on the device, and need not fault. */
static void over_a_coherent_link_the_host_maps_the_device(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), read;

	(void)state;
	uvm.fx.machine.link.coherent = true;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	read = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_out(&uvm, read), 0);
	assert_int_equal(uvm_host_faults(&uvm, read), 1);
	assert_true(row_log_remote_reads(&uvm.log, read, UM_HOST) > 0);
}

/* A copy writes where pages are, and other copies of them are gone. */
static void a_copy_ends_duplicates(void **state)
{
	int64_t data = uvm_data(&uvm, 16), pinned = fx_alloc(&uvm.fx, "pinned", PAGES(16));
	int64_t again, host;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	uvm_read(&uvm, data, 0, 16);
	fx_copy(&uvm.fx, data, pinned, PAGES(8), 0, false);
	again = uvm_read(&uvm, data, 0, 16);
	host = uvm_host_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, again), 1);
	assert_int_equal(uvm_pages_in(&uvm, again), 8);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
}

/* Under any order of eviction the same pages come, and nothing is lost. */
static void other_orders_of_eviction_work_too(void **state)
{
	static const char *const orders[] = {"lru", "random", "belady"};
	int64_t data = uvm_data(&uvm, 6 * BLOCK), small = uvm_data(&uvm, 3), last;
	char text[200];

	(void)state;
	uvm_leave(&uvm, 6 * MIB);
	for (int i = 0; i < 3; i++) {
		uvm_read(&uvm, data, 0, 6 * BLOCK);
		uvm_write(&uvm, small, 0, 3);
	}
	last = uvm_host_read(&uvm, data, 0, 6 * BLOCK);
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "driver: nvidia_uvm\nevict: %s\n", orders[i]);
		fx_policy(&uvm.fx, text);
		uvm_run(&uvm);
		assert_true(uvm_pages_in(&uvm, 0) >= 6 * BLOCK);
		assert_true(uvm_pages_out(&uvm, last) <= 3 * BLOCK);
	}
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_record_across_allocations_is_one_transfer),
		RULE(pages_are_given_with_what_they_hold),
		RULE(pages_on_the_device_are_given_too),
		RULE(what_is_freed_leaves_the_others),
		RULE(what_is_freed_is_a_hole),
		RULE(the_smallest_hole_is_filled),
		RULE(a_hole_keeps_its_memory),
		RULE(a_full_window_is_followed_by_another),
		RULE(a_page_takes_a_window_of_memory),
		RULE(what_does_not_fit_is_refused),
		RULE(device_memory_that_is_not_there_is_refused),
		RULE(one_wave_waits_for_each_page),
		RULE(waves_of_a_group_fault_side_by_side),
		RULE(a_wave_can_fault_on_several_pages),
		RULE(a_group_ends_when_all_its_touches_are_done),
		RULE(a_group_touches_as_much_at_once_as_its_lanes_do),
		RULE(a_batch_has_the_entries_that_have_come),
		RULE(entries_that_come_later_are_of_the_next_batch),
		RULE(touches_take_their_time),
		RULE(touches_of_one_page_wait_together),
		RULE(a_batch_takes_the_sum_of_its_parts),
		RULE(an_eviction_and_a_host_fault_take_theirs),
		RULE(over_a_coherent_link_the_host_maps_the_device),
		RULE(a_copy_ends_duplicates),
		RULE(other_orders_of_eviction_work_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
