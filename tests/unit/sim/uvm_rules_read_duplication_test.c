/*
 * Rules of driver nvidia_uvm: read-mostly memory (uvm_va_block_make_resident_read_duplicate and
 * can_read_duplicate in uvm_va_block.c, uvm_policy.c).
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DUPLICATE(first, pages) "duplicate", first, pages

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

/* Data on the host, read-mostly since it was written. */
static int64_t read_mostly(int64_t pages)
{
	int64_t data = uvm_data(&uvm, pages);

	fx_advise(&uvm.fx, data, "read_mostly", 0);
	return data;
}

static void expect_device(int64_t op, int64_t faults, int64_t pages_in)
{
	assert_int_equal(uvm_device_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_in(&uvm, op), pages_in);
}

static void expect_host(int64_t op, int64_t faults, int64_t pages_out)
{
	assert_int_equal(uvm_host_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_out(&uvm, op), pages_out);
}

/* A read makes a copy; the pages brought along are copies too: the host keeps its own. */
static void a_read_makes_a_copy(void **state)
{
	int64_t data = read_mostly(BLOCK), op = uvm_read(&uvm, data, 0, 16), host;

	(void)state;
	host = uvm_host_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect_device(op, 1, 16);
	expect_host(host, 0, 0);
	EXPECT_RECORDS(&uvm, op, 0, {DUPLICATE(0, 1)}, {DUPLICATE(1, 15)});
}

/* The tree is the same. */
static void copies_follow_the_tree(void **state)
{
	int64_t data = read_mostly(BLOCK), op = uvm_read(&uvm, data, 0, BLOCK), again;

	(void)state;
	again = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect_device(op, 6, BLOCK);
	expect_device(again, 0, 0);
}

/* A write on the host collapses the page that it writes, no other; nothing moves. */
static void a_write_by_the_host_ends_the_copy(void **state)
{
	int64_t data = read_mostly(BLOCK), write, rest, again;

	(void)state;
	uvm_read(&uvm, data, 0, 16);
	write = uvm_host_write(&uvm, data, 3, 1);
	rest = uvm_read(&uvm, data, 0, 3);
	again = uvm_read(&uvm, data, 3, 13);
	uvm_run(&uvm);
	expect_host(write, 1, 0);
	expect_device(rest, 0, 0);
	expect_device(again, 1, 1);
	EXPECT_RECORDS(&uvm, again, 0, {DUPLICATE(3, 1)});
}

static void a_write_by_the_device_ends_the_copy_of_the_host(void **state)
{
	int64_t data = read_mostly(BLOCK), write, rest, again;

	(void)state;
	uvm_read(&uvm, data, 0, 16);
	write = uvm_write(&uvm, data, 3, 1);
	rest = uvm_host_read(&uvm, data, 4, BLOCK - 4);
	again = uvm_host_read(&uvm, data, 0, 4);
	uvm_run(&uvm);
	expect_device(write, 1, 0);
	expect_host(rest, 0, 0);
	expect_host(again, 1, 1);
	EXPECT_RECORDS(&uvm, again, UM_HOST, {DUPLICATE(3, 1)});
}

/* The page that is written moves; what is brought along with it is a copy. */
static void a_write_brings_copies_along(void **state)
{
	int64_t data = read_mostly(BLOCK), op = uvm_write(&uvm, data, 0, 1), rest, taken;

	(void)state;
	rest = uvm_host_read(&uvm, data, 1, BLOCK - 1);
	taken = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	expect_device(op, 1, 16);
	expect_host(rest, 0, 0);
	expect_host(taken, 1, 1);
}

/* compute_new_permission: pages of a read-mostly range are mapped read-only for a read, also when
 * there is one copy of them. */
static void a_write_faults_though_there_is_no_other_copy(void **state)
{
	int64_t data = uvm_alloc(&uvm, 16), read, write;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	read = uvm_read(&uvm, data, 0, 16);
	write = uvm_write(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect_device(read, 1, 0);
	expect_device(write, 16, 0);
}

/*
 * The tree takes the neighbours of a fault along also where the device has them, as pages to be
 * duplicated, and block_prep_read_duplicate_mapping takes the right to write from them.
 */
static void a_write_ends_the_writing_of_its_neighbours(void **state)
{
	int64_t data = uvm_alloc(&uvm, 16), again;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	uvm_write(&uvm, data, 0, 16);
	again = uvm_write(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect_device(again, 16, 0);
}

/* So does the host's first write of memory that was advised before: page by page. */
static void the_host_writes_advised_memory_page_by_page(void **state)
{
	int64_t data = uvm_alloc(&uvm, 32), op;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	op = uvm_host_write(&uvm, data, 0, 32);
	uvm_run(&uvm);
	expect_host(op, 32, 0);
}

/* block_prep_read_duplicate_mapping: the advice takes the right to write from who has the page. */
static void advice_makes_the_hosts_pages_read_only(void **state)
{
	int64_t data = read_mostly(32), read = uvm_host_read(&uvm, data, 0, 32), write;

	(void)state;
	write = uvm_host_write(&uvm, data, 0, 32);
	uvm_run(&uvm);
	expect_host(read, 0, 0);
	expect_host(write, 32, 0);
}

/* Data on the device is copied to the host by the host's tree, and stays. */
static void a_read_by_the_host_makes_a_copy(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op, again;

	(void)state;
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	op = uvm_host_read(&uvm, data, 0, BLOCK);
	again = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect_host(op, 6, BLOCK);
	expect_device(again, 0, 0);
}

/* uvm_va_block_set_accessed_by: read duplication goes first, nothing is mapped from afar. */
static void read_mostly_goes_before_accessed_by(void **state)
{
	int64_t data = read_mostly(BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect_device(op, 1, 16);
	assert_int_equal(uvm_pages_remote(&uvm, op), 0);
}

/* block_select_processor_residency asks for read duplication first. */
static void read_mostly_goes_before_preferred_location(void **state)
{
	int64_t data = read_mostly(BLOCK), op, host;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 0, 16);
	host = uvm_host_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect_device(op, 1, 16);
	expect_host(host, 0, 0);
}

/* va_block_set_read_duplication_locked: what was mapped from afar no longer is. */
static void read_mostly_unmaps_from_afar(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect_device(op, 1, 16);
}

/* va_block_unset_read_duplication_locked: the host's copies stay, the device's go. */
static void unset_read_mostly_keeps_the_hosts_copies(void **state)
{
	int64_t data = read_mostly(BLOCK), host, device, after;

	(void)state;
	uvm_read(&uvm, data, 0, BLOCK);
	fx_advise(&uvm.fx, data, "unset_read_mostly", 0);
	host = uvm_host_read(&uvm, data, 0, BLOCK);
	device = uvm_read(&uvm, data, 0, 16);
	after = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	expect_host(host, 0, 0);
	expect_device(device, 1, 16);
	expect_host(after, 1, 16);
}

/* The same: those at the preferred location stay instead. */
static void unset_read_mostly_keeps_preferred_copies(void **state)
{
	int64_t data = read_mostly(BLOCK), device, host;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_read(&uvm, data, 0, BLOCK);
	fx_advise(&uvm.fx, data, "unset_read_mostly", 0);
	device = uvm_read(&uvm, data, 0, BLOCK);
	host = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	expect_device(device, 0, 0);
	expect_host(host, 1, 16);
}

/* The same: accessed_by is mapped again. */
static void unset_read_mostly_maps_accessed_by(void **state)
{
	int64_t data = read_mostly(BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_read(&uvm, data, 0, 1);
	fx_advise(&uvm.fx, data, "unset_read_mostly", 0);
	op = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect_device(op, 0, 0);
	assert_int_equal(uvm_pages_remote(&uvm, op), BLOCK);
}

/* uvm_va_block_add_mappings: that gives rights back that are missing, the host's own as well. */
static void unset_read_mostly_lets_accessed_by_write(void **state)
{
	int64_t with = uvm_data(&uvm, 16), without = uvm_data(&uvm, BLOCK), free_to, not ;

	(void)state;
	fx_advise(&uvm.fx, with, "accessed_by", UM_HOST);
	fx_advise(&uvm.fx, with, "read_mostly", 0);
	fx_advise(&uvm.fx, with, "unset_read_mostly", 0);
	free_to = uvm_host_write(&uvm, with, 0, 16);
	fx_advise(&uvm.fx, without, "read_mostly", 0);
	fx_advise(&uvm.fx, without, "unset_read_mostly", 0);
	not = uvm_host_write(&uvm, without, 0, 16);
	uvm_run(&uvm);
	expect_host(free_to, 0, 0);
	expect_host(not, 16, 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_read_makes_a_copy),
		RULE(copies_follow_the_tree),
		RULE(a_write_by_the_host_ends_the_copy),
		RULE(a_write_by_the_device_ends_the_copy_of_the_host),
		RULE(a_write_brings_copies_along),
		RULE(a_write_faults_though_there_is_no_other_copy),
		RULE(a_write_ends_the_writing_of_its_neighbours),
		RULE(the_host_writes_advised_memory_page_by_page),
		RULE(advice_makes_the_hosts_pages_read_only),
		RULE(a_read_by_the_host_makes_a_copy),
		RULE(read_mostly_goes_before_accessed_by),
		RULE(read_mostly_goes_before_preferred_location),
		RULE(read_mostly_unmaps_from_afar),
		RULE(unset_read_mostly_keeps_the_hosts_copies),
		RULE(unset_read_mostly_keeps_preferred_copies),
		RULE(unset_read_mostly_maps_accessed_by),
		RULE(unset_read_mostly_lets_accessed_by_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
