/*
 * Rules of driver nvidia_uvm: advice on part of a range cuts it, and its blocks, at the ends of that
 * part (split_as_needed in uvm_policy.c), so that trees are of what is left (uvm_perf_prefetch.c).
 */
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

/* Cuts pages [first, first + pages) out, and leaves them without advice. */
static void cut(int64_t allocation, int64_t first, int64_t pages)
{
	fx_advise_pages(&uvm.fx, allocation, first, pages, "preferred_location", UM_HOST);
	fx_advise_pages(&uvm.fx, allocation, first, pages, "unset_preferred_location", UM_HOST);
}

static void expect(int64_t op, int64_t faults, int64_t pages)
{
	assert_int_equal(uvm_device_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_in(&uvm, op), pages);
}

/* uvm_va_range_split: no tree reaches over a cut, and pieces are never joined again. */
static void a_tree_ends_at_a_cut(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), left, right;

	(void)state;
	cut(data, 0, 256);
	left = uvm_read(&uvm, data, 0, 256);
	right = uvm_read(&uvm, data, 256, 1);
	uvm_run(&uvm);
	expect(left, 5, 256);
	expect(right, 1, 16);
}

/* preferred_location_is_split_needed: advice that changes nothing at an end does not cut there. */
static void advice_that_changes_nothing_does_not_cut(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 0, 8, "unset_preferred_location", 0);
	fx_advise_pages(&uvm.fx, data, 0, 8, "unset_accessed_by", 0);
	op = uvm_read(&uvm, data, 8, 1);
	uvm_run(&uvm);
	expect(op, 1, 16);
}

/*
 * A tree begins with its block, not at 2 MiB: at page 96 here, from where pages double as they do
 * from 0, and the sixth fault has 272 of 416. Uncut it were 11 faults.
 */
static void a_tree_begins_with_its_block(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 96);
	op = uvm_read(&uvm, data, 96, 416);
	uvm_run(&uvm);
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(96, 1)}, {BROUGHT_ALONG(97, 15)}, {FAULT(112, 1)},
		       {BROUGHT_ALONG(113, 15)}, {FAULT(128, 1)}, {BROUGHT_ALONG(129, 31)},
		       {FAULT(160, 1)}, {BROUGHT_ALONG(161, 63)}, {FAULT(224, 1)},
		       {BROUGHT_ALONG(225, 127)}, {FAULT(352, 1)}, {BROUGHT_ALONG(353, 159)});
}

/* accessed_by_is_split_needed, read_duplication_is_split_needed: each of the advices cuts. */
static void each_advice_cuts(void **state)
{
	static const char *const advices[][2] = {
		{"accessed_by", "unset_accessed_by"},
		{"read_mostly", "unset_read_mostly"},
		{"preferred_location", "unset_preferred_location"},
	};
	int64_t ops[3], uncut = uvm_data(&uvm, BLOCK), all;

	(void)state;
	for (int i = 0; i < 3; i++) {
		int64_t data = uvm_data(&uvm, BLOCK);

		fx_advise_pages(&uvm.fx, data, 0, 96, advices[i][0], 0);
		fx_advise_pages(&uvm.fx, data, 0, 96, advices[i][1], 0);
		ops[i] = uvm_read(&uvm, data, 96, 416);
	}
	all = uvm_read(&uvm, uncut, 96, 416);
	uvm_run(&uvm);
	for (int i = 0; i < 3; i++)
		expect(ops[i], 6, 416);
	assert_int_equal(uvm_device_faults(&uvm, all), 11);
}

/* Once disabled, read duplication is not as before it was ever set: to unset it alone cuts. */
static void unset_read_mostly_is_a_change(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 0, 96, "unset_read_mostly", 0);
	op = uvm_read(&uvm, data, 96, 416);
	uvm_run(&uvm);
	expect(op, 6, 416);
}

/* The pages in the middle have the advice, those around it do not. */
static void the_middle_is_cut_out(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), before, middle, after;

	(void)state;
	fx_advise_pages(&uvm.fx, data, 128, 128, "accessed_by", 0);
	before = uvm_read(&uvm, data, 0, 128);
	middle = uvm_read(&uvm, data, 128, 128);
	after = uvm_read(&uvm, data, 256, 256);
	uvm_run(&uvm);
	expect(before, 4, 128);
	expect(middle, 0, 0);
	assert_int_equal(uvm_pages_remote(&uvm, middle), 128);
	expect(after, 5, 256);
}

/* What is where, and mapped, stays so. */
static void a_cut_moves_and_unmaps_nothing(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), device, host;

	(void)state;
	uvm_prefetch(&uvm, data, 0, 128, 0);
	cut(data, 0, 64);
	device = uvm_read(&uvm, data, 0, 128);
	host = uvm_host_read(&uvm, data, 128, BLOCK - 128);
	uvm_run(&uvm);
	expect(device, 0, 0);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
	assert_int_equal(uvm_pages_out(&uvm, 0), 0);
}

/* The last level's leaves end with the block: nodes have as many pages as the block has there. */
static void a_short_block_has_a_short_tree(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 40);
	op = uvm_read(&uvm, data, 0, 40);
	uvm_run(&uvm);
	expect(op, 2, 40); /* 16 of 40; then 32 of 40 */
	EXPECT_RECORDS(&uvm, op, 0, {FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)}, {FAULT(16, 1)},
		       {BROUGHT_ALONG(17, 23)});
}

/* grow_fault_granularity: what is behind the last whole 64 KiB is taken as one. */
static void the_end_of_a_block_comes_as_one(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 40);
	op = uvm_read(&uvm, data, 33, 1);
	uvm_run(&uvm);
	expect(op, 1, 8);
	EXPECT_RECORDS(&uvm, op, 0, {BROUGHT_ALONG(32, 1)}, {FAULT(33, 1)}, {BROUGHT_ALONG(34, 6)});
}

/* grow_fault_granularity: a block without whole 64 KiB is taken as one. */
static void a_block_below_64_kib_comes_whole(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 8);
	op = uvm_read(&uvm, data, 3, 1);
	uvm_run(&uvm);
	expect(op, 1, 8);
}

/*
 * grow_fault_granularity: what is before the first whole 64 KiB is taken as one. The tree is shifted
 * so that it begins at 64 KiB: the pages in front are empty leaves.
 */
static void the_beginning_of_a_block_comes_as_one(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 8);
	op = uvm_read(&uvm, data, 10, 1);
	uvm_run(&uvm);
	expect(op, 1, 8); /* 8 of the 16 leaves, half */
	EXPECT_RECORDS(&uvm, op, 0, {BROUGHT_ALONG(8, 2)}, {FAULT(10, 1)}, {BROUGHT_ALONG(11, 5)});
}

/* Nodes count the empty leaves: of the first 64, 32 are then half, of 56 pages they were more. */
static void empty_leaves_count_in_nodes(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), first, second;

	(void)state;
	cut(data, 0, 8);
	first = uvm_read(&uvm, data, 16, 1);
	second = uvm_read(&uvm, data, 32, 1);
	uvm_run(&uvm);
	expect(first, 1, 16);
	expect(second, 1, 16);
}

/*
 * compute_prefetch_mask has the largest node alone: once [0, 32) qualifies (24 of 32 leaves), what
 * it leaves out by the clamp below is not brought along by smaller nodes either.
 */
static void a_clamped_node_brings_less_than_a_smaller_one(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	cut(data, 0, 8);
	uvm_read(&uvm, data, 16, 1);
	op = uvm_read(&uvm, data, 8, 1);
	uvm_run(&uvm);
	expect(op, 1, 1);
}

/*
 * compute_prefetch_region: a node that begins in the empty leaves is clamped to page `offset` of the
 * block, 4 here, where the block's first page would be meant. The block begins at page 4: 12 of its
 * first 16 leaves are pages, and of those 4 to 7 stay, but for the one that faulted.
 */
static void the_first_pages_behind_empty_leaves_are_left_out(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), first, second;

	(void)state;
	cut(data, 0, 4);
	first = uvm_read(&uvm, data, 4, 1);
	second = uvm_read(&uvm, data, 5, 1);
	uvm_run(&uvm);
	expect(first, 1, 9);
	EXPECT_RECORDS(&uvm, first, 0, {FAULT(4, 1)}, {BROUGHT_ALONG(8, 8)});
	expect(second, 1, 1);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_tree_ends_at_a_cut),
		RULE(advice_that_changes_nothing_does_not_cut),
		RULE(a_tree_begins_with_its_block),
		RULE(each_advice_cuts),
		RULE(unset_read_mostly_is_a_change),
		RULE(the_middle_is_cut_out),
		RULE(a_cut_moves_and_unmaps_nothing),
		RULE(a_short_block_has_a_short_tree),
		RULE(the_end_of_a_block_comes_as_one),
		RULE(a_block_below_64_kib_comes_whole),
		RULE(the_beginning_of_a_block_comes_as_one),
		RULE(empty_leaves_count_in_nodes),
		RULE(a_clamped_node_brings_less_than_a_smaller_one),
		RULE(the_first_pages_behind_empty_leaves_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
