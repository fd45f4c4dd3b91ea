#include "query.h"

#include "trace/base/error.h"

#include <sqlite3.h>
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
