/*
 * All of a database as one JSON object, version 1:
 *   format "umtrace", version 1, schema (of the file read: user_version as this build reads it)
 *   run       an object: the columns of table run
 *   origins   [row of table origin]
 *   devices, summary   under the names of rocprof-sys (export_unified_memory.c)
 *   traffic, allocations, kernels, ranges, transfers, faults   [row]: an object by the columns of the
 *             sheet of that name (analyzer/query/export_sheets.c)
 *   losses    [row of table loss]
 * What is not known is null. Later versions add members; none changes its meaning within a version.
 */
#include "export.h"

#include "analyzer/query/export_sheets.h"
#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

struct writing {
	FILE *out;
	size_t rows;
};

static int put_value(FILE *out, struct sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_NULL:
		fputs("null", out);
		return 0;
	case SQLITE_INTEGER:
		fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(row, column));
		return 0;
	case SQLITE_FLOAT: /* as SQLite writes it, but for infinities, which JSON has not */
		fputs(sqlite3_column_double(row, column) - sqlite3_column_double(row, column) == 0
			      ? um_query_text(row, column)
			      : "null",
		      out);
		return 0;
	default:
		return um_export_string(out, um_query_text(row, column));
	}
}

static int put_object(struct sqlite3_stmt *row, FILE *out)
{
	int error = 0;

	fputc('{', out);
	for (int i = 0; i < sqlite3_column_count(row) && !error; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", sqlite3_column_name(row, i));
		error = put_value(out, row, i);
	}
	fputc('}', out);
	if (!error && ferror(out))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

static int put_row(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;

	fputs(writing->rows++ ? ",\n" : "\n", writing->out);
	return put_object(row, writing->out);
}

/* A damaged file may have several. */
static int put_one(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;

	return writing->rows++ ? 0 : put_object(row, writing->out);
}

static int put_run(FILE *out, struct um_db *db)
{
	struct writing writing = {.out = out};
	char *sql = um_export_sheet_sql("run");
	int error;

	if (!sql)
		return UM_ENOMEM;
	fputs("\"run\": ", out);
	error = um_query_each(db, sql, put_one, &writing);
	if (!error && !writing.rows)
		fputs("null", out);
	fputs(",\n", out);
	free(sql);
	return error;
}

static int put_sheet(FILE *out, struct um_db *db, const char *member, const char *sheet)
{
	struct writing writing = {.out = out};
	char *sql = um_export_sheet_sql(sheet);
	int error;

	if (!sql)
		return UM_ENOMEM;
	fprintf(out, "\"%s\": [", member);
	error = um_query_each(db, sql, put_row, &writing);
	fputs(writing.rows ? "\n]" : "]", out);
	free(sql);
	return error;
}

int um_export_json(FILE *out, struct um_db *db, const struct um_export_choice *choice)
{
	static const struct {
		const char *member, *sheet;
	} sheets[] = {{"origins", "origin"},	      {"traffic", "traffic"},
		      {"allocations", "allocations"}, {"kernels", "kernels"},
		      {"ranges", "ranges"},	      {"transfers", "transfers"},
		      {"faults", "faults"},	      {"losses", "loss"}};
	int error;

	(void)choice;
	fprintf(out, "{\n\"format\": \"umtrace\",\n\"version\": 1,\n\"schema\": %d,\n",
		UM_SCHEMA_VERSION);
	error = put_run(out, db);
	if (!error)
		error = um_export_unified_memory(out, db);
	for (size_t i = 0; i < sizeof(sheets) / sizeof(*sheets) && !error; i++) {
		fputs(",\n", out);
		error = put_sheet(out, db, sheets[i].member, sheets[i].sheet);
	}
	fputs("\n}\n", out);
	return error;
}
