/* Rows of integers that are handed on within a statement. */
#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	int64_t values[4][3];
	size_t count, most;
};

static int see(int64_t *values, void *context)
{
	struct seen *seen = context;

	memcpy(seen->values[seen->count], values, sizeof(seen->values[0]));
	values[0] = 77; /* is the call's own */
	return ++seen->count < seen->most ? 0 : um_fail(UM_ENOENT, "enough");
}

static char path[32];

static int open_file(void **state)
{
	struct um_db *db;

	strcpy(path, "/tmp/um-query-XXXXXX");
	int file = mkstemp(path);

	if (file < 0 || close(file) || um_db_create(&db, path, true))
		return -1;
	*state = db;
	return um_db_exec(db,
			  "CREATE TABLE some (a, b INTEGER, c);"
			  "INSERT INTO some VALUES (1, NULL, 0), (-9223372036854775807, 2, '3'),"
			  " (4, 9223372036854775807, 5)");
}

static int close_file(void **state)
{
	int error = um_db_close(*state);

	return unlink(path) == 0 ? error : -1;
}

static void gives_each_row_once(void **state)
{
	const int64_t expected[3][3] = {{1, UM_NULL, 0}, {-INT64_MAX, 2, 3}, {4, INT64_MAX, 5}};

	for (int times = 0; times < 2; times++) {
		struct seen seen = {.most = 4};

		assert_int_equal(um_query_scan(*state, "a, b, c", "some", see, &seen), 0);
		assert_int_equal(seen.count, 3);
		assert_memory_equal(seen.values, expected, sizeof(expected));
	}
}

static void nothing_of_no_rows(void **state)
{
	struct seen seen = {.most = 4};

	assert_int_equal(um_query_scan(*state, "a, b, c", "some WHERE a > 4", see, &seen), 0);
	assert_int_equal(seen.count, 0);
}

static void stops_where_the_call_does(void **state)
{
	struct seen seen = {.most = 2};

	assert_int_equal(um_query_scan(*state, "a, b, c", "some", see, &seen), UM_ENOENT);
	assert_int_equal(seen.count, 2);
	assert_string_equal(um_error_message(), "enough");
}

static void says_what_sqlite_refuses(void **state)
{
	struct seen seen = {.most = 4};

	assert_int_equal(um_query_scan(*state, "a, b, c", "other", see, &seen), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "other"));
}

/* A schema may come from anyone: what is written into it cannot call us. */
static void is_not_for_views(void **state)
{
	struct seen seen = {.most = 4};

	assert_int_equal(um_db_exec(*state,
				    "CREATE VIEW trap AS SELECT um_scan(a, b, c) AS a, 1 AS b,"
				    " 2 AS c FROM some"),
			 0);
	assert_int_equal(um_query_scan(*state, "a, b, c", "trap", see, &seen), UM_EFORMAT);
	assert_int_equal(seen.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gives_each_row_once, open_file, close_file),
		cmocka_unit_test_setup_teardown(nothing_of_no_rows, open_file, close_file),
		cmocka_unit_test_setup_teardown(stops_where_the_call_does, open_file, close_file),
		cmocka_unit_test_setup_teardown(says_what_sqlite_refuses, open_file, close_file),
		cmocka_unit_test_setup_teardown(is_not_for_views, open_file, close_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
