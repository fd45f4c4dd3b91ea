/* All rows of a table, each once more. */
#include "db_private.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>

static void print_columns(FILE *sql, const struct um_table *table)
{
	for (const struct um_column *column = table->columns; column->name; column++)
		fprintf(sql, "%s%s", column == table->columns ? "" : ", ", column->name);
}

static int set_aside(struct um_db *db, const struct um_table *table, const char *order_by)
{
	char *text;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);

	if (!sql)
		return um_fail(UM_ENOMEM, "out of memory for a statement");
	fputs("CREATE TEMP TABLE set_aside AS SELECT ", sql);
	print_columns(sql, table);
	fprintf(sql, " FROM %s ORDER BY %s; DELETE FROM %s", table->name, order_by, table->name);
	int error = fclose(sql) == 0 ? um_db_exec(db, text)
				     : um_fail(UM_ENOMEM, "out of memory for a statement");
	free(text);
	return error;
}

static int put_back(struct um_db *db, const struct um_table *table,
		    int (*call)(const void *row, void *context), void *context)
{
	sqlite3_stmt *statement;
	void *row = malloc(table->row_bytes);
	/* Its columns are those of the table, in their order. */
	int result = sqlite3_prepare_v2(db->sqlite, "SELECT * FROM set_aside ORDER BY rowid", -1,
					&statement, NULL);
	int error = result == SQLITE_OK ? 0 : um_db_failed(db, result);

	if (!row)
		error = um_fail(UM_ENOMEM, "out of memory for a row");
	if (!error)
		error = um_db_each_row(db, statement, table, row, call, context);
	sqlite3_finalize(statement);
	free(row);
	return error;
}

int um_db_rewrite(struct um_db *db, const struct um_table *table, const char *order_by,
		  int (*call)(const void *row, void *context), void *context)
{
	int error = set_aside(db, table, order_by);

	if (!error)
		error = put_back(db, table, call, context);
	return error ? error : um_db_exec(db, "DROP TABLE set_aside");
}
