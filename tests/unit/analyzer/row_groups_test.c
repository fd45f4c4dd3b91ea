/* Groups of rows: beside a plain search, and what is not known or too much. */
#include "analyzer/query/row_groups.h"
#include "trace/base/error.h"
#include "trace/db/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 20000, GROUPS_MOST = 4096 };

static struct um_row_group rows[ROWS], plain[GROUPS_MOST];

/* Fills `rows`, and `plain` with their groups; returns how many. */
static size_t make_rows(void)
{
	size_t count = 0;

	srand(11);
	memset(plain, 0, sizeof(plain));
	for (int i = 0; i < ROWS; i++) {
		rows[i] = (struct um_row_group){.key = {rand() % 7, UM_NULL, rand() % 2 - 1,
							rand() % 3 ? UM_NULL : rand() % 40, 0, 0},
						.sum = {rand() % 1000, rand() % 5}};
		size_t at = 0;

		while (at < count && memcmp(plain[at].key, rows[i].key, sizeof(rows[i].key)) != 0)
			at++;
		if (at == count)
			memcpy(plain[count++].key, rows[i].key, sizeof(rows[i].key));
		plain[at].sum[0] += rows[i].sum[0];
		plain[at].sum[1] += rows[i].sum[1];
	}
	return count;
}

static void adds_up_each_group(void **state)
{
	struct um_row_groups groups = {0};
	size_t count = make_rows();

	(void)state;
	for (int i = 0; i < ROWS; i++)
		assert_int_equal(um_row_groups_add(&groups, rows[i].key, rows[i].sum), 0);
	assert_int_equal(groups.count, count);
	assert_memory_equal(groups.groups, plain, count * sizeof(plain[0]));
	um_row_groups_fini(&groups);
}

static void adds_many_at_once(void **state)
{
	size_t count = make_rows();

	(void)state;
	for (size_t at_once = 1; at_once <= UM_ROW_GROUPS_AT_ONCE; at_once += 21) {
		struct um_row_groups groups = {0};

		for (size_t i = 0; i < ROWS; i += at_once)
			assert_int_equal(
				um_row_groups_add_rows(&groups, &rows[i],
						       ROWS - i < at_once ? ROWS - i : at_once),
				0);
		assert_int_equal(groups.count, count);
		assert_memory_equal(groups.groups, plain, count * sizeof(plain[0]));
		um_row_groups_fini(&groups);
	}
}

static void knows_what_it_does_not_know(void **state)
{
	static const int64_t key[UM_ROW_GROUP_KEYS] = {1, 2, 3, 4, 5, 6};
	struct um_row_groups groups = {0};

	(void)state;
	assert_int_equal(um_row_groups_add(&groups, key, (int64_t[2]){5, 1}), 0);
	assert_int_equal(um_row_groups_add(&groups, key, (int64_t[2]){UM_NULL, 1}), 0);
	assert_int_equal(um_row_groups_add(&groups, key, (int64_t[2]){7, 1}), 0);
	assert_int_equal(groups.groups[0].sum[0], UM_NULL);
	assert_int_equal(groups.groups[0].sum[1], 3);
	assert_int_equal(um_row_groups_add(&groups, key, (int64_t[2]){0, INT64_MAX}), UM_EFORMAT);
	assert_int_equal(
		um_row_groups_add_rows(
			&groups, &(struct um_row_group){{1, 2, 3, 4, 5, 6}, {0, INT64_MAX}}, 1),
		UM_EFORMAT);
	um_row_groups_fini(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_up_each_group),
		cmocka_unit_test(adds_many_at_once),
		cmocka_unit_test(knows_what_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
