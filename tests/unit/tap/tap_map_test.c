/* The map against a plain array: whatever is set, changed and removed. */
#include "trace/tap/tap_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEYS  5000u
#define STEPS 200000u

/* Handles as they come: aligned, close together. */
static uint64_t key_of(unsigned i)
{
	return 0x7f0000000000ull + i * 64ull;
}

static void empty(void **state)
{
	struct um_tap_map map = {0};
	uint64_t value = 7;

	(void)state;
	assert_false(um_tap_map_get(&map, 1, &value));
	um_tap_map_remove(&map, 1);
	assert_int_equal(value, 7);
}

static void key_0_is_none(void **state)
{
	struct um_tap_map map = {0};
	uint64_t value;

	(void)state;
	assert_false(um_tap_map_set(&map, 0, 1));
	assert_false(um_tap_map_get(&map, 0, &value));
}

static void check_all(const struct um_tap_map *map, const uint64_t *expected)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		uint64_t value = 0;

		assert_int_equal(um_tap_map_get(map, key_of(i), &value), expected[i] != 0);
		assert_int_equal(value, expected[i]);
		count += expected[i] != 0;
	}
	assert_int_equal(map->used, count);
}

static void at_random(void **state)
{
	static uint64_t expected[KEYS];
	struct um_tap_map map = {0};

	(void)state;
	srandom(1);
	for (unsigned step = 1; step <= STEPS; step++) {
		unsigned i = (unsigned)random() % KEYS;

		if (random() % 2) {
			assert_true(um_tap_map_set(&map, key_of(i), step));
			expected[i] = step;
		} else {
			um_tap_map_remove(&map, key_of(i));
			expected[i] = 0;
		}
		if (step % (STEPS / 20) == 0)
			check_all(&map, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(key_0_is_none),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
