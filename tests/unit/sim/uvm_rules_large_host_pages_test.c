/*
 * Rules of driver nvidia_uvm: hosts with pages of 64 KiB (POWER9), where PAGE_SIZE, and with it the
 * module's page, is 64 KiB: PAGES_PER_UVM_VA_BLOCK is 32 (uvm_va_block_types.h).
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, "host_page: 64KiB");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

/* What comes along is counted in leaves as ever, but the page that faulted is 64 KiB of the record. */
static void the_device_faults_on_64_kib(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	op = uvm_read(&uvm, data, 3, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 1);
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(0, 16)});
}

/* 6 faults of a block in order, as with 4 KiB; records in whole 64 KiB. */
static void the_host_faults_on_64_kib(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op;

	(void)state;
	uvm_write(&uvm, data, 0, BLOCK);
	op = uvm_host_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, op), 6);
	EXPECT_RECORDS(&uvm, op, UM_HOST, {HOST_FAULT(0, 16)}, {HOST_FAULT(16, 16)},
		       {HOST_FAULT(32, 16)}, {BROUGHT_ALONG(48, 16)}, {HOST_FAULT(64, 16)},
		       {BROUGHT_ALONG(80, 48)}, {HOST_FAULT(128, 16)}, {BROUGHT_ALONG(144, 112)},
		       {HOST_FAULT(256, 16)}, {BROUGHT_ALONG(272, 240)});
}

/* Pages that the host prefers and has mapped do not come along: 64 KiB a fault. */
static void what_stays_with_the_host_is_mapped_by_64_kib(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 100, 20);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 2);
	assert_int_equal(uvm_pages_remote(&uvm, op), 20);
	assert_int_equal(uvm_pages_in(&uvm, op), 0);
}

/* A write makes 64 KiB of duplicates writable, and no page beyond. */
static void duplicates_are_written_by_64_kib(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), read, write;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	read = uvm_read(&uvm, data, 0, BLOCK);
	write = uvm_write(&uvm, data, 0, 32);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, read), BLOCK);
	assert_int_equal(uvm_device_faults(&uvm, write), 2);
	assert_int_equal(uvm_pages_in(&uvm, write), 0);
}

/* Advice and prefetches are for whole pages of the host: 8 to 23 is 0 to 31. */
static void calls_take_whole_pages(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), prefetched, op;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 40, 16, "preferred_location", UM_HOST);
	prefetched = fx_prefetch_pages(&uvm.fx, data, 8, 16, 0);
	op = uvm_read(&uvm, data, 32, 33);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, prefetched), 32);
	assert_int_equal(uvm_pages_remote(&uvm, op), 32); /* 32 to 63 */
	assert_true(uvm_pages_in(&uvm, op) >= 16);	  /* from 64 on */
}

/* --- what the figures of such hosts brought (A1) --- */

static int64_t time_of(const char *parameters, int64_t (*program)(void))
{
	int64_t op;

	uvm_close(&uvm);
	uvm_open(&uvm, parameters);
	op = program();
	uvm_run(&uvm);
	return uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns;
}

static int64_t maps_three_runs(void)
{
	static const int pages[] = {0, 100, 300};
	int64_t data = uvm_data(&uvm, BLOCK);

	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	return uvm_read_at_once(&uvm, data, pages, 3);
}

static void a_run_that_is_mapped_from_afar_takes_map_time(void **state)
{
	int64_t shorter = time_of("map_time: 100us", maps_three_runs);

	(void)state;
	assert_int_equal(time_of("map_time: 200us", maps_three_runs) - shorter, 300000);
}

static int64_t makes_host_memory(void)
{
	int64_t data = uvm_alloc(&uvm, BLOCK);

	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	return uvm_write(&uvm, data, 0, 1);
}

/* The block is nowhere: all of it is made at the preferred location. */
static void host_memory_for_a_device_takes_host_block_time(void **state)
{
	int64_t shorter = time_of("host_block_time: 300us", makes_host_memory);

	(void)state;
	assert_int_equal(time_of("host_block_time: 700us", makes_host_memory) - shorter, 400000);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(the_device_faults_on_64_kib),
		RULE(the_host_faults_on_64_kib),
		RULE(what_stays_with_the_host_is_mapped_by_64_kib),
		RULE(duplicates_are_written_by_64_kib),
		RULE(calls_take_whole_pages),
		RULE(a_run_that_is_mapped_from_afar_takes_map_time),
		RULE(host_memory_for_a_device_takes_host_block_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
