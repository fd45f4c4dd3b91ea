#include "db_private.h"

#include "trace/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

static const struct {
	int result, error;
	const char *text;
} causes[] = {
	{SQLITE_READONLY, UM_EIO, "cannot be written"},
	{SQLITE_BUSY, UM_EIO, "locked by another program"},
	{SQLITE_LOCKED, UM_EIO, "locked by another program"},
	{SQLITE_NOMEM, UM_ENOMEM, "out of memory"},
	{SQLITE_NOTADB, UM_EFORMAT, "not a database"},
	{SQLITE_CORRUPT, UM_EFORMAT, "damaged"},
	{SQLITE_CONSTRAINT, UM_EINVAL, "a row breaks a rule of the schema"},
};

static const char *system_cause(int number)
{
	switch (number) {
	case ENOSPC:
		return "no space left on the disk";
	case EFBIG:
		return "the limit on the size of a file is reached (ulimit -f)";
	default:
		return strerror(number);
	}
}

/*
 * The system's error number behind a failed write. Where a write was cut short SQLite has none, and
 * a full disk and a file that may not grow are the same to it.
 */
static int cause_number(struct um_db *db)
{
	int number = sqlite3_system_errno(db->sqlite);
	struct rlimit limit;
	struct statvfs disk;

	if (number != 0)
		return number;
	if (statvfs(db->path, &disk) == 0 && disk.f_bavail == 0)
		return ENOSPC;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return EFBIG;
	return EIO;
}

int um_db_failed(struct um_db *db, int result)
{
	const char *detail = sqlite3_errmsg(db->sqlite);
	int primary = result & 0xff;

	if (primary == SQLITE_FULL || primary == SQLITE_IOERR)
		return um_fail(UM_EIO, "%s: %s", db->path, system_cause(cause_number(db)));
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (primary == causes[i].result)
			return um_fail(causes[i].error, "%s: %s (%s)", db->path, causes[i].text,
				       detail);
	return um_fail(UM_EIO, "%s: %s", db->path, detail);
}

int um_db_write_failed(struct um_db *db, int result)
{
	int error = um_db_failed(db, result);

	if (error == UM_EINVAL)
		return error;
	if (db->error == 0) {
		db->error = error;
		snprintf(db->error_message, sizeof(db->error_message), "%s", um_error_message());
	}
	if (!sqlite3_get_autocommit(db->sqlite))
		sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

struct sqlite3 *um_db_handle(struct um_db *db)
{
	return db->sqlite;
}

const char *um_db_path(const struct um_db *db)
{
	return db->path;
}

int um_db_exec(struct um_db *db, const char *sql)
{
	int result = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);

	if (result == SQLITE_OK)
		return 0;
	return db->writes ? um_db_write_failed(db, result) : um_db_failed(db, result);
}

int um_db_begin(struct um_db *db)
{
	return sqlite3_get_autocommit(db->sqlite) ? um_db_exec(db, "BEGIN") : 0;
}

int um_db_commit(struct um_db *db)
{
	return sqlite3_get_autocommit(db->sqlite) ? 0 : um_db_exec(db, "COMMIT");
}

int um_db_integer(struct um_db *db, const char *sql, int64_t key, int64_t *out)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);

	if (result != SQLITE_OK)
		return um_db_failed(db, result);
	if (sqlite3_bind_parameter_count(statement) > 0)
		sqlite3_bind_int64(statement, 1, key);
	result = sqlite3_step(statement);
	*out = UM_NULL;
	if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
		*out = sqlite3_column_int64(statement, 0);
	int error = result == SQLITE_ROW || result == SQLITE_DONE ? 0 : um_db_failed(db, result);
	sqlite3_finalize(statement);
	return error;
}

/* Folds the log into the file; where somebody reads it just now, that is left to him. */
static void fold(struct um_db *db)
{
	sqlite3_busy_timeout(db->sqlite, 500);
	sqlite3_exec(db->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

int um_db_close(struct um_db *db)
{
	if (!db)
		return 0;
	if (db->writes)
		um_db_commit(db);
	for (size_t i = 0; i < db->statements; i++) {
		sqlite3_finalize(db->statement[i].statement);
		free(db->statement[i].where);
	}
	if (db->writes)
		fold(db);
	sqlite3_close(db->sqlite);
	/* Not before: closing any descriptor of a file gives up all locks that SQLite has on it. */
	if (db->reserved >= 0)
		close(db->reserved);
	int error = db->error ? um_fail(db->error, "%s", db->error_message) : 0;
	free(db->path);
	free(db);
	return error;
}
