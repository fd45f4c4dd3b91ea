/* Where something begins in a list that is in order, against looking at every item. */
#include "trace/base/sorted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT 7

struct item {
	uint32_t id;
	char rest[5];
};

static int by_id(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/* Every list of up to 7 of ids that ascend, some of them alike: bit n, the n-th is one more. */
static void the_first_that_is_not_below(void **state)
{
	(void)state;
	for (size_t count = 0; count <= COUNT; count++)
		for (unsigned steps = 0; steps < 1u << COUNT; steps++) {
			struct item items[COUNT + 1] = {{0}};

			for (size_t i = 0; i < count; i++)
				items[i].id = (i ? items[i - 1].id : 0) + (steps >> i & 1);
			for (uint32_t id = 0; id <= COUNT + 1; id++) {
				const struct item key = {.id = id};
				size_t first = 0, alike = 0;

				while (first < count && items[first].id < id)
					first++;
				while (first + alike < count && items[first + alike].id == id)
					alike++;
				assert_int_equal(
					um_sorted_first(items, count, sizeof(key), &key, by_id),
					first);
				assert_int_equal(um_sorted_alike(items, count, sizeof(key), first,
								 &key, by_id),
						 alike);
				assert_ptr_equal(um_sorted_find(items, count, sizeof(key), id),
						 alike ? &items[first] : NULL);
			}
		}
}

static void values_ascend(void **state)
{
	double values[] = {3, -1, 2, -1};

	(void)state;
	um_sort_values(values, 4);
	assert_true(values[0] == -1 && values[1] == -1 && values[2] == 2 && values[3] == 3);
	um_sort_values(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_is_not_below),
		cmocka_unit_test(values_ascend),
	};

	return cmocka_run_group_tests_name("sorted", tests, NULL, NULL);
}
