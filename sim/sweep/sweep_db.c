#include "sweep_db.h"

#include "sweep_columns.h"
#include "sweep_sql.h"

#include "trace/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- words */

static const char *const status_words[] = {"waiting", "done", "refused", "failed"};

const char *um_sweep_status_word(enum um_sweep_status status)
{
	return status_words[status];
}

enum um_sweep_status um_sweep_status_of(const struct um_sweep_result *result)
{
	return !result->error		    ? UM_SWEEP_DONE
	       : result->error == UM_EINVAL ? UM_SWEEP_REFUSED
					    : UM_SWEEP_FAILED;
}

static enum um_sweep_status status_of_word(const char *word)
{
	for (size_t i = 0; word && i < sizeof(status_words) / sizeof(*status_words); i++)
		if (strcmp(word, status_words[i]) == 0)
			return (enum um_sweep_status)i;
	return UM_SWEEP_WAITING;
}

/* ---------------------------------------------------------------- opening */

/* 'U', 'M', 'S', 'W' at 68, where SQLite's header has the application's id; nothing in it: ours too. */
static bool is_sweep(const char *path, bool *is_there, bool *is_empty)
{
	unsigned char header[100] = {0};
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got;

	*is_there = file >= 0 || errno != ENOENT;
	*is_empty = false;
	if (file < 0)
		return false;
	got = read(file, header, sizeof(header));
	close(file);
	*is_empty = got == 0;
	return got == (ssize_t)sizeof(header) && !memcmp(header, "SQLite format 3", 16) &&
	       !memcmp(header + 68, "UMSW", 4);
}

static int open_at(struct um_sweep_db **out, const char *path, int flags,
		   const struct um_sweep_plan *plan)
{
	struct um_sweep_db *db = calloc(1, sizeof(*db));

	if (!db || !(db->path = strdup(path))) {
		free(db);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	db->plan = plan;
	*out = db;
	if (sqlite3_open_v2(path, &db->db, flags, NULL) != SQLITE_OK)
		return um_sweep_sql_fail(db, "opening");
	sqlite3_busy_timeout(db->db, 5000);
	sqlite3_extended_result_codes(db->db, 1);
	return 0;
}

static void destroy(struct um_sweep_db *db)
{
	sqlite3_finalize(db->put);
	sqlite3_finalize(db->note);
	sqlite3_close(db->db);
	free(db->path);
	free(db);
}

/* A file that cannot be made where it is asked for is told as the system tells it. */
static int make_file(const char *path)
{
	int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);

	if (file < 0)
		return errno == EEXIST ? um_fail(UM_EEXIST, "%s exists", path)
				       : um_fail_errno(UM_EIO, "%s", path);
	close(file);
	return 0;
}

static int clear_way(const char *path, bool force)
{
	bool is_there, is_empty, is_ours = is_sweep(path, &is_there, &is_empty);
	char journal[4096];

	if (!is_there)
		return 0;
	if (!force)
		return um_fail(UM_EEXIST, "%s exists (%s--force replaces it)", path,
			       is_ours ? "--resume goes on with it, " : "");
	if (!is_ours && !is_empty)
		return um_fail(UM_EEXIST, "%s exists and is no database of a sweep: not replaced",
			       path);
	if (unlink(path))
		return um_fail_errno(UM_EIO, "%s cannot be replaced", path);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
	return 0;
}

int um_sweep_db_create(struct um_sweep_db **out, const char *path, const struct um_sweep_plan *plan,
		       const struct um_sweep_facts *facts, bool force)
{
	struct um_sweep_db *db = NULL;
	int error = clear_way(path, force);

	if (!error)
		error = make_file(path);
	if (error)
		return error;
	error = open_at(&db, path, SQLITE_OPEN_READWRITE, plan);
	if (!error)
		error = um_sweep_db_fill(db, facts);
	if (!error) {
		*out = db;
		return 0;
	}
	if (db)
		destroy(db);
	unlink(path);
	return error;
}

int um_sweep_db_resume(struct um_sweep_db **out, const char *path, const struct um_sweep_plan *plan,
		       const struct um_sweep_facts *facts)
{
	bool is_there, is_empty, is_ours = is_sweep(path, &is_there, &is_empty);
	struct um_sweep_db *db = NULL;
	int error;

	if (!is_there)
		return um_fail(UM_ENOENT, "%s is not there: nothing to go on with", path);
	/* A file that was being made when it was killed has its journal yet. */
	if (!is_ours)
		return um_fail(UM_EFORMAT,
			       is_empty ? "%s is empty: nothing to go on with; --force replaces it"
					: "%s is no database of a sweep",
			       path);
	error = open_at(&db, path, SQLITE_OPEN_READWRITE, plan);
	if (!error)
		error = um_sweep_db_compare(db, facts);
	if (error) {
		if (db)
			destroy(db);
		return error;
	}
	*out = db;
	return 0;
}

int um_sweep_db_close(struct um_sweep_db *db)
{
	int error;

	if (!db)
		return 0;
	error = um_sweep_db_commit(db);
	destroy(db);
	return error;
}

/* ---------------------------------------------------------------- results */

static int begin(struct um_sweep_db *db)
{
	int error = db->in_transaction ? 0 : um_sweep_sql_exec(db, "BEGIN IMMEDIATE");

	db->in_transaction = error == 0;
	return error;
}

int um_sweep_db_commit(struct um_sweep_db *db)
{
	int error;

	if (!db->in_transaction)
		return 0;
	db->in_transaction = false;
	error = um_sweep_sql_exec(db, "COMMIT");
	if (error)
		sqlite3_exec(db->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* "UPDATE configuration SET status = ?, reason = ?, end_ns = ?, ... WHERE configuration = ?" */
static int prepare_put(struct um_sweep_db *db)
{
	char sql[2048] = "UPDATE configuration SET status = ?, reason = ?";
	size_t used = strlen(sql);

	if (db->put)
		return 0;
	for (const struct um_sweep_column *column = um_sweep_columns; column->name; column++)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ", %s = ?", column->name);
	snprintf(sql + used, sizeof(sql) - used, " WHERE configuration = ?");
	db->put = um_sweep_sql_prepare(db, sql);
	db->note = um_sweep_sql_prepare(
		db, "INSERT OR IGNORE INTO not_simulated (configuration, what, why) "
		    "VALUES (?, ?, ?)");
	return db->put && db->note ? 0 : UM_EIO;
}

static int put_notes(struct um_sweep_db *db, size_t configuration,
		     const struct um_sweep_result *result)
{
	int error = 0;

	for (size_t i = 0; i < result->note_count && !error; i++) {
		sqlite3_bind_int64(db->note, 1, (sqlite3_int64)configuration + 1);
		um_sweep_sql_bind_text(db->note, 2, result->notes[i].what);
		um_sweep_sql_bind_text(db->note, 3, result->notes[i].why);
		error = um_sweep_sql_run(db, db->note);
	}
	return error;
}

int um_sweep_db_put(struct um_sweep_db *db, size_t configuration,
		    const struct um_sweep_result *result)
{
	enum um_sweep_status status = um_sweep_status_of(result);
	int error = prepare_put(db);

	if (!error)
		error = begin(db);
	if (error)
		return error;
	um_sweep_sql_bind_text(db->put, 1, um_sweep_status_word(status));
	um_sweep_sql_bind_text(db->put, 2, status == UM_SWEEP_DONE ? NULL : result->message);
	for (size_t i = 0; i < um_sweep_column_count && status == UM_SWEEP_DONE; i++)
		sqlite3_bind_int64(db->put, (int)i + 3,
				   (sqlite3_int64)um_sweep_column_value(&um_sweep_columns[i],
									&result->totals));
	sqlite3_bind_int64(db->put, (int)um_sweep_column_count + 3,
			   (sqlite3_int64)configuration + 1);
	error = um_sweep_sql_run(db, db->put);
	if (!error && status == UM_SWEEP_DONE)
		error = put_notes(db, configuration, result);
	/* A full disk has undone the transaction already. */
	db->in_transaction = !sqlite3_get_autocommit(db->db);
	return error;
}

/* ---------------------------------------------------------------- reading */

static int take_outcome(struct um_sweep_outcome *to, sqlite3_stmt *row)
{
	const char *reason = (const char *)sqlite3_column_text(row, 2);

	to->status = status_of_word((const char *)sqlite3_column_text(row, 1));
	to->reason = reason ? strdup(reason) : NULL;
	if (to->status == UM_SWEEP_DONE)
		to->figures = calloc(um_sweep_column_count, sizeof(*to->figures));
	if ((reason && !to->reason) || (to->status == UM_SWEEP_DONE && !to->figures))
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < um_sweep_column_count && to->figures; i++)
		to->figures[i] = (uint64_t)sqlite3_column_int64(row, (int)i + 3);
	return 0;
}

static sqlite3_stmt *prepare_outcomes(struct um_sweep_db *db)
{
	char sql[2048] = "SELECT configuration, status, reason";
	size_t used = strlen(sql);

	for (const struct um_sweep_column *column = um_sweep_columns; column->name; column++)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ", %s", column->name);
	snprintf(sql + used, sizeof(sql) - used, " FROM configuration ORDER BY configuration");
	return um_sweep_sql_prepare(db, sql);
}

int um_sweep_db_outcomes(struct um_sweep_db *db, struct um_sweep_outcome **out)
{
	size_t count = db->plan->count;
	struct um_sweep_outcome *outcomes = calloc(count, sizeof(*outcomes));
	sqlite3_stmt *statement = prepare_outcomes(db);
	int error = !outcomes ? um_fail(UM_ENOMEM, "out of memory") : statement ? 0 : UM_EIO;
	int result = SQLITE_DONE;

	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		sqlite3_int64 which = sqlite3_column_int64(statement, 0);

		if (which >= 1 && (size_t)which <= count)
			error = take_outcome(&outcomes[which - 1], statement);
	}
	if (!error && result != SQLITE_DONE)
		error = um_sweep_sql_fail(db, "reading");
	sqlite3_finalize(statement);
	if (error)
		um_sweep_outcomes_free(outcomes, count);
	else
		*out = outcomes;
	return error;
}

void um_sweep_outcomes_free(struct um_sweep_outcome *outcomes, size_t count)
{
	for (size_t i = 0; outcomes && i < count; i++) {
		free(outcomes[i].reason);
		free(outcomes[i].figures);
	}
	free(outcomes);
}

int um_sweep_db_notes(struct um_sweep_db *db,
		      int (*call)(void *context, const char *what, const char *why, int64_t count),
		      void *context)
{
	sqlite3_stmt *row = um_sweep_sql_prepare(
		db, "SELECT what, why, count(*) FROM not_simulated GROUP BY what, why "
		    "ORDER BY min(configuration), what, why");
	int error = row ? 0 : UM_EFORMAT;

	while (!error && sqlite3_step(row) == SQLITE_ROW)
		error = call(context, (const char *)sqlite3_column_text(row, 0),
			     (const char *)sqlite3_column_text(row, 1),
			     sqlite3_column_int64(row, 2));
	sqlite3_finalize(row);
	return error;
}
