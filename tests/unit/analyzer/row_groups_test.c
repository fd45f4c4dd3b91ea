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

static void adds_up_each_group(void **state)
{
	static struct um_row_group plain[GROUPS_MOST];
	struct um_row_groups groups = {0};
	size_t count = 0;

	(void)state;
	srand(11);
	for (int i = 0; i < ROWS; i++) {
		int64_t key[UM_ROW_GROUP_KEYS] = {
			rand() % 7, UM_NULL, rand() % 2 - 1, rand() % 3 ? UM_NULL : rand() % 40,
			0,	    0};
		int64_t amounts[2] = {rand() % 1000, rand() % 5};
		size_t at = 0;

		while (at < count && memcmp(plain[at].key, key, sizeof(key)) != 0)
			at++;
		if (at == count)
			memcpy(plain[count++].key, key, sizeof(key));
		plain[at].sum[0] += amounts[0];
		plain[at].sum[1] += amounts[1];
		assert_int_equal(um_row_groups_add(&groups, key, amounts), 0);
	}
	assert_int_equal(groups.count, count);
	assert_memory_equal(groups.groups, plain, count * sizeof(plain[0]));
	um_row_groups_fini(&groups);
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
	um_row_groups_fini(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_up_each_group),
		cmocka_unit_test(knows_what_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
