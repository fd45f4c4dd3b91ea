/* Ranges by their ids, in whatever order they end. */
#include "trace/runtime/range_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 100000

static void what_was_put_in_comes_out_once(void **state)
{
	struct um_range_table table = {0};
	struct um_range_link *links = calloc(MANY, sizeof(*links));

	(void)state;
	assert_non_null(links);
	assert_null(um_range_table_take(&table, 1));
	for (uint64_t i = 0; i < MANY; i++) {
		links[i].id = i + 1;
		assert_int_equal(um_range_table_put(&table, &links[i]), 0);
	}
	assert_int_equal(table.count, MANY);
	assert_true(table.place_count >= MANY); /* so that few share a place */
	assert_null(um_range_table_take(&table, 0));
	assert_null(um_range_table_take(&table, MANY + 1));
	/* The first first, then the rest from the end. */
	for (uint64_t i = 0; i < MANY / 2; i++)
		assert_ptr_equal(um_range_table_take(&table, i + 1), &links[i]);
	for (uint64_t i = MANY; i-- > MANY / 2;)
		assert_ptr_equal(um_range_table_take(&table, i + 1), &links[i]);
	assert_int_equal(table.count, 0);
	assert_null(um_range_table_take(&table, 1));
	free(table.places);
	free(links);
}

static void of_one_id_the_last_comes_first(void **state)
{
	struct um_range_table table = {0};
	struct um_range_link links[200];

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		links[i] = (struct um_range_link){.id = i % 2};
		assert_int_equal(um_range_table_put(&table, &links[i]), 0);
	}
	for (size_t i = 200; i-- > 0;)
		assert_ptr_equal(um_range_table_take(&table, i % 2), &links[i]);
	free(table.places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_in_comes_out_once),
		cmocka_unit_test(of_one_id_the_last_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
