/* The one writer and the one reader of rows, over the tables' descriptions. */
#include "db_private.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* --- statements --- */

static void print_columns(FILE *sql, const struct um_table *table, bool to_write)
{
	for (const struct um_column *column = table->columns; column->name; column++)
		fprintf(sql, "%s%s", column == table->columns ? "" : ", ",
			to_write && column->stored ? column->stored : column->name);
}

static char *insert_sql(const struct um_table *table, const char *verb)
{
	char *text;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);

	if (!sql)
		return NULL;
	fprintf(sql, "%s INTO %s (", verb, table->name);
	print_columns(sql, table, true);
	fputs(") VALUES (", sql);
	for (const struct um_column *column = table->columns; column->name; column++)
		fputs(column == table->columns ? "?" : ", ?", sql);
	fputc(')', sql);
	return fclose(sql) == 0 ? text : NULL;
}

static char *select_sql(const struct um_table *table, const char *where)
{
	char *text;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);

	if (!sql)
		return NULL;
	fputs("SELECT ", sql);
	print_columns(sql, table, false);
	fprintf(sql, " FROM %s", table->name);
	if (where)
		fprintf(sql, " WHERE %s", where);
	fprintf(sql, " ORDER BY %s", table->order_by);
	return fclose(sql) == 0 ? text : NULL;
}

static int prepare(struct um_db *db, char *sql, sqlite3_stmt **out)
{
	if (!sql)
		return um_fail(UM_ENOMEM, "out of memory for a statement");
	int result = sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
	free(sql);
	return result == SQLITE_OK ? 0 : um_db_failed(db, result);
}

/* A place for one more statement; the oldest that is idle makes way. NULL: all are busy. */
static struct um_statement *free_slot(struct um_db *db)
{
	if (db->statements < UM_STATEMENTS)
		return &db->statement[db->statements++];
	for (size_t i = 0; i < UM_STATEMENTS; i++) {
		struct um_statement *slot = &db->statement[i];

		if (slot->busy || slot->verb)
			continue;
		sqlite3_finalize(slot->statement);
		free(slot->where);
		return slot;
	}
	return NULL;
}

static int find_statement(struct um_db *db, const struct um_table *table, const char *verb,
			  const char *where, struct um_statement **out)
{
	for (size_t i = 0; i < db->statements; i++) {
		struct um_statement *slot = &db->statement[i];

		if (slot->table == table && slot->verb == verb && !slot->busy &&
		    same_text(slot->where, where)) {
			*out = slot;
			return 0;
		}
	}
	sqlite3_stmt *statement;
	int error =
		prepare(db, verb ? insert_sql(table, verb) : select_sql(table, where), &statement);
	if (error)
		return error;
	char *copy = where ? strdup(where) : NULL;
	*out = free_slot(db);
	if (!*out || (where && !copy)) {
		sqlite3_finalize(statement);
		free(copy);
		return um_fail(UM_ELIMIT, "too many statements at once");
	}
	**out = (struct um_statement){table, verb, copy, statement, false};
	return 0;
}

/* --- writing --- */

static int bind_integer(sqlite3_stmt *statement, int place, int64_t value)
{
	return value == UM_NULL ? sqlite3_bind_null(statement, place)
				: sqlite3_bind_int64(statement, place, value);
}

/* A word that there is not has the code -1, which the schema refuses. */
static int bind_word(sqlite3_stmt *statement, int place, const struct um_word *words,
		     const char *value)
{
	return value ? sqlite3_bind_int(statement, place, um_word_code(words, value))
		     : sqlite3_bind_null(statement, place);
}

static int bind_end(sqlite3_stmt *statement, int place, int64_t end, int64_t start)
{
	return end == UM_NULL ? sqlite3_bind_null(statement, place)
			      : sqlite3_bind_int64(statement, place,
						   (int64_t)((uint64_t)end - (uint64_t)start));
}

static int bind(sqlite3_stmt *statement, int place, const struct um_column *column, const void *row)
{
	const char *field = (const char *)row + column->offset;
	const int64_t *other = (const int64_t *)((const char *)row + column->other_offset);

	switch (column->type) {
	case UM_COLUMN_INT:
		return bind_integer(statement, place, *(const int64_t *)field);
	case UM_COLUMN_ID:
		return bind_integer(statement, place,
				    *(const int64_t *)field ? *(const int64_t *)field : UM_NULL);
	case UM_COLUMN_MASK:
		return *other & column->unless
			       ? sqlite3_bind_null(statement, place)
			       : sqlite3_bind_int64(statement, place, *(const int64_t *)field);
	case UM_COLUMN_END:
		return bind_end(statement, place, *(const int64_t *)field, *other);
	case UM_COLUMN_REAL:
		return sqlite3_bind_double(statement, place, *(const double *)field);
	case UM_COLUMN_TEXT:
		return sqlite3_bind_text(statement, place, *(const char *const *)field, -1,
					 SQLITE_STATIC);
	case UM_COLUMN_WORD:
		return bind_word(statement, place, column->words, *(const char *const *)field);
	case UM_COLUMN_BLOB: {
		const struct um_blob *blob = (const struct um_blob *)field;

		return sqlite3_bind_blob64(statement, place, blob->data, blob->bytes,
					   SQLITE_STATIC);
	}
	}
	return SQLITE_MISUSE;
}

static int write_row(struct um_db *db, sqlite3_stmt *statement, const struct um_table *table,
		     const void *row)
{
	int place = 0, result = SQLITE_OK;

	for (const struct um_column *column = table->columns; column->name; column++)
		if ((result = bind(statement, ++place, column, row)) != SQLITE_OK)
			return um_db_write_failed(db, result);
	sqlite3_step(statement);
	result = sqlite3_reset(statement);
	return result == SQLITE_OK ? 0 : um_db_write_failed(db, result);
}

static int write_with(struct um_db *db, const struct um_table *table, const char *verb,
		      const void *row)
{
	struct um_statement *slot = &db->statement[db->last_insert];

	if (slot->table != table || slot->verb != verb) {
		int error = find_statement(db, table, verb, NULL, &slot);

		if (error)
			return error;
		db->last_insert = (size_t)(slot - db->statement);
	}
	return write_row(db, slot->statement, table, row);
}

static const char insert_verb[] = "INSERT", replace_verb[] = "REPLACE";

int um_db_insert(struct um_db *db, const struct um_table *table, const void *row)
{
	return write_with(db, table, insert_verb, row);
}

int um_db_replace(struct um_db *db, const struct um_table *table, const void *row)
{
	return write_with(db, table, replace_verb, row);
}

static const char update_verb[] = "UPDATE";

static int find_sql(struct um_db *db, const char *sql, sqlite3_stmt **out)
{
	for (size_t i = 0; i < db->statements; i++)
		if (db->statement[i].verb == update_verb &&
		    same_text(db->statement[i].where, sql)) {
			*out = db->statement[i].statement;
			return 0;
		}
	int error = prepare(db, strdup(sql), out);
	char *copy = error ? NULL : strdup(sql);
	struct um_statement *slot = copy ? free_slot(db) : NULL;

	if (error)
		return error;
	if (!slot) {
		sqlite3_finalize(*out);
		free(copy);
		return um_fail(UM_ELIMIT, "too many statements at once");
	}
	*slot = (struct um_statement){NULL, update_verb, copy, *out, false};
	return 0;
}

int um_db_update(struct um_db *db, const char *sql, const int64_t *values, size_t count)
{
	sqlite3_stmt *statement;
	int error = find_sql(db, sql, &statement);
	int result = SQLITE_OK;

	for (size_t i = 0; i < count && !error && result == SQLITE_OK; i++)
		result = bind_integer(statement, (int)i + 1, values[i]);
	if (error)
		return error;
	if (result == SQLITE_OK) {
		sqlite3_step(statement);
		result = sqlite3_reset(statement);
	}
	return result == SQLITE_OK ? 0 : um_db_write_failed(db, result);
}

int um_db_update_text(struct um_db *db, const char *sql, const char *text, int64_t key)
{
	sqlite3_stmt *statement;
	int error = find_sql(db, sql, &statement);

	if (error)
		return error;
	int result = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);

	if (result == SQLITE_OK)
		result = sqlite3_bind_int64(statement, 2, key);
	if (result == SQLITE_OK) {
		sqlite3_step(statement);
		result = sqlite3_reset(statement);
		sqlite3_clear_bindings(statement);
	}
	return result == SQLITE_OK ? 0 : um_db_write_failed(db, result);
}

/* --- reading --- */

/* Asking for the type is dear: only what reads as 0 can be NULL. */
static int64_t read_integer(sqlite3_stmt *statement, int place, bool *null)
{
	int64_t value = sqlite3_column_int64(statement, place);

	*null = value == 0 && sqlite3_column_type(statement, place) == SQLITE_NULL;
	return value;
}

/* Returns whether it is NULL. */
static bool read_column(sqlite3_stmt *statement, int place, const struct um_column *column,
			void *row)
{
	char *field = (char *)row + column->offset;
	bool null = false;
	int64_t value;

	switch (column->type) {
	case UM_COLUMN_INT:
	case UM_COLUMN_ID:
	case UM_COLUMN_END:
		value = read_integer(statement, place, &null);
		*(int64_t *)field = null ? UM_NULL : value;
		break;
	case UM_COLUMN_MASK:
		*(int64_t *)field = read_integer(statement, place, &null);
		break;
	case UM_COLUMN_REAL:
		null = sqlite3_column_type(statement, place) == SQLITE_NULL;
		*(double *)field = null ? (double)NAN : sqlite3_column_double(statement, place);
		break;
	case UM_COLUMN_TEXT:
	case UM_COLUMN_WORD:
		*(const char **)field = (const char *)sqlite3_column_text(statement, place);
		null = !*(const char **)field;
		break;
	case UM_COLUMN_BLOB:
		null = sqlite3_column_type(statement, place) == SQLITE_NULL;
		((struct um_blob *)field)->data = sqlite3_column_blob(statement, place);
		((struct um_blob *)field)->bytes = (size_t)sqlite3_column_bytes(statement, place);
		break;
	}
	return null;
}

static int read_row(struct um_db *db, sqlite3_stmt *statement, const struct um_table *table,
		    void *row)
{
	int place = 0;

	for (const struct um_column *column = table->columns; column->name; column++, place++)
		if (read_column(statement, place, column, row) && column->required)
			return um_fail(UM_EFORMAT, "%s: damaged: '%s' lacks its %s in a row",
				       db->path, table->name, column->name);
	return 0;
}

int um_db_each_row(struct um_db *db, sqlite3_stmt *statement, const struct um_table *table,
		   void *row, int (*call)(const void *row, void *context), void *context)
{
	int result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		int stop = read_row(db, statement, table, row);

		if (stop == 0)
			stop = call(row, context);
		if (stop != 0)
			return stop;
	}
	return result == SQLITE_DONE ? 0 : um_db_failed(db, result);
}

int um_db_each(struct um_db *db, const struct um_table *table, const char *where, int64_t key,
	       int (*call)(const void *row, void *context), void *context)
{
	struct um_statement *slot;
	int error = find_statement(db, table, NULL, where, &slot);

	if (error)
		return error;
	void *row = malloc(table->row_bytes);
	if (!row)
		return um_fail(UM_ENOMEM, "out of memory for a row");
	slot->busy = true;
	if (where)
		sqlite3_bind_int64(slot->statement, 1, key);
	error = um_db_each_row(db, slot->statement, table, row, call, context);
	sqlite3_reset(slot->statement);
	slot->busy = false;
	free(row);
	return error;
}

int um_db_run(struct um_db *db, int (*call)(const void *row, void *context), void *context)
{
	return um_db_each(db, &um_table_run, "id = ?", 1, call, context);
}
