/* Sets of intervals against an array of flags. */
#include "analyzer/query/interval_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUMBERS = 600 };

static void add(struct um_interval_set *set, char *flags, int64_t start, int64_t end)
{
	assert_int_equal(um_interval_set_add(set, start, end), 0);
	for (int64_t i = start; i < end; i++)
		flags[i] = 1;
}

static int64_t count(const char *flags)
{
	int64_t total = 0;

	for (size_t i = 0; i < NUMBERS; i++)
		total += flags[i];
	return total;
}

static void whatever_the_order(void **state)
{
	unsigned seed = 3;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct um_interval_set set = {0};
		char flags[NUMBERS] = {0};

		for (int i = 0; i < 200; i++) {
			int64_t start = rand_r(&seed) % (NUMBERS - 30);

			add(&set, flags, start, start + rand_r(&seed) % (round % 7 + 2));
			if (i % 50 == 0)
				assert_int_equal(um_interval_set_total(&set), count(flags));
		}
		assert_int_equal(um_interval_set_total(&set), count(flags));
		for (size_t i = 1; i < set.count; i++)
			assert_true(set.items[i].start > set.items[i - 1].end);
		um_interval_set_fini(&set);
	}
}

static void neighbours_take_no_room(void **state)
{
	struct um_interval_set set = {0};

	(void)state;
	for (int64_t i = 0; i < 100000; i++) {
		assert_int_equal(um_interval_set_add(&set, i, i + 1), 0);
		assert_int_equal(um_interval_set_add(&set, i, i + 1), 0);
	}
	assert_int_equal(set.count, 1);
	assert_int_equal(um_interval_set_add(&set, 5, 5), 0);
	assert_int_equal(um_interval_set_total(&set), 100000);
	um_interval_set_fini(&set);
}

static void bytes_within_pages(void **state)
{
	struct um_interval_set bytes = {0}, pages = {0};

	(void)state;
	assert_int_equal(um_interval_set_common(&bytes, &pages, 10), 0);
	um_interval_set_add(&bytes, 3, 17);
	um_interval_set_add(&bytes, 38, 41);
	um_interval_set_add(&pages, 3, 5);
	um_interval_set_add(&pages, 0, 1);
	assert_int_equal(um_interval_set_common(&bytes, &pages, 10), 7 + 3);
	um_interval_set_fini(&bytes);
	um_interval_set_fini(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_the_order),
		cmocka_unit_test(neighbours_take_no_room),
		cmocka_unit_test(bytes_within_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
