/* Where a device's memory is, by the rules of the allocator: blocks of four pages here. */
#include "analyzer/findings/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PAGE  UINT64_C(4096)
#define BLOCK (4 * PAGE)

static struct um_placement *make(uint64_t blocks)
{
	struct um_placement *placement;

	assert_int_equal(um_placement_create(&placement, blocks * BLOCK, BLOCK), 0);
	return placement;
}

static struct um_placed_memory *put(struct um_placement *placement, uint64_t bytes)
{
	struct um_placed_memory *placed;

	assert_int_equal(um_placement_put(placement, bytes, &placed), 0);
	return placed;
}

static void test_small_ones_share_a_block(void **state)
{
	struct um_placement *placement = make(1);
	struct um_placed_memory *one = put(placement, 1), *three = put(placement, 3 * PAGE);

	(void)state;
	assert_non_null(three);
	assert_int_equal(um_placement_held_bytes(placement), BLOCK);
	assert_int_equal(um_placement_asked_bytes(placement), BLOCK);
	assert_null(put(placement, 1));
	um_placement_remove(placement, three);
	assert_int_equal(um_placement_held_bytes(placement), BLOCK);
	assert_int_equal(um_placement_unused_bytes(placement, one), 3 * PAGE);
	um_placement_remove(placement, one);
	assert_int_equal(um_placement_held_bytes(placement), 0);
	um_placement_destroy(placement);
}

/* Half of each of two blocks is free: as many bytes as a block, and no block. */
static void test_what_is_free_may_not_do(void **state)
{
	struct um_placement *placement = make(2);
	struct um_placed_memory *halves[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		halves[i] = put(placement, BLOCK / 2);
	um_placement_remove(placement, halves[0]);
	um_placement_remove(placement, halves[2]);
	assert_int_equal(um_placement_asked_bytes(placement), BLOCK);
	assert_null(put(placement, BLOCK));
	um_placement_remove(placement, halves[1]);
	struct um_placed_memory *whole = put(placement, BLOCK);
	assert_non_null(whole);
	um_placement_remove(placement, whole);
	um_placement_remove(placement, halves[3]);
	assert_int_equal(um_placement_held_bytes(placement), 0);
	um_placement_destroy(placement);
}

static void test_the_smallest_hole_is_taken(void **state)
{
	struct um_placement *placement = make(3);
	struct um_placed_memory *a = put(placement, 2 * PAGE), *b = put(placement, 3 * PAGE);

	(void)state;
	/* Holes of two pages and of one: one page goes to the second block, two to the first. */
	struct um_placed_memory *one = put(placement, PAGE), *two = put(placement, 2 * PAGE);
	assert_int_equal(um_placement_held_bytes(placement), 2 * BLOCK);
	um_placement_remove(placement, a);
	um_placement_remove(placement, two);
	assert_int_equal(um_placement_held_bytes(placement), BLOCK);
	um_placement_remove(placement, b);
	um_placement_remove(placement, one);
	assert_int_equal(um_placement_held_bytes(placement), 0);
	um_placement_destroy(placement);
}

static void test_holes_become_one(void **state)
{
	struct um_placement *placement = make(1);
	struct um_placed_memory *pages[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		pages[i] = put(placement, PAGE);
	um_placement_remove(placement, pages[0]);
	um_placement_remove(placement, pages[2]);
	assert_null(put(placement, 2 * PAGE));
	um_placement_remove(placement, pages[1]);
	struct um_placed_memory *three = put(placement, 3 * PAGE);
	assert_non_null(three);
	um_placement_remove(placement, three);
	um_placement_remove(placement, pages[3]);
	um_placement_destroy(placement);
}

static void test_large_ones_are_rounded_up(void **state)
{
	struct um_placement *placement = make(4);
	struct um_placed_memory *large = put(placement, BLOCK + 1);

	(void)state;
	assert_int_equal(um_placement_held_bytes(placement), 2 * BLOCK);
	assert_int_equal(um_placement_asked_bytes(placement), BLOCK + PAGE);
	assert_int_equal(um_placement_unused_bytes(placement, large), 3 * PAGE);
	assert_null(put(placement, 2 * BLOCK + 1));
	um_placement_remove(placement, large);
	assert_int_equal(um_placement_held_bytes(placement), 0);
	assert_int_equal(um_placement_asked_bytes(placement), 0);
	um_placement_destroy(placement);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_ones_share_a_block),
		cmocka_unit_test(test_what_is_free_may_not_do),
		cmocka_unit_test(test_the_smallest_hole_is_taken),
		cmocka_unit_test(test_holes_become_one),
		cmocka_unit_test(test_large_ones_are_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
