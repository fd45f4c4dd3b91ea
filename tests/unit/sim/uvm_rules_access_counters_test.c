/*
 * Rules of driver nvidia_uvm: access counters, which are on where host and devices share page tables
 * (uvm_gpu_access_counters.c: service_va_block_locked, access_counters_migrations_enabled).
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, "access_counters: on, access_counter_threshold: 16");
	uvm.fx.machine.link.coherent = true;
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

static int64_t brought(int64_t op)
{
	return row_log_moved(&uvm.log, op, UM_HOST, 0, "access_counter");
}

/* 15 accesses of a block are none; the 16th brings the 64 KiB that were accessed. */
static void the_threshold_is_of_a_block(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), few, enough;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	few = uvm_read(&uvm, data, 0, 15);
	enough = uvm_read(&uvm, data, BLOCK, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, 0), 0);
	assert_int_equal(uvm_pages_in(&uvm, few), 0);
	assert_int_equal(brought(enough), PAGES(16));
	assert_int_equal(uvm_pages_in(&uvm, enough), 16);
}

/* One access in each of 16 of the 32 regions is half of the block, which is less than 51 %. */
static void only_what_was_accessed_comes(void **state)
{
	static const int pages[] = {3,	 35,  67,  99,	131, 163, 195, 227,
				    259, 291, 323, 355, 387, 419, 451, 483};
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read_pages(&uvm, data, pages, 16);
	uvm_run(&uvm);
	assert_int_equal(brought(op), PAGES(256));
	assert_int_equal(uvm_pages_in(&uvm, op), 256);
}

/* The tree of R10 stands for counters too: 17 of 32 regions are more than 51 %. */
static void neighbours_come_along(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;
	int pages[17];

	(void)state;
	uvm_choose(&uvm, "access_counters: on, access_counter_threshold: 17");
	for (int i = 0; i < 17; i++)
		pages[i] = i * 16;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read_pages(&uvm, data, pages, 17);
	uvm_run(&uvm);
	assert_int_equal(brought(op), PAGES(17 * 16));
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
}

/* block_select_residency: but for accessed-by, destinations are those of faults. */
static void the_preferred_location_keeps_its_pages(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 0, 64);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), 0);
	assert_int_equal(uvm_device_faults(&uvm, op), 0);
}

/* What came is accessed where it is: it is not counted again. */
static void what_came_stays(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), first, second;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	first = uvm_read(&uvm, data, 0, 16);
	second = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, first), 16);
	assert_int_equal(uvm_pages_in(&uvm, second), 0);
	assert_int_equal(uvm_pages_remote(&uvm, second), 0);
}

/* Without ATS nothing counts. */
static void off_is_the_default(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	uvm_choose(&uvm, NULL);
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, 0), 0);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(the_threshold_is_of_a_block),
		RULE(only_what_was_accessed_comes),
		RULE(neighbours_come_along),
		RULE(the_preferred_location_keeps_its_pages),
		RULE(what_came_stays),
		RULE(off_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
