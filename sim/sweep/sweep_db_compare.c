/* Whether a database is of the sweep that is asked for now. */
#include "sweep_sql.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static bool is_text(sqlite3_stmt *row, int column, const char *text)
{
	const char *stands = (const char *)sqlite3_column_text(row, column);

	return stands && text ? strcmp(stands, text) == 0 : stands == text;
}

static int check_version(struct um_sweep_db *db)
{
	sqlite3_stmt *statement = um_sweep_sql_prepare(db, "PRAGMA user_version");
	int version;

	if (!statement)
		return UM_EIO;
	if (sqlite3_step(statement) != SQLITE_ROW) {
		sqlite3_finalize(statement);
		return um_sweep_sql_fail(db, "reading");
	}
	version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return version == UM_SWEEP_VERSION
		       ? 0
		       : um_fail(UM_EVERSION,
				 "%s: version %d of what sweeps write; this umsim goes on with %d",
				 db->path, version, UM_SWEEP_VERSION);
}

static int compare_sweep(struct um_sweep_db *db, const struct um_sweep_facts *facts)
{
	sqlite3_stmt *row = um_sweep_sql_prepare(
		db, "SELECT trace_identity, trace, host_time, configurations FROM sweep");
	int error = row ? 0 : UM_EFORMAT;

	if (!error && sqlite3_step(row) != SQLITE_ROW)
		error = um_fail(UM_EFORMAT, "%s: damaged: it does not say what it is of", db->path);
	if (!error && !is_text(row, 0, facts->identity))
		error = um_fail(UM_EINVAL,
				"%s is of another trace: of %s, which was %s; this is %s", db->path,
				sqlite3_column_text(row, 1), sqlite3_column_text(row, 0),
				facts->identity);
	if (!error && (sqlite3_column_int(row, 2) != 0) != facts->host_time)
		error = um_fail(UM_EINVAL, "%s was made %s --host-time", db->path,
				facts->host_time ? "without" : "with");
	if (!error && sqlite3_column_int64(row, 3) != (sqlite3_int64)db->plan->count)
		error = um_fail(UM_EINVAL,
				"%s is of other configurations: %lld of them, and these are %zu",
				db->path, (long long)sqlite3_column_int64(row, 3), db->plan->count);
	sqlite3_finalize(row);
	return error;
}

/* What was varied: in number, order, keys and values. */
static int compare_axes(struct um_sweep_db *db)
{
	const struct um_sweep_plan *plan = db->plan;
	sqlite3_stmt *row =
		um_sweep_sql_prepare(db, "SELECT axis, key, n, value FROM vary ORDER BY axis, n");
	int error = row ? 0 : UM_EFORMAT;

	for (size_t axis = 0; axis < plan->axis_count && !error; axis++)
		for (size_t n = 0; n < plan->axes[axis].count && !error; n++) {
			const struct um_sweep_axis *of = &plan->axes[axis];

			if (sqlite3_step(row) != SQLITE_ROW ||
			    sqlite3_column_int64(row, 0) != (sqlite3_int64)axis + 1 ||
			    !is_text(row, 1, of->key) || !is_text(row, 3, of->values[n].text))
				error = um_fail(UM_EINVAL,
						"%s is of other configurations: %s %s is not there "
						"in that place",
						db->path, of->key, of->values[n].text);
		}
	if (!error && sqlite3_step(row) == SQLITE_ROW)
		error = um_fail(UM_EINVAL, "%s is of other configurations: it varies %s", db->path,
				sqlite3_column_text(row, 1));
	sqlite3_finalize(row);
	return error;
}

static bool is_same_configuration(sqlite3_stmt *row,
				  const struct um_sweep_configuration *configuration)
{
	if (!is_text(row, 1, configuration->from->name))
		return false;
	if (configuration->reason)
		return is_text(row, 2, "refused");
	return is_text(row, 3, configuration->policy_text) &&
	       is_text(row, 4, configuration->machine->text);
}

static int compare_configurations(struct um_sweep_db *db)
{
	const struct um_sweep_plan *plan = db->plan;
	sqlite3_stmt *row = um_sweep_sql_prepare(
		db, "SELECT configuration, policy, status, policy_text, m.text FROM configuration "
		    "LEFT JOIN machine_file m USING (machine_file) ORDER BY configuration");
	int error = row ? 0 : UM_EFORMAT;

	for (size_t i = 0; i < plan->count && !error; i++) {
		char label[256];

		if (sqlite3_step(row) == SQLITE_ROW &&
		    is_same_configuration(row, &plan->configurations[i]))
			continue;
		error = um_fail(UM_EINVAL,
				"%s is of other configurations: %s is not what it was (its policy, "
				"or its machine)",
				db->path, um_sweep_plan_label(label, sizeof(label), plan, i));
	}
	sqlite3_finalize(row);
	return error;
}

int um_sweep_db_compare(struct um_sweep_db *db, const struct um_sweep_facts *facts)
{
	int error = check_version(db);

	if (!error)
		error = compare_sweep(db, facts);
	if (!error)
		error = compare_axes(db);
	return error ? error : compare_configurations(db);
}
