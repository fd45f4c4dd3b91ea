/* Running one SELECT, and growing an array by its rows. */
#ifndef UM_QUERY_H
#define UM_QUERY_H

#include "trace/db/trace_db.h"

struct sqlite3_stmt;

/* A column of the current row; NULL is UM_NULL, or a NULL string that lives until the next row. */
int64_t um_query_integer(struct sqlite3_stmt *, int column);
const char *um_query_text(struct sqlite3_stmt *, int column);

/*
 * Calls `call` for each row; a result other than 0 stops and is returned. UM_EFORMAT where SQLite
 * refuses (damage, sums beyond 64 bits).
 */
int um_query_each(struct um_db *, const char *sql,
		  int (*call)(struct sqlite3_stmt *, void *context), void *context);

/*
 * The same for tables of millions of rows, of which integers alone are wanted: `columns` of what stands in
 * `from`, at most UM_QUERY_SCAN_COLUMNS, as um_query_integer() gives them; in an array that `call` may write
 * to. Within one statement, which saves handing each row out of it. Not from within the call of another.
 */
#define UM_QUERY_SCAN_COLUMNS 16
int um_query_scan(struct um_db *, const char *columns, const char *from,
		  int (*call)(int64_t *values, void *context), void *context);

/* UM_EFORMAT, with its message, where no run is in it: a recording that never began. */
int um_query_check_run(struct um_db *);

/* A zeroed element behind the last of the array *items; NULL and UM_ENOMEM's message if none. */
void *um_query_append(void *items, size_t *count, size_t item_bytes);

#endif
