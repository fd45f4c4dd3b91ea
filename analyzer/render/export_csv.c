/* One table as RFC 4180 has it: a head, fields quoted where they need it, lines that end in CR LF. */
#include "export.h"

#include "analyzer/query/export_sheets.h"
#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct writing {
	FILE *out;
	bool has_head;
};

static void put_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_head(FILE *out, struct sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		fputs(i ? "," : "", out);
		put_text(out, sqlite3_column_name(row, i));
	}
	fputs("\r\n", out);
}

/* NULL is an empty field. */
static int put_row(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;

	if (!writing->has_head)
		put_head(writing->out, row);
	writing->has_head = true;
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const char *text = um_query_text(row, i);

		fputs(i ? "," : "", writing->out);
		if (text)
			put_text(writing->out, text);
	}
	fputs("\r\n", writing->out);
	return ferror(writing->out) ? um_fail_errno(UM_EIO, "writing") : 0;
}

/* A table without rows has its head all the same. */
static int put_empty(FILE *out, struct um_db *db, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(um_db_handle(db), sql, -1, &statement, NULL) != SQLITE_OK)
		return um_fail(UM_EFORMAT, "%s: %s", um_db_path(db),
			       sqlite3_errmsg(um_db_handle(db)));
	put_head(out, statement);
	sqlite3_finalize(statement);
	return 0;
}

int um_export_csv(FILE *out, struct um_db *db, const struct um_export_choice *choice)
{
	struct writing writing = {.out = out};
	char *sql = um_export_sheet_sql(choice->table);
	int error = sql ? um_query_each(db, sql, put_row, &writing) : UM_EINVAL;

	if (!error && !writing.has_head)
		error = put_empty(out, db, sql);
	free(sql);
	return error;
}
