/* SQLite with our errors. A part of sweep_db*.c. */
#ifndef UM_SWEEP_SQL_H
#define UM_SWEEP_SQL_H

#include "sweep_db.h"

#include <sqlite3.h>

#define UM_SWEEP_APPLICATION_ID 0x554d5357
#define UM_SWEEP_VERSION	1

struct um_sweep_db {
	sqlite3 *db;
	char *path;
	const struct um_sweep_plan *plan;
	sqlite3_stmt *put, *note;
	bool in_transaction;
};

/* UM_EIO with the path, and with what a full or read-only disk is called. */
int um_sweep_sql_fail(struct um_sweep_db *, const char *doing);
int um_sweep_sql_exec(struct um_sweep_db *, const char *sql);
/* NULL and the message on an error. */
sqlite3_stmt *um_sweep_sql_prepare(struct um_sweep_db *, const char *sql);
/* Runs to its end and resets. */
int um_sweep_sql_run(struct um_sweep_db *, sqlite3_stmt *);
void um_sweep_sql_bind_text(sqlite3_stmt *, int place, const char *text); /* NULL is NULL */

/* Whether the plan and what stands in the file are the same; UM_EINVAL tells the first difference. */
int um_sweep_db_compare(struct um_sweep_db *, const struct um_sweep_facts *);
/* Rows of everything that is known before anything is run (sweep_db_make.c). */
int um_sweep_db_fill(struct um_sweep_db *, const struct um_sweep_facts *);

#endif
