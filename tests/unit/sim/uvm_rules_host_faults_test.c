/* Rules of driver nvidia_uvm: faults of the host (block_cpu_fault_locked in uvm_va_block.c). */
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

/* Data that is on the device, all of it. */
static int64_t device_data(int64_t pages)
{
	int64_t data = uvm_alloc(&uvm, pages);

	uvm_prefetch(&uvm, data, 0, pages, 0);
	return data;
}

static void expect(int64_t op, int64_t faults, int64_t pages_out)
{
	assert_int_equal(uvm_host_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_out(&uvm, op), pages_out);
}

/* A first touch by the host is a fault of this driver, with the same tree (6 a block). */
static void the_first_touch_is_a_fault(void **state)
{
	int64_t data = uvm_alloc(&uvm, 2 * BLOCK), op = uvm_host_write(&uvm, data, 0, 2 * BLOCK);

	(void)state;
	uvm_run(&uvm);
	expect(op, 12, 0);
	for (size_t i = 0; i < uvm.log.fault_count; i++) {
		assert_int_equal(uvm.log.faults[i].pages, 1);
		assert_int_equal(uvm.log.faults[i].faults, 1);
	}
	assert_int_equal(row_log_moved(&uvm.log, 0, ROW_LOG_ANY, ROW_LOG_ANY, NULL), 0);
}

/* What its tree brought is there: data like any, also pages that nobody wrote. */
static void what_the_first_touch_brings_moves_later(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op;

	(void)state;
	uvm_host_write(&uvm, data, 3, 1);
	op = uvm_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
}

/* One page a fault, and its 64 KiB. */
static void a_page_takes_its_64_kib_back(void **state)
{
	int64_t data = device_data(BLOCK), op = uvm_host_read(&uvm, data, 5, 1);

	(void)state;
	uvm_run(&uvm);
	expect(op, 1, 16);
	EXPECT_RECORDS(&uvm, op, UM_HOST, {BROUGHT_ALONG(0, 5)}, {HOST_FAULT(5, 1)},
		       {BROUGHT_ALONG(6, 10)});
}

static void the_host_doubles_what_it_has(void **state)
{
	int64_t data = device_data(BLOCK), op = uvm_host_read(&uvm, data, 0, BLOCK);

	(void)state;
	uvm_run(&uvm);
	expect(op, 6, BLOCK);
	EXPECT_RECORDS(&uvm, op, UM_HOST, {HOST_FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)},
		       {HOST_FAULT(16, 1)}, {BROUGHT_ALONG(17, 15)}, {HOST_FAULT(32, 1)},
		       {BROUGHT_ALONG(33, 31)}, {HOST_FAULT(64, 1)}, {BROUGHT_ALONG(65, 63)},
		       {HOST_FAULT(128, 1)}, {BROUGHT_ALONG(129, 127)}, {HOST_FAULT(256, 1)},
		       {BROUGHT_ALONG(257, 255)});
}

/* Tree and rows are per block: one touch of each moves 64 KiB of each, in two records. */
static void one_touch_in_2_mib_moves_64_kib(void **state)
{
	int64_t data = device_data(4 * BLOCK), ops[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		ops[i] = uvm_host_read(&uvm, data, i * BLOCK, 1);
	uvm_run(&uvm);
	for (int i = 0; i < 4; i++) {
		expect(ops[i], 1, 16);
		assert_int_equal(uvm.log.ops[ops[i]].end_ns - uvm.log.ops[ops[i]].start_ns,
				 RECORD_NS(1) + RECORD_NS(15));
	}
}

/* What the host has in host memory and mapped it does not fault on, and a write needs no second. */
static void a_read_serves_the_writes_after_it(void **state)
{
	int64_t data = device_data(BLOCK), op;

	(void)state;
	uvm_host_read(&uvm, data, 0, 1);
	op = uvm_host_write(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 0, 0);
}

/* uvm_va_block_make_resident_copy unmaps what moves, and only that. */
static void the_device_faults_on_what_the_host_took(void **state)
{
	int64_t data = device_data(BLOCK), rest, taken;

	(void)state;
	uvm_host_read(&uvm, data, 0, 1);
	rest = uvm_read(&uvm, data, 16, BLOCK - 16);
	taken = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, rest), 0);
	assert_int_equal(uvm_device_faults(&uvm, taken), 1);
	assert_int_equal(uvm_pages_in(&uvm, taken), 16);
}

/* uvm_perf_prefetch_enable is for the host as well. */
static void without_the_tree_every_page_faults(void **state)
{
	int64_t data = device_data(BLOCK), op = uvm_host_read(&uvm, data, 0, 20);

	(void)state;
	uvm_choose(&uvm, "prefetch_enable: off");
	uvm_run(&uvm);
	expect(op, 20, 20);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(the_first_touch_is_a_fault),
		RULE(what_the_first_touch_brings_moves_later),
		RULE(a_page_takes_its_64_kib_back),
		RULE(the_host_doubles_what_it_has),
		RULE(one_touch_in_2_mib_moves_64_kib),
		RULE(a_read_serves_the_writes_after_it),
		RULE(the_device_faults_on_what_the_host_took),
		RULE(without_the_tree_every_page_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
