#include "query.h"

#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t um_query_integer(struct sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	/* NULL reads as 0: what is not 0 needs no second look, of millions of rows. */
	return value || sqlite3_column_type(row, column) != SQLITE_NULL ? value : UM_NULL;
}

const char *um_query_text(struct sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static int query_failed(struct um_db *db, int result)
{
	const char *detail = sqlite3_errmsg(um_db_handle(db));

	if ((result & 0xff) == SQLITE_NOMEM)
		return um_fail(UM_ENOMEM, "out of memory");
	if ((result & 0xff) == SQLITE_IOERR)
		return um_fail(UM_EIO, "%s: %s", um_db_path(db), detail);
	return um_fail(UM_EFORMAT, "%s: %s", um_db_path(db), detail);
}

int um_query_each(struct um_db *db, const char *sql,
		  int (*call)(struct sqlite3_stmt *, void *context), void *context)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(um_db_handle(db), sql, -1, &statement, NULL);
	int error = 0;

	if (result != SQLITE_OK)
		return query_failed(db, result);
	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW)
		error = call(statement, context);
	if (!error && result != SQLITE_DONE)
		error = query_failed(db, result);
	sqlite3_finalize(statement);
	return error;
}

/* --- rows within a statement --- */

struct scan {
	int (*call)(int64_t *values, void *context);
	void *context;
	int error; /* of the call, which is said already */
};

static void scan_row(sqlite3_context *statement, int count, sqlite3_value **row)
{
	struct scan *scan = sqlite3_user_data(statement);
	int64_t values[UM_QUERY_SCAN_COLUMNS];

	if (scan->error)
		return;
	for (int i = 0; i < count; i++) {
		values[i] = sqlite3_value_int64(row[i]);
		if (!values[i] && sqlite3_value_type(row[i]) == SQLITE_NULL)
			values[i] = UM_NULL;
	}
	scan->error = scan->call(values, scan->context);
	if (scan->error)
		sqlite3_result_error(statement, "stopped", -1);
}

static void scan_end(sqlite3_context *statement)
{
	sqlite3_result_null(statement);
}

/* An aggregate has one row. */
static int run_scan(struct um_db *db, const char *sql, const struct scan *scan)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(um_db_handle(db), sql, -1, &statement, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_step(statement);
	int error = scan->error;

	if (!error && result != SQLITE_ROW)
		error = query_failed(db, result);
	sqlite3_finalize(statement);
	return error;
}

int um_query_scan(struct um_db *db, const char *columns, const char *from,
		  int (*call)(int64_t *values, void *context), void *context)
{
	struct scan scan = {.call = call, .context = context};
	char *sql = NULL;
	/* An aggregate, which the file's own schema cannot call. */
	int result = sqlite3_create_function_v2(um_db_handle(db), "um_scan", -1,
						SQLITE_UTF8 | SQLITE_DIRECTONLY, &scan, NULL,
						scan_row, scan_end, NULL);

	if (result != SQLITE_OK)
		return query_failed(db, result);
	if (asprintf(&sql, "SELECT um_scan(%s) FROM %s", columns, from) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	int error = run_scan(db, sql, &scan);

	free(sql);
	sqlite3_create_function_v2(um_db_handle(db), "um_scan", -1, SQLITE_UTF8, NULL, NULL, NULL,
				   NULL, NULL);
	return error;
}

int um_query_check_run(struct um_db *db)
{
	int64_t runs;
	int error = um_db_integer(db, "SELECT COUNT(*) FROM run", 0, &runs);

	if (!error && runs == 0)
		error = um_fail(UM_EFORMAT, "%s: there is no run in it: its recording never began",
				um_db_path(db));
	return error;
}

/* Room doubles, so it is full whenever the count is a power of two from 16 on. */
static size_t room_for(size_t count)
{
	if (count == 0)
		return 16;
	return count >= 16 && (count & (count - 1)) == 0 ? 2 * count : 0;
}

void *um_query_append(void *items, size_t *count, size_t item_bytes)
{
	char *array;
	size_t room = room_for(*count);

	memcpy(&array, items, sizeof(array));
	if (room) {
		array = reallocarray(array, room, item_bytes);
		if (!array) {
			um_fail(UM_ENOMEM, "out of memory");
			return NULL;
		}
		memcpy(items, &array, sizeof(array));
	}
	return memset(array + (*count)++ * item_bytes, 0, item_bytes);
}
