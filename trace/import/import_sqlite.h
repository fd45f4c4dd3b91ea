/*
 * Databases of others, which may be damaged or made to do harm: opened to be read only, with no trust in
 * what their schema says. Errors name the file, and say that it is damaged where it is.
 */
#ifndef UM_IMPORT_SQLITE_H
#define UM_IMPORT_SQLITE_H

#include "import_format.h"

#include <sqlite3.h>

int um_import_sqlite_open(sqlite3 **out, const char *path);
void um_import_sqlite_close(sqlite3 *); /* NULL is legal */
/* Sets the message for a result that is neither SQLITE_ROW nor SQLITE_DONE; returns UM_E*. */
int um_import_sqlite_failed(const struct um_import_file *, int result);

/* Whether there is a table (no view) of that name, or a column of it. */
bool um_import_has_table(const struct um_import_file *, const char *table);
bool um_import_has_column(const struct um_import_file *, const char *table, const char *column);

/* *out: NULL on an error. The text is printf's. */
int um_import_prepare(const struct um_import_file *, sqlite3_stmt **out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* 1 a row, 0 the end, or an error. */
int um_import_step(const struct um_import_file *, sqlite3_stmt *);
/* The first column of the first row; *out is left alone where there is none. */
int um_import_integer(const struct um_import_file *, int64_t *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* UM_NULL for NULL. */
int64_t um_import_column(sqlite3_stmt *, int column);
/* NULL for NULL; until the next step. */
const char *um_import_text(sqlite3_stmt *, int column);

/* --- rows of several tables in the order of their times --- */

/* A table, and what a row of it comes to. */
struct um_import_source {
	const char *table;
	const char *start;	    /* its column of time; rows without one are left out */
	const char *where;	    /* NULL: all rows */
	const char *const *columns; /* ends with NULL; what the table lacks reads as NULL */
	const char *joins; /* behind "FROM table AS t"; columns with a dot are taken as they are */
	int (*put)(void *context, sqlite3_stmt *row);
};

/*
 * Calls put() for the rows of those sources whose tables are there, by time. The table's names may have
 * "%s" in the place of `suffix`. Memory: does not grow with the rows; SQLite sorts in a file.
 */
int um_import_merge(const struct um_import_file *, const struct um_import_events *,
		    const struct um_import_source *sources, size_t count, const char *suffix,
		    void *context);

#endif
