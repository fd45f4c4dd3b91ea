/* Pages that lie somewhere: each counts once, whatever runs they come and go in. */
#include "analyzer/query/page_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGES = 1000, ALLOCATIONS = 5 };

static void counts_each_page_once(void **state)
{
	struct um_page_sets *sets;
	int64_t changed;

	(void)state;
	assert_int_equal(um_page_sets_create(&sets), 0);
	assert_int_equal(um_page_sets_add(sets, 3, PAGES, 0, 512, &changed), 0);
	assert_int_equal(changed, 512);
	assert_int_equal(um_page_sets_add(sets, 3, PAGES, 500, 24, &changed), 0);
	assert_int_equal(changed, 12);
	assert_int_equal(um_page_sets_add(sets, 3, PAGES, 990, 100, &changed), 0);
	assert_int_equal(changed, 10);
	assert_int_equal(um_page_sets_add(sets, 3, PAGES, -1, 10, &changed), 0);
	assert_int_equal(changed, 0);
	assert_int_equal(um_page_sets_take(sets, 3, 100, 2), 2);
	assert_int_equal(um_page_sets_take(sets, 3, 100, 2), 0);
	assert_int_equal(um_page_sets_take(sets, 4, 0, 2), 0);
	assert_int_equal(um_page_sets_drop(sets, 3), 532);
	assert_int_equal(um_page_sets_drop(sets, 3), 0);
	assert_int_equal(um_page_sets_add(sets, 3, PAGES, 0, 1, &changed), 0);
	assert_int_equal(changed, 1);
	um_page_sets_destroy(sets);
	um_page_sets_destroy(NULL);
}

/* Beside an array of bools. */
static void agrees_with_a_plain_one(void **state)
{
	static bool plain[ALLOCATIONS][PAGES];
	struct um_page_sets *sets;

	(void)state;
	srand(3);
	assert_int_equal(um_page_sets_create(&sets), 0);
	for (int i = 0; i < 20000; i++) {
		int64_t allocation = rand() % ALLOCATIONS, first = rand() % PAGES;
		int64_t pages = 1 + rand() % 200, changed = 0, expected = 0;
		bool adds = rand() % 2;

		for (int64_t page = first; page < first + pages && page < PAGES; page++) {
			expected += plain[allocation][page] != adds;
			plain[allocation][page] = adds;
		}
		if (adds)
			assert_int_equal(um_page_sets_add(sets, 10 - allocation, PAGES, first,
							  pages, &changed),
					 0);
		else
			changed = um_page_sets_take(sets, 10 - allocation, first, pages);
		assert_int_equal(changed, expected);
	}
	um_page_sets_destroy(sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_each_page_once),
		cmocka_unit_test(agrees_with_a_plain_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
