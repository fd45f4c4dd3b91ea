/* Rules of driver nvidia_uvm: prefetches that the program asks for (uvm_migrate.c). */
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

/* uvm_va_block_migrate_locked: the pages that are asked for, block by block, and no tree. */
static void exactly_the_pages_asked_for_move(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), op, hit, miss;

	(void)state;
	op = uvm_prefetch(&uvm, data, BLOCK - 3, 7, 0);
	hit = uvm_read(&uvm, data, BLOCK - 3, 7);
	miss = uvm_read(&uvm, data, BLOCK + 4, 1);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, op, 0, {"prefetch", BLOCK - 3, 3}, {"prefetch", BLOCK, 4});
	assert_int_equal(uvm_device_faults(&uvm, hit), 0);
	assert_int_equal(uvm_device_faults(&uvm, miss), 1);
	assert_int_equal(uvm_pages_in(&uvm, miss), 12);
}

/* A block is one record. */
static void a_block_is_one_copy(void **state)
{
	int64_t data = uvm_data(&uvm, 3 * BLOCK), in, out;

	(void)state;
	in = uvm_prefetch(&uvm, data, 0, 3 * BLOCK, 0);
	out = uvm_prefetch(&uvm, data, 0, 3 * BLOCK, UM_HOST);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, in, 0, {"prefetch", 0, BLOCK}, {"prefetch", BLOCK, BLOCK},
		       {"prefetch", 2 * BLOCK, BLOCK});
	EXPECT_RECORDS(&uvm, out, UM_HOST, {"prefetch", 0, BLOCK}, {"prefetch", BLOCK, BLOCK},
		       {"prefetch", 2 * BLOCK, BLOCK});
	assert_int_equal(uvm.log.ops[in].end_ns - uvm.log.ops[in].start_ns, 3 * RECORD_NS(BLOCK));
}

/* block_copy_set_first_touch_residency: untouched pages are made there, with zeros. */
static void untouched_pages_are_made_without_a_copy(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op = uvm_prefetch(&uvm, data, 0, BLOCK, 0), read,
		host;

	(void)state;
	read = uvm_read(&uvm, data, 0, BLOCK);
	host = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), 0);
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_pages_out(&uvm, host), 16);
}

static void what_is_there_does_not_move(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_prefetch(&uvm, data, 100, 100, 0);
	op = uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, op, 0, {"prefetch", 0, 100}, {"prefetch", 200, BLOCK - 200});
}

/* block_migrate_add_mappings: the destination maps what nobody else has mapped; the host as well. */
static void the_destination_does_not_fault(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), device, host;

	(void)state;
	uvm_prefetch(&uvm, data, 0, 2 * BLOCK, 0);
	device = uvm_write(&uvm, data, 0, 2 * BLOCK);
	uvm_prefetch(&uvm, data, 0, 2 * BLOCK, UM_HOST);
	host = uvm_host_write(&uvm, data, 0, 2 * BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, device), 0);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
}

/* uvm_va_block_add_mappings_after_migration: accessed_by is mapped again. */
static void a_prefetch_to_the_host_maps_accessed_by(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, UM_HOST);
	op = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 0);
	assert_int_equal(uvm_pages_remote(&uvm, op), BLOCK);
}

/* The preferred location is for faults: a prefetch goes where it is told. */
static void a_prefetch_overrides_the_preferred_location(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op, read;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	read = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_pages_remote(&uvm, read), 0);
}

/* uvm_va_block_make_resident_read_duplicate: a read-mostly range is copied, not moved. */
static void a_prefetch_of_read_mostly_pages_duplicates(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op, device, host;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	op = uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	device = uvm_read(&uvm, data, 0, BLOCK);
	host = uvm_host_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
	assert_int_equal(uvm_device_faults(&uvm, device), 0);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
}

/*
 * block_migrate_map_unmapped_pages: untouched ones, that nobody has mapped, for writing as well; where
 * there are two copies for reading.
 */
static void a_prefetch_lets_untouched_read_mostly_pages_be_written(void **state)
{
	int64_t untouched = uvm_alloc(&uvm, BLOCK), data = uvm_data(&uvm, 2 * BLOCK), free_to, not ;

	(void)state;
	fx_advise(&uvm.fx, untouched, "read_mostly", 0);
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	uvm_prefetch(&uvm, untouched, 0, BLOCK, 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	free_to = uvm_write(&uvm, untouched, 0, 4);
	not = uvm_write(&uvm, data, 0, 4);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, free_to), 0);
	assert_int_equal(uvm_device_faults(&uvm, not ), 4);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(exactly_the_pages_asked_for_move),
		RULE(a_block_is_one_copy),
		RULE(untouched_pages_are_made_without_a_copy),
		RULE(what_is_there_does_not_move),
		RULE(the_destination_does_not_fault),
		RULE(a_prefetch_to_the_host_maps_accessed_by),
		RULE(a_prefetch_overrides_the_preferred_location),
		RULE(a_prefetch_of_read_mostly_pages_duplicates),
		RULE(a_prefetch_lets_untouched_read_mostly_pages_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
