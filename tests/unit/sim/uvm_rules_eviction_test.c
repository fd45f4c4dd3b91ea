/*
 * Rules of driver nvidia_uvm: what leaves a device that is full (uvm_pmm_gpu.c,
 * uvm_va_block_evict_chunks in uvm_va_block.c). A block takes 2 MiB of device memory, a root chunk,
 * with its first page.
 */
#include "uvm_rules.h"

#include "trace/base/error.h"

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

/* That op evicted pages of one allocation, all of them. */
static void expect_evicted(int64_t op, int64_t allocation, int64_t pages)
{
	int64_t found = 0;

	for (size_t i = 0; i < uvm.log.migration_count; i++) {
		const struct um_migration_row *row = &uvm.log.migrations[i];

		if (row->op != op || row->source != 0 || row->destination != UM_HOST)
			continue;
		assert_string_equal(row->cause, "eviction");
		assert_int_equal(row->allocation, allocation);
		found += row->bytes / PAGE;
	}
	assert_int_equal(found, pages);
}

/* uvm_va_block_gpu_chunk_index_range: one page takes a whole root chunk. */
static void one_page_takes_2_mib(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, 1);
	op = uvm_read(&uvm, b, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, a, 16); /* what is resident of it */
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
}

/* pick_root_chunk_to_evict: the head of the list of used ones, to whose end a new one goes. */
static void the_block_that_came_first_leaves_first(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op,
		next;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_read(&uvm, a, 0, BLOCK);
	op = uvm_read(&uvm, c, 0, 1);
	next = uvm_read(&uvm, b, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, b, BLOCK);
	expect_evicted(next, a, BLOCK);
}

/* block_mark_memory_used: a fault that brings pages puts the block at the end. */
static void a_fault_puts_its_block_last(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, 1);
	uvm_read(&uvm, b, 0, 1);
	uvm_read(&uvm, a, 256, 1);
	op = uvm_read(&uvm, c, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, b, 16);
}

/* Accesses that do not fault are not seen. */
static void accesses_do_not_count(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_write(&uvm, a, 0, BLOCK);
	op = uvm_read(&uvm, c, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, a, BLOCK);
}

/* uvm_va_block_make_resident_finish: a prefetch of what is there does, though nothing moves. */
static void a_prefetch_puts_its_blocks_last(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	op = uvm_read(&uvm, c, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, b, BLOCK);
}

/* What the host takes does not put the rest last. */
static void pages_that_leave_do_not_count(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_host_read(&uvm, a, 0, 1);
	op = uvm_read(&uvm, c, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, a, BLOCK - 16);
}

/* block_clear_resident_processor: a block that has left keeps its chunk, which goes before all. */
static void a_block_that_has_left_goes_first(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op,
		next;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_prefetch(&uvm, b, 0, BLOCK, UM_HOST);
	op = uvm_read(&uvm, c, 0, 1);
	next = uvm_read(&uvm, a, 0, BLOCK);
	uvm_run(&uvm);
	expect_evicted(op, b, 0);
	assert_int_equal(uvm_device_faults(&uvm, next), 0);
}

/* uvm_va_block_make_resident: a page that the host has too is dropped. */
static void copies_are_not_copied_back(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op, host;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	fx_advise(&uvm.fx, a, "read_mostly", 0);
	uvm_read(&uvm, a, 0, BLOCK);
	op = uvm_read(&uvm, b, 0, 1);
	host = uvm_host_read(&uvm, a, 0, BLOCK);
	uvm_run(&uvm);
	expect_evicted(op, a, 0);
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
	assert_int_equal(uvm_pages_out(&uvm, host), 0);
}

/* Written or not: all that is resident is copied. */
static void clean_pages_are_copied_too(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	op = uvm_read(&uvm, b, 0, BLOCK);
	uvm_run(&uvm);
	expect_evicted(op, a, BLOCK);
}

/* What was evicted the host has, but not mapped: one fault maps the block, nothing moves. */
static void the_host_faults_once_on_an_evicted_block(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, 1);
	op = uvm_host_write(&uvm, a, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, op), 1);
	assert_int_equal(uvm_pages_out(&uvm, op), 0);
}

/* It comes back by faults like any. */
static void an_evicted_block_faults_again(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, b, 0, BLOCK);
	op = uvm_read(&uvm, a, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 6);
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
	expect_evicted(op, b, BLOCK);
}

/* block_add_eviction_mappings: accessed_by has its evicted pages mapped from afar. */
static void evicted_pages_stay_mapped_for_accessed_by(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	fx_advise(&uvm.fx, a, "accessed_by", 0);
	uvm_read(&uvm, b, 0, 1);
	op = uvm_read(&uvm, a, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 0);
	assert_int_equal(uvm_pages_remote(&uvm, op), BLOCK);
}

/* uvm_va_block_set_accessed_by: read-mostly ones not. */
static void evicted_read_mostly_pages_are_not_mapped(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	fx_advise(&uvm.fx, a, "accessed_by", 0);
	fx_advise(&uvm.fx, a, "read_mostly", 0);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	uvm_read(&uvm, b, 0, 1);
	op = uvm_read(&uvm, a, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, op), 1);
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
}

/* A block that is cut has one record for each piece (uvm_va_block_evict_chunks). */
static void pieces_of_a_block_leave_one_by_one(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	fx_advise_pages(&uvm.fx, a, 100, 100, "preferred_location", 0);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	op = uvm_read(&uvm, b, 0, 1);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, op, UM_HOST, {"eviction", 0, 100}, {"eviction", 100, 100},
		       {"eviction", 200, BLOCK - 200});
}

/* block_clear_resident_processor: such a block has no place among those that have left. */
static void a_cut_block_that_has_left_does_not_go_first(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	fx_advise_pages(&uvm.fx, b, 100, 100, "preferred_location", 0);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	uvm_prefetch(&uvm, b, 0, BLOCK, 0);
	uvm_prefetch(&uvm, b, 0, BLOCK, UM_HOST);
	op = uvm_read(&uvm, c, 0, 1);
	uvm_run(&uvm);
	expect_evicted(op, a, BLOCK);
}

/*
 * uvm_migrate: several blocks are gone through twice, to copy and to map; where they do not fit the
 * second time moves them again. Three blocks with room for two: three in and one out, then three and
 * three.
 */
static void a_prefetch_of_too_much_goes_round_twice(void **state)
{
	int64_t data = uvm_data(&uvm, 3 * BLOCK), op, tail;

	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	op = uvm_prefetch(&uvm, data, 0, 3 * BLOCK, 0);
	tail = uvm_read(&uvm, data, BLOCK, 2 * BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), 6 * BLOCK);
	expect_evicted(op, data, 4 * BLOCK);
	assert_int_equal(uvm_device_faults(&uvm, tail), 0);
}

/* A prefetch within one block has one pass. */
static void a_prefetch_of_a_block_evicts_one(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	op = uvm_prefetch(&uvm, b, 0, BLOCK, 0);
	uvm_run(&uvm);
	expect_evicted(op, a, BLOCK);
	assert_int_equal(uvm_pages_in(&uvm, op), BLOCK);
}

/* uvm_pmm_gpu_pma_evict_pages: device allocations take root chunks in the same order. */
static void a_device_allocation_evicts(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), c = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 6 * MIB);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_read(&uvm, a, 0, BLOCK);
	uvm_read(&uvm, c, 0, BLOCK);
	fx_alloc(&uvm.fx, "device", 3 * MIB);
	op = uvm.fx.ops;
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_evicted(&uvm, op), 2 * BLOCK);
	for (size_t i = 0; i < uvm.log.migration_count; i++)
		if (uvm.log.migrations[i].op == op)
			assert_int_not_equal(uvm.log.migrations[i].allocation, c);
}

static void device_allocations_beyond_the_memory_fail(void **state)
{
	(void)state;
	uvm_leave(&uvm, 4 * MIB);
	fx_alloc(&uvm.fx, "device", 5 * MIB);
	assert_int_equal(fx_simulate(&uvm.fx), UM_ELIMIT);
}

/* Freed ranges give their chunks back (uvm_va_block_kill). */
static void freed_memory_is_not_evicted(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK);

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_read(&uvm, a, 0, BLOCK);
	fx_free(&uvm.fx, a);
	uvm_read(&uvm, b, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_evicted(&uvm, 0), 0);
}

/* alloc_or_evict_root_chunk: what is wanted comes when the victim has left. */
static void a_fault_waits_for_the_eviction(void **state)
{
	int64_t a = uvm_data(&uvm, BLOCK), b = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	uvm_prefetch(&uvm, a, 0, BLOCK, 0);
	op = uvm_read(&uvm, b, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns,
			 RECORD_NS(BLOCK) + RECORD_NS(1) + RECORD_NS(15));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(one_page_takes_2_mib),
		RULE(the_block_that_came_first_leaves_first),
		RULE(a_fault_puts_its_block_last),
		RULE(accesses_do_not_count),
		RULE(a_prefetch_puts_its_blocks_last),
		RULE(pages_that_leave_do_not_count),
		RULE(a_block_that_has_left_goes_first),
		RULE(copies_are_not_copied_back),
		RULE(clean_pages_are_copied_too),
		RULE(the_host_faults_once_on_an_evicted_block),
		RULE(an_evicted_block_faults_again),
		RULE(evicted_pages_stay_mapped_for_accessed_by),
		RULE(evicted_read_mostly_pages_are_not_mapped),
		RULE(pieces_of_a_block_leave_one_by_one),
		RULE(a_cut_block_that_has_left_does_not_go_first),
		RULE(a_prefetch_of_too_much_goes_round_twice),
		RULE(a_prefetch_of_a_block_evicts_one),
		RULE(a_device_allocation_evicts),
		RULE(device_allocations_beyond_the_memory_fail),
		RULE(freed_memory_is_not_evicted),
		RULE(a_fault_waits_for_the_eviction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
