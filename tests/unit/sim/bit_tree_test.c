#include "sim/curve/bit_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void empty_sets_have_no_ends(void **state)
{
	struct um_bit_tree tree;

	(void)state;
	for (uint32_t limit = 0; limit < 200; limit += 63) {
		assert_int_equal(um_bit_tree_init(&tree, limit), 0);
		assert_int_equal(um_bit_tree_first(&tree), UM_BIT_TREE_NONE);
		assert_int_equal(um_bit_tree_last(&tree), UM_BIT_TREE_NONE);
		um_bit_tree_fini(&tree);
	}
}

/* Beside an array of what is in it. */
static void ends_are_those_of_a_plain_set(void **state)
{
	static bool in[5000];
	static const uint32_t limits[] = {1, 64, 65, 4096, 4097, 5000};
	uint64_t random = 88172645463325252u;

	(void)state;
	for (size_t l = 0; l < sizeof(limits) / sizeof(*limits); l++) {
		struct um_bit_tree tree;

		memset(in, 0, sizeof(in));
		assert_int_equal(um_bit_tree_init(&tree, limits[l]), 0);
		for (int i = 0; i < 3000; i++) {
			uint32_t first = 0, last = limits[l], number;

			random ^= random << 13; /* Marsaglia's xorshift */
			random ^= random >> 7;
			random ^= random << 17;
			number = (uint32_t)(random >> 20) % limits[l];
			if (random >> 60 < (i < 1500 ? 11 : 5))
				um_bit_tree_set(&tree, number);
			else
				um_bit_tree_clear(&tree, number);
			in[number] = random >> 60 < (i < 1500 ? 11 : 5);
			while (first < limits[l] && !in[first])
				first++;
			while (last > 0 && !in[last - 1])
				last--;
			assert_int_equal(um_bit_tree_first(&tree),
					 first < limits[l] ? first : UM_BIT_TREE_NONE);
			assert_int_equal(um_bit_tree_last(&tree),
					 last ? last - 1 : UM_BIT_TREE_NONE);
		}
		um_bit_tree_fini(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_sets_have_no_ends),
		cmocka_unit_test(ends_are_those_of_a_plain_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
