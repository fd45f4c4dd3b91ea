#include "sweep_sql.h"

#include "trace/base/error.h"

int um_sweep_sql_fail(struct um_sweep_db *db, const char *doing)
{
	int code = db->db ? sqlite3_errcode(db->db) : SQLITE_NOMEM;

	switch (code & 0xff) {
	case SQLITE_FULL:
		return um_fail(UM_EIO, "%s: %s: the disk is full", db->path, doing);
	case SQLITE_READONLY:
		return um_fail(UM_EIO, "%s: %s: it is read-only", db->path, doing);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return um_fail(UM_EIO, "%s: %s: another process is writing to it", db->path, doing);
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return um_fail(UM_EFORMAT, "%s: %s: damaged, or no database", db->path, doing);
	case SQLITE_NOMEM:
		return um_fail(UM_ENOMEM, "out of memory");
	default:
		return um_fail(UM_EIO, "%s: %s: %s", db->path, doing, sqlite3_errmsg(db->db));
	}
}

int um_sweep_sql_exec(struct um_sweep_db *db, const char *sql)
{
	return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : um_sweep_sql_fail(db, "writing");
}

sqlite3_stmt *um_sweep_sql_prepare(struct um_sweep_db *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(db->db, sql, -1, &statement, NULL) != SQLITE_OK)
		um_sweep_sql_fail(db, "reading");
	return statement;
}

int um_sweep_sql_run(struct um_sweep_db *db, sqlite3_stmt *statement)
{
	int result;

	do
		result = sqlite3_step(statement);
	while (result == SQLITE_ROW);
	int error = result == SQLITE_DONE ? 0 : um_sweep_sql_fail(db, "writing");

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return error;
}

void um_sweep_sql_bind_text(sqlite3_stmt *statement, int place, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(statement, place);
}
