/* What the files of this folder share. */
#ifndef UM_DB_PRIVATE_H
#define UM_DB_PRIVATE_H

#include "trace_db.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#define UM_STATEMENTS 32

/* A prepared statement of ours, kept for the next time. */
struct um_statement {
	const struct um_table *table;
	const char *verb; /* "INSERT", "REPLACE", "UPDATE", or NULL for a SELECT */
	char *where;	  /* of a SELECT; NULL: none; of UPDATE: all of it */
	sqlite3_stmt *statement;
	bool busy;
};

struct um_db {
	sqlite3 *sqlite;
	char *path;
	int reserved; /* holds the lock on a name that we made (db_create.c); -1: not ours */
	bool writes;
	bool is_older; /* lacks columns of ours */
	int error;     /* first of writing */
	char error_message[1024];
	size_t statements, last_insert;
	struct um_statement statement[UM_STATEMENTS];
};

extern const char um_schema[] __attribute__((visibility("hidden")));

#define UM_DB_HEADER_BYTES 100

/* Whether a file with this beginning is a database of ours, of any version. */
bool um_db_is_trace(const unsigned char *header, ssize_t bytes);
/* A descriptor of a regular file, `mode` as of open(2). UM_ENOENT, UM_EIO; UM_EFORMAT: no such file. */
int um_db_open_plainly(const char *path, int mode, struct stat *);
/* `flags` as of sqlite3_open_v2(). Nothing of the file is looked at. */
int um_db_connect(struct um_db **out, const char *path, int flags);
int um_db_start_writing(struct um_db *);
/* Closes it, sets it to NULL and returns `error`. */
int um_db_fail_and_close(struct um_db **, int error);

/* Turns SQLite's last error into ours: UM_E*, message set. The first of writing is remembered. */
int um_db_failed(struct um_db *, int result);
/* The same where a write failed: an open transaction is undone. */
int um_db_write_failed(struct um_db *, int result);

/* Reads each row that the statement gives, whose columns are the table's, and calls for it. */
int um_db_each_row(struct um_db *, sqlite3_stmt *, const struct um_table *, void *row,
		   int (*call)(const void *row, void *context), void *context);

#endif
