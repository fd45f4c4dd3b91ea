/* Opening a database, and telling what else a file may be. */
#include "db_private.h"

#include "trace/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's file format: https://www.sqlite.org/fileformat2.html, "The Database Header". */
#define HEADER_BYTES	    UM_DB_HEADER_BYTES
#define HEADER_MAGIC	    "SQLite format 3"
#define HEADER_PAGE_BYTES   16 /* 2 bytes; 1 stands for 65536 */
#define HEADER_CHANGES	    24
#define HEADER_PAGES	    28
#define HEADER_USER_VERSION 60
#define HEADER_APPLICATION  68
#define HEADER_PAGES_VALID  92 /* the page count holds if this equals the change counter */

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

bool um_db_is_trace(const unsigned char *header, ssize_t bytes)
{
	return bytes >= HEADER_BYTES && memcmp(header, HEADER_MAGIC, 16) == 0 &&
	       big_endian(header + HEADER_APPLICATION) == UM_APPLICATION_ID;
}

static int check_version(const char *path, uint32_t version)
{
	if (version > UM_SCHEMA_VERSION)
		return um_fail(UM_EVERSION,
			       "%s: written by a newer umtrace (schema version %u, this one "
			       "reads up to %u)",
			       path, version, UM_SCHEMA_VERSION);
	if (version == 0)
		return um_fail(UM_EFORMAT, "%s: a trace without a schema version: damaged", path);
	return 0;
}

static bool has_log(const char *path)
{
	char log[4096];
	struct stat status;

	snprintf(log, sizeof(log), "%s-wal", path);
	return stat(log, &status) == 0 && status.st_size > 0;
}

static int check_length(const char *path, const unsigned char *header, off_t bytes)
{
	uint64_t page_bytes =
		(uint64_t)header[HEADER_PAGE_BYTES] << 8 | header[HEADER_PAGE_BYTES + 1];
	uint64_t pages = big_endian(header + HEADER_PAGES);

	if (page_bytes == 1)
		page_bytes = 65536;
	/* The log of a writer that was killed may hold what the file lacks. */
	if (big_endian(header + HEADER_PAGES_VALID) != big_endian(header + HEADER_CHANGES) ||
	    pages * page_bytes <= (uint64_t)bytes || has_log(path))
		return 0;
	return um_fail(UM_EFORMAT, "%s: cut off: %llu of %llu bytes are there", path,
		       (unsigned long long)bytes, (unsigned long long)(pages * page_bytes));
}

static int check_header(const char *path, const unsigned char *header, ssize_t got, off_t bytes)
{
	if (got == 0)
		return um_fail(UM_EFORMAT, "%s: not a trace: the file is empty", path);
	if (got < 16 || memcmp(header, HEADER_MAGIC, 16) != 0)
		return um_fail(UM_EFORMAT, "%s: not a trace: not an SQLite database", path);
	if (got < HEADER_BYTES)
		return um_fail(UM_EFORMAT, "%s: cut off: %zd bytes are there", path, got);
	if (big_endian(header + HEADER_APPLICATION) != UM_APPLICATION_ID)
		return um_fail(UM_EFORMAT,
			       "%s: not a trace: an SQLite database of another application", path);
	int error = check_version(path, big_endian(header + HEADER_USER_VERSION));
	return error ? error : check_length(path, header, bytes);
}

int um_db_open_plainly(const char *path, int mode, struct stat *status)
{
	/* Not to wait for the other end of a pipe. */
	int file = open(path, mode | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return errno == ENOENT ? um_fail(UM_ENOENT, "%s: no such file", path)
				       : um_fail_errno(UM_EIO, "%s", path);
	if (fstat(file, status) == 0 && S_ISREG(status->st_mode))
		return file;
	close(file);
	return um_fail(UM_EFORMAT, "%s: not a trace: not a regular file", path);
}

/* What the file is, from its first bytes. */
static int check_file(const char *path)
{
	unsigned char header[HEADER_BYTES];
	struct stat status;
	int file = um_db_open_plainly(path, O_RDONLY, &status);

	if (file < 0)
		return file;
	ssize_t got = pread(file, header, sizeof(header), 0);
	close(file);
	if (got < 0)
		return um_fail_errno(UM_EIO, "%s", path);
	return check_header(path, header, got, status.st_size);
}

/* --- connections --- */

int um_db_connect(struct um_db **out, const char *path, int flags)
{
	struct um_db *db = calloc(1, sizeof(*db));

	*out = NULL;
	if (db)
		db->reserved = -1;
	if (!db || !(db->path = strdup(path))) {
		free(db);
		return um_fail(UM_ENOMEM, "out of memory for a database");
	}
	int result = sqlite3_open_v2(path, &db->sqlite,
				     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (result != SQLITE_OK) {
		int error = db->sqlite ? um_db_failed(db, result)
				       : um_fail(UM_ENOMEM, "out of memory for a database");
		um_db_close(db);
		return error;
	}
	sqlite3_busy_timeout(db->sqlite, 10000);
	/* A trace may come from anyone: its schema runs no code and cannot be turned against us. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	*out = db;
	return 0;
}

int um_db_fail_and_close(struct um_db **db, int error)
{
	um_db_close(*db);
	*db = NULL;
	return error;
}

static int find_table(struct um_db *db, const struct um_table *table, bool *found)
{
	char sql[128];
	int64_t tables = 0;

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%s'",
		 table->name);
	int error = um_db_integer(db, sql, 0, &tables);
	*found = tables == 1;
	return error;
}

static bool has_column(struct um_db *db, const struct um_table *table,
		       const struct um_column *column)
{
	return sqlite3_table_column_metadata(db->sqlite, "main", table->name, column->name, NULL,
					     NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static void write_view(FILE *sql, struct um_db *db, const struct um_table *table, bool is_there)
{
	bool has_rowid = strcmp(table->order_by, "rowid") == 0;

	fprintf(sql, "CREATE TEMP VIEW %s AS SELECT ", table->name);
	if (is_there)
		fprintf(sql, "%s*", has_rowid ? "rowid AS rowid, " : "");
	else
		fprintf(sql, "NULL AS %s", has_rowid ? "rowid" : "no_row");
	for (const struct um_column *column = table->columns; column->name; column++)
		if (!is_there || !has_column(db, table, column))
			fprintf(sql, ", NULL AS %s", column->name);
	if (is_there)
		fprintf(sql, " FROM main.%s", table->name);
	else
		fputs(" WHERE 0", sql);
}

/*
 * Columns that were added since an older umtrace wrote the file are NULL in it, for every query: a
 * view of the connection's own stands before the table, or in its place where the file has none.
 */
static int stand_before(struct um_db *db, const struct um_table *table, bool is_there)
{
	char *text;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);

	if (!sql)
		return um_fail(UM_ENOMEM, "out of memory");
	write_view(sql, db, table, is_there);
	int error = fclose(sql) == 0 ? um_db_exec(db, text) : um_fail(UM_ENOMEM, "out of memory");
	free(text);
	db->is_older = true;
	return error;
}

static int check_columns(struct um_db *db, const struct um_table *table)
{
	bool lacks = false;

	for (const struct um_column *column = table->columns; column->name; column++) {
		if (has_column(db, table, column))
			continue;
		if (column->required)
			return um_fail(UM_EFORMAT, "%s: damaged: '%s' has no column '%s'", db->path,
				       table->name, column->name);
		lacks = true;
	}
	return lacks ? stand_before(db, table, true) : 0;
}

/* The table is one, with the columns that must have a value; an older file may lack a newer one. */
static int check_table(struct um_db *db, const struct um_table *table, uint32_t version)
{
	bool found;
	int error = find_table(db, table, &found);

	if (error)
		return error;
	if (found)
		return check_columns(db, table);
	if (version < table->since)
		return stand_before(db, table, false);
	return um_fail(UM_EFORMAT, "%s: damaged: it has no table '%s'", db->path, table->name);
}

static int check_schema(struct um_db *db)
{
	int64_t version;
	int error = um_db_integer(db, "PRAGMA user_version", 0, &version);

	if (error == 0)
		error = check_version(db->path, (uint32_t)version);
	for (const struct um_table *const *table = um_tables; *table && !error; table++)
		error = check_table(db, *table, (uint32_t)version);
	return error;
}

static int open_checked(struct um_db **out, const char *path, int flags)
{
	int error = um_db_connect(out, path, flags);

	if (error == 0 && (error = check_schema(*out)) != 0)
		return um_db_fail_and_close(out, error);
	return error;
}

/*
 * The file and the log of a writer that was killed. Opened for writing, so that closing it folds
 * the log; where there is no room or right for the index of the log, that index is kept in memory
 * and nobody else may come in.
 */
static int open_with_log(struct um_db **out, const char *path)
{
	if (open_checked(out, path, SQLITE_OPEN_READWRITE) == 0 ||
	    open_checked(out, path, SQLITE_OPEN_READONLY) == 0)
		return 0;
	int error = um_db_connect(out, path, SQLITE_OPEN_READWRITE);

	if (error == 0)
		error = um_db_exec(*out, "PRAGMA locking_mode = EXCLUSIVE");
	if (error == 0)
		error = check_schema(*out);
	return error && *out ? um_db_fail_and_close(out, error) : error;
}

int um_db_open(struct um_db **out, const char *path)
{
	int error = check_file(path);

	*out = NULL;
	if (error)
		return error;
	return has_log(path) ? open_with_log(out, path)
			     : open_checked(out, path, SQLITE_OPEN_READONLY);
}

int um_db_start_writing(struct um_db *db)
{
	db->writes = true;
	/* The read opens the log, and with it takes the lock that tells others of us. */
	return um_db_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
			      "SELECT count(*) FROM sqlite_schema");
}

int um_db_open_rw(struct um_db **out, const char *path)
{
	int error = check_file(path);

	*out = NULL;
	if (error)
		return error;
	error = open_checked(out, path, SQLITE_OPEN_READWRITE);
	if (error == 0 && (*out)->is_older)
		return um_db_fail_and_close(out,
					    um_fail(UM_EVERSION,
						    "%s: written by an older umtrace: nothing can "
						    "be added",
						    path));
	if (error == 0 && (error = um_db_start_writing(*out)) != 0)
		return um_db_fail_and_close(out, error);
	return error;
}
