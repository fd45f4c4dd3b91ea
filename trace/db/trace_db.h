/*
 * Opening, writing and reading a trace database (schema.sql). Rows go through the table
 * descriptions of rows.h; there is no SQL per table in C.
 */
#ifndef UM_TRACE_DB_H
#define UM_TRACE_DB_H

#include "rows.h"

#include <stdbool.h>

struct sqlite3;
struct um_db;

#define UM_APPLICATION_ID 0x554d5452
#define UM_SCHEMA_VERSION 8

/*
 * Makes a new database with the schema. UM_EEXIST unless `force` (an existing file is replaced only
 * if it is empty or a database of ours that nobody has open, never anything else), UM_EIO. WAL, so
 * that it can be read while it grows; closing folds the log back into the one file.
 *
 * Of several processes that want one name at a time one gets it, and keeps it until it closes it; the
 * others get UM_EEXIST, whatever `force` is. Where the file system has no locks (some network file
 * systems) two that replace an older file at the same moment may both succeed, and one file is lost.
 */
int um_db_create(struct um_db **out, const char *path, bool force);
/*
 * The same with `force`, but a trace that stands there is asked about first, while nobody else can
 * replace it: where `keep` returns other than 0, that is returned and the trace stays.
 */
int um_db_create_over(struct um_db **out, const char *path,
		      int (*keep)(const char *path, void *context), void *context);
/* Whether um_db_create() would take the name: 0, or UM_EEXIST with its message. */
int um_db_check_new(const char *path, bool force);
/*
 * Gives a closed database its name, in the same folder; what stands there goes as um_db_create()
 * would have it go, and only now. UM_EEXIST, UM_EIO.
 */
int um_db_rename(const char *from, const char *path, bool force);
/*
 * Opens for reading. UM_ENOENT; UM_EFORMAT (not a database, not ours, cut off or damaged: the
 * message says which); UM_EVERSION (says both versions). A column that an older file lacks reads as
 * NULL, a table that came later as empty, also in queries of one's own.
 */
int um_db_open(struct um_db **out, const char *path);
/*
 * The same, and rows can be added (modelled rows into a fresh trace); UM_EVERSION: an older file.
 */
int um_db_open_rw(struct um_db **out, const char *path);
/*
 * Ends an open transaction with a commit. NULL is legal. Returns the first error of writing, if any
 * (not UM_EINVAL of an insert); the handle is gone either way.
 */
int um_db_close(struct um_db *);
struct sqlite3 *um_db_handle(struct um_db *); /* for queries of one's own */
const char *um_db_path(const struct um_db *);

/* Does nothing inside a transaction. */
int um_db_begin(struct um_db *);
/*
 * Does nothing outside one. When it fails, the transaction is undone, and so it is when the disk
 * fills up before.
 */
int um_db_commit(struct um_db *);

/*
 * Adds a row (struct of the table). Statements are prepared once per table. UM_EIO (disk full says
 * so); UM_EINVAL where the row breaks a rule of the schema, and nothing else is lost then.
 */
int um_db_insert(struct um_db *, const struct um_table *, const void *row);
/* Adds it, or replaces the row with the same key. */
int um_db_replace(struct um_db *, const struct um_table *, const void *row);

/*
 * Runs one statement with its ? bound to the values (UM_NULL is NULL). `sql` must last: it is prepared
 * once. UM_EINVAL as above.
 */
int um_db_update(struct um_db *, const char *sql, const int64_t *values, size_t count);
/* The same with a text (NULL is NULL) for the first ? and an integer for the second. */
int um_db_update_text(struct um_db *, const char *sql, const char *text, int64_t key);

/*
 * Calls `call` for each row, in the table's order; `where` is NULL or SQL behind WHERE with one ?
 * bound to `key`. A result other than 0 of the callback stops and is returned. NULL in a column
 * that must have a value is UM_EFORMAT. The callback may read and add rows, of other tables.
 */
int um_db_each(struct um_db *, const struct um_table *, const char *where, int64_t key,
	       int (*call)(const void *row, void *context), void *context);
/*
 * Takes all rows out of the table and calls `call` for each, in the order given ("start_ns, rowid");
 * it adds what is to be there instead. Within a transaction; after an error that is to be undone.
 */
int um_db_rewrite(struct um_db *, const struct um_table *, const char *order_by,
		  int (*call)(const void *row, void *context), void *context);
/*
 * Calls `call` with the row of table run, at most once: a damaged file has others beside it, or
 * none. As um_db_each() for the rest.
 */
int um_db_run(struct um_db *, int (*call)(const void *row, void *context), void *context);
/* One integer: "SELECT ..." with one ?. NULL gives UM_NULL. */
int um_db_integer(struct um_db *, const char *sql, int64_t key, int64_t *out);
int um_db_exec(struct um_db *, const char *sql);

/* Inflates and checks the chunk; *payload is malloc'ed, the caller frees. UM_EFORMAT, UM_ENOMEM. */
int um_db_chunk_payload(const struct um_access_chunk_row *, unsigned char **payload);
/* Deflates; sets `data`, malloc'ed and the caller's, and `payload_bytes`. UM_ENOMEM. */
int um_db_chunk_pack(struct um_access_chunk_row *, const void *payload, size_t bytes);

#endif
