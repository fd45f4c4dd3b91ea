/* Rules of driver nvidia_uvm that differ from one release of the module to another. */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

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

static void run_version(const char *version)
{
	char parameters[32];

	snprintf(parameters, sizeof(parameters), "version: '%s'", version);
	uvm_choose(&uvm, parameters);
	uvm_run(&uvm);
}

/* should_apply_prefetch_logic, 590.48: nothing is brought away from the preferred location. */
static void from_590_on_nothing_is_brought_away_from_the_preferred_location(void **state)
{
	static const char *const before[] = {"515", "535", "550", "580"};
	static const char *const since[] = {"590", "595"};
	int64_t untouched = uvm_alloc(&uvm, BLOCK), data = uvm_alloc(&uvm, BLOCK), first, back;

	(void)state;
	fx_advise(&uvm.fx, untouched, "preferred_location", 0);
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	first = uvm_host_write(&uvm, untouched, 0, 20);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	back = uvm_host_read(&uvm, data, 0, 20);
	for (int i = 0; i < 4; i++) {
		run_version(before[i]);
		assert_int_equal(uvm_host_faults(&uvm, first), 2);
		assert_int_equal(uvm_host_faults(&uvm, back), 2);
		assert_int_equal(uvm_pages_out(&uvm, back), 32);
	}
	for (int i = 0; i < 2; i++) {
		run_version(since[i]);
		assert_int_equal(uvm_host_faults(&uvm, first), 20);
		assert_int_equal(uvm_host_faults(&uvm, back), 20);
		assert_int_equal(uvm_pages_out(&uvm, back), 20);
	}
}

/* The same: towards it, and without one, all is as before. */
static void from_590_on_the_tree_still_goes_to_the_preferred_location(void **state)
{
	int64_t preferred = uvm_data(&uvm, BLOCK), plain = uvm_data(&uvm, BLOCK), to, without;

	(void)state;
	fx_advise(&uvm.fx, preferred, "preferred_location", 0);
	to = uvm_read(&uvm, preferred, 0, BLOCK);
	without = uvm_read(&uvm, plain, 0, BLOCK);
	run_version("590");
	assert_int_equal(uvm_device_faults(&uvm, to), 6);
	assert_int_equal(uvm_device_faults(&uvm, without), 6);
}

/*
 * compute_prefetch_region, 515.43: a node that begins before the block is clamped to the block's
 * first page; in later ones (525.60 on) to the page whose number is that of the empty leaves.
 */
static void before_525_the_first_pages_of_a_block_come_along(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 0, 4, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 4, 1);
	run_version("515");
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(4, 1)}, {BROUGHT_ALONG(5, 11)});
	run_version("535");
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(4, 1)}, {BROUGHT_ALONG(8, 8)});
	run_version("595");
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(4, 1)}, {BROUGHT_ALONG(8, 8)});
}

/*
 * prefetch_info_get_create, 515.43: the tree has as many leaves as pages of 128 KiB need in front,
 * though pages are shifted for 64 KiB. The block begins at page 20: 512 leaves, and 496 later on,
 * of which the last node of 64 has 48, so that 32 in it are 66 % instead of half.
 */
static void before_525_the_last_node_is_longer(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 0, 20, "preferred_location", UM_HOST);
	uvm_read(&uvm, data, 480, 1);
	op = uvm_read(&uvm, data, 496, 1);
	run_version("515");
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
	run_version("580");
	assert_int_equal(uvm_pages_in(&uvm, op), 32);
}

/* All releases have these figures of aligned blocks. */
static void aligned_blocks_are_the_same_in_all_releases(void **state)
{
	static const char *const versions[] = {"515", "535", "550", "580", "590", "595"};
	int64_t data = uvm_data(&uvm, 2 * BLOCK), device = uvm_read(&uvm, data, 0, 2 * BLOCK), host;

	(void)state;
	host = uvm_host_read(&uvm, data, 0, 2 * BLOCK);
	for (int i = 0; i < 6; i++) {
		run_version(versions[i]);
		assert_int_equal(uvm_device_faults(&uvm, device), 12);
		assert_int_equal(uvm_pages_in(&uvm, device), 2 * BLOCK);
		assert_int_equal(uvm_host_faults(&uvm, host), 12);
		assert_int_equal(uvm_pages_out(&uvm, host), 2 * BLOCK);
	}
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(from_590_on_nothing_is_brought_away_from_the_preferred_location),
		RULE(from_590_on_the_tree_still_goes_to_the_preferred_location),
		RULE(before_525_the_first_pages_of_a_block_come_along),
		RULE(before_525_the_last_node_is_longer),
		RULE(aligned_blocks_are_the_same_in_all_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
