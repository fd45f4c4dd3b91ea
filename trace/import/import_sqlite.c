#include "import_sqlite.h"

#include "trace/base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* SQLite's own limit of a statement is a million bytes. */
#define STATEMENT_BYTES 16384
/* For what is sorted and read; SQLite puts the rest into a file. */
#define CACHE "PRAGMA cache_size = -32768; PRAGMA temp_store = FILE; PRAGMA trusted_schema = OFF"

int um_import_sqlite_open(sqlite3 **out, const char *path)
{
	int result = sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(*out, CACHE, NULL, NULL, NULL);
	/* Reads the schema. */
	if (result == SQLITE_OK)
		result =
			sqlite3_exec(*out, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
	if (result == SQLITE_OK)
		return 0;
	const struct um_import_file file = {.path = path, .sqlite = *out};
	return um_import_sqlite_failed(&file, result);
}

void um_import_sqlite_close(sqlite3 *sqlite)
{
	sqlite3_close(sqlite);
}

int um_import_sqlite_failed(const struct um_import_file *file, int result)
{
	const char *message = file->sqlite ? sqlite3_errmsg(file->sqlite) : sqlite3_errstr(result);

	switch (result & 0xff) {
	case SQLITE_NOMEM:
		return um_fail(UM_ENOMEM, "out of memory");
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return um_fail(UM_EFORMAT, "%s: an SQLite database, but damaged or cut off: %s",
			       file->path, message);
	case SQLITE_ERROR:
		return um_fail(UM_EFORMAT, "%s: not as its format has it: %s", file->path, message);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return um_fail(UM_EIO, "%s: in use by another program", file->path);
	default:
		return um_fail(UM_EIO, "%s: %s", file->path, message);
	}
}

int um_import_prepare(const struct um_import_file *file, sqlite3_stmt **out, const char *format,
		      ...)
{
	char sql[STATEMENT_BYTES];
	va_list arguments;

	*out = NULL;
	va_start(arguments, format);
	int length = vsnprintf(sql, sizeof(sql), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(sql))
		return um_fail(UM_EFORMAT, "%s: has a table of too long a name", file->path);
	int result = sqlite3_prepare_v2(file->sqlite, sql, -1, out, NULL);
	return result == SQLITE_OK ? 0 : um_import_sqlite_failed(file, result);
}

int um_import_step(const struct um_import_file *file, sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement);

	if (result == SQLITE_ROW)
		return 1;
	return result == SQLITE_DONE ? 0 : um_import_sqlite_failed(file, result);
}

int um_import_integer(const struct um_import_file *file, int64_t *out, const char *format, ...)
{
	char sql[STATEMENT_BYTES];
	sqlite3_stmt *statement;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sql, sizeof(sql), format, arguments);
	va_end(arguments);
	int error = um_import_prepare(file, &statement, "%s", sql);
	int result = error ? error : um_import_step(file, statement);

	if (result == 1)
		*out = um_import_column(statement, 0);
	sqlite3_finalize(statement);
	return result < 0 ? result : 0;
}

static bool exists(const struct um_import_file *file, const char *sql, const char *first,
		   const char *second)
{
	sqlite3_stmt *statement;
	bool found = false;

	if (sqlite3_prepare_v2(file->sqlite, sql, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
		if (second)
			sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
		found = sqlite3_step(statement) == SQLITE_ROW;
	}
	sqlite3_finalize(statement);
	return found;
}

bool um_import_has_table(const struct um_import_file *file, const char *table)
{
	return exists(file, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table,
		      NULL);
}

bool um_import_has_column(const struct um_import_file *file, const char *table, const char *column)
{
	return exists(file, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column);
}

int64_t um_import_column(sqlite3_stmt *statement, int column)
{
	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return UM_NULL;
	return sqlite3_column_int64(statement, column);
}

const char *um_import_text(sqlite3_stmt *statement, int column)
{
	return (const char *)sqlite3_column_text(statement, column);
}

/* --- rows of several tables --- */

struct merging {
	const struct um_import_file *file;
	const struct um_import_source *sources;
	char (*tables)[256]; /* "": there is none */
	sqlite3_stmt **rows;
	size_t count;
	int64_t all;
};

/* The columns of a row, by its rowid. */
static int prepare_row(const struct merging *merging, size_t number)
{
	const struct um_import_source *source = &merging->sources[number];
	const char *table = merging->tables[number];
	char list[4096] = "";
	size_t used = 0;

	for (size_t i = 0; source->columns[i] && used < sizeof(list); i++) {
		const char *column = source->columns[i];
		bool is_other = strchr(column, '.');
		bool is_there = is_other || um_import_has_column(merging->file, table, column);

		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 is_other   ? "%s%s"
					 : is_there ? "%st.\"%s\""
						    : "%sNULL /* %s */",
					 i ? ", " : "", column);
	}
	if (used >= sizeof(list))
		return um_fail(UM_EFORMAT, "%s: table %s: too many columns", merging->file->path,
			       table);
	return um_import_prepare(merging->file, &merging->rows[number],
				 "SELECT %s FROM \"%s\" AS t %s WHERE t.rowid = ?", list, table,
				 source->joins ? source->joins : "");
}

static int print_order(const struct merging *merging, char *sql, size_t capacity)
{
	size_t used = 0;

	sql[0] = '\0';
	for (size_t i = 0; i < merging->count && used < capacity; i++) {
		const struct um_import_source *source = &merging->sources[i];

		if (!merging->tables[i][0])
			continue;
		used += (size_t)snprintf(
			sql + used, capacity - used,
			"%sSELECT CAST(\"%s\" AS INTEGER) AS at, %zu AS source, rowid AS number FROM "
			"\"%s\" WHERE \"%s\" IS NOT NULL%s%s",
			used ? " UNION ALL " : "", source->start, i, merging->tables[i],
			source->start, source->where ? " AND " : "",
			source->where ? source->where : "");
	}
	return used < capacity ? 0
			       : um_fail(UM_EFORMAT, "%s: has tables of too long a name",
					 merging->file->path);
}

/* Two of a time: in the order of the sources, which the caller chose. */
static int find_tables(struct merging *merging, const char *suffix)
{
	int error = 0;

	for (size_t i = 0; i < merging->count && !error; i++) {
		const struct um_import_source *source = &merging->sources[i];
		char *table = merging->tables[i];
		int64_t rows = 0;

		/* The names are this program's own. */
		int length =
			snprintf(table, sizeof(*merging->tables), "%s%s", source->table, suffix);
		if (length < 0 || (size_t)length >= sizeof(*merging->tables) ||
		    strchr(table, '"') || !um_import_has_table(merging->file, table) ||
		    !um_import_has_column(merging->file, table, source->start)) {
			table[0] = '\0';
			continue;
		}
		error = um_import_integer(merging->file, &rows, "SELECT COUNT(*) FROM \"%s\"",
					  table);
		merging->all += rows;
		if (!error)
			error = prepare_row(merging, i);
	}
	return error;
}

static int put_row(const struct merging *merging, sqlite3_stmt *order, void *context)
{
	size_t source = (size_t)sqlite3_column_int64(order, 1);
	sqlite3_stmt *row = merging->rows[source];

	sqlite3_reset(row);
	sqlite3_bind_int64(row, 1, sqlite3_column_int64(order, 2));
	int result = um_import_step(merging->file, row);
	return result == 1 ? merging->sources[source].put(context, row) : result;
}

static int put_rows(const struct merging *merging, const struct um_import_events *events,
		    void *context)
{
	char sql[STATEMENT_BYTES];
	sqlite3_stmt *order = NULL;
	int64_t done = 0;
	int error = print_order(merging, sql, sizeof(sql)), more;

	if (error || !sql[0])
		return error;
	error = um_import_prepare(merging->file, &order, "%s ORDER BY at, source, number", sql);
	while (!error && (more = um_import_step(merging->file, order)) != 0) {
		error = more < 0 ? more : put_row(merging, order, context);
		if (events->progress && ++done % 1024 == 0)
			events->progress(events->progress_context, (uint64_t)done,
					 (uint64_t)merging->all);
	}
	sqlite3_finalize(order);
	return error;
}

int um_import_merge(const struct um_import_file *file, const struct um_import_events *events,
		    const struct um_import_source *sources, size_t count, const char *suffix,
		    void *context)
{
	struct merging merging = {
		.file = file,
		.sources = sources,
		.tables = calloc(count, sizeof(*merging.tables)),
		.rows = calloc(count, sizeof(*merging.rows)),
		.count = count,
	};
	int error = merging.tables && merging.rows ? find_tables(&merging, suffix)
						   : um_fail(UM_ENOMEM, "out of memory");

	if (!error)
		error = put_rows(&merging, events, context);
	for (size_t i = 0; i < count && merging.rows; i++)
		sqlite3_finalize(merging.rows[i]);
	free(merging.tables);
	free(merging.rows);
	return error;
}
