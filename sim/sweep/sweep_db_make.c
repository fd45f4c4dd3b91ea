/* What a new database of a sweep begins with. */
#include "sweep_columns.h"
#include "sweep_sql.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char um_sweep_schema[];

/* ---------------------------------------------------------------- the sweep */

static int put_sweep(struct um_sweep_db *db, const struct um_sweep_facts *facts)
{
	sqlite3_stmt *statement = um_sweep_sql_prepare(
		db,
		"INSERT INTO sweep (tool, command, started, trace, trace_identity, origin, "
		"accesses, host_time, configurations) VALUES (?, ?, ?, ?, ?, 'modelled', ?, ?, ?)");
	time_t now = time(NULL);
	char started[32] = "?";
	struct tm utc;

	if (!statement)
		return UM_EIO;
	if (gmtime_r(&now, &utc))
		strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	um_sweep_sql_bind_text(statement, 1, "umsim " UM_VERSION);
	um_sweep_sql_bind_text(statement, 2, facts->command);
	um_sweep_sql_bind_text(statement, 3, started);
	um_sweep_sql_bind_text(statement, 4, facts->trace_path);
	um_sweep_sql_bind_text(statement, 5, facts->identity);
	um_sweep_sql_bind_text(statement, 6, facts->accesses);
	sqlite3_bind_int(statement, 7, facts->host_time);
	sqlite3_bind_int64(statement, 8, (sqlite3_int64)db->plan->count);
	int error = um_sweep_sql_run(db, statement);

	sqlite3_finalize(statement);
	return error;
}

static int put_axes(struct um_sweep_db *db)
{
	const struct um_sweep_plan *plan = db->plan;
	sqlite3_stmt *statement = um_sweep_sql_prepare(
		db, "INSERT INTO vary (axis, key, n, value) VALUES (?, ?, ?, ?)");
	int error = statement ? 0 : UM_EIO;

	for (size_t axis = 0; axis < plan->axis_count; axis++)
		for (size_t n = 0; n < plan->axes[axis].count && !error; n++) {
			sqlite3_bind_int64(statement, 1, (sqlite3_int64)axis + 1);
			um_sweep_sql_bind_text(statement, 2, plan->axes[axis].key);
			sqlite3_bind_int64(statement, 3, (sqlite3_int64)n + 1);
			um_sweep_sql_bind_text(statement, 4, plan->axes[axis].values[n].text);
			error = um_sweep_sql_run(db, statement);
		}
	sqlite3_finalize(statement);
	return error;
}

/* ---------------------------------------------------------------- configurations */

static char *params_text(const struct um_policy *policy)
{
	const struct um_param *params = policy->driver->params;
	json_t *all = json_object();
	char text[64], *out;

	for (size_t i = 0; params && params[i].name; i++)
		json_object_set_new(
			all, params[i].name,
			json_string(um_param_text(text, sizeof(text), &policy->params[i])));
	out = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return out;
}

struct filling {
	struct um_sweep_db *db;
	sqlite3_stmt *configuration, *setting, *machine;
};

/* In effect: what a refused one has nothing of. */
static void bind_effect(sqlite3_stmt *to, const struct um_sweep_configuration *configuration,
			const char *params)
{
	const struct um_policy *policy = configuration->policy;
	const struct um_evict_ops *order = policy->evict ? policy->evict : policy->driver->evict;
	const struct um_evict_ops *hypothetical = um_policy_hypothetical_order(policy);

	um_sweep_sql_bind_text(to, 5, configuration->machine->name);
	um_sweep_sql_bind_text(to, 6, configuration->machine->text);
	um_sweep_sql_bind_text(to, 7, policy->driver->name);
	um_sweep_sql_bind_text(to, 8, params);
	um_sweep_sql_bind_text(to, 9, policy->driver->validated);
	um_sweep_sql_bind_text(to, 10, configuration->xnack);
	um_sweep_sql_bind_text(to, 11, configuration->xnack_source);
	sqlite3_bind_int64(to, 12, (sqlite3_int64)configuration->page_bytes);
	sqlite3_bind_int64(to, 13, (sqlite3_int64)configuration->memory_bytes);
	if (policy->footprint_bytes)
		sqlite3_bind_int64(to, 14, (sqlite3_int64)policy->footprint_bytes);
	um_sweep_sql_bind_text(to, 15, order ? order->name : NULL);
	um_sweep_sql_bind_text(to, 16, hypothetical ? hypothetical->hypothetical : NULL);
	um_sweep_sql_bind_text(to, 17, configuration->policy_text);
}

static int put_machine(struct filling *filling, const struct um_machine_spec *machine)
{
	um_sweep_sql_bind_text(filling->machine, 1, machine->name);
	um_sweep_sql_bind_text(filling->machine, 2, machine->text);
	return um_sweep_sql_run(filling->db, filling->machine);
}

static int put_settings(struct filling *filling, size_t index)
{
	const struct um_sweep_plan *plan = filling->db->plan;
	int error = 0;

	for (size_t axis = 0; axis < plan->axis_count && !error; axis++) {
		sqlite3_bind_int64(filling->setting, 1, (sqlite3_int64)index + 1);
		um_sweep_sql_bind_text(filling->setting, 2, plan->axes[axis].key);
		um_sweep_sql_bind_text(filling->setting, 3, um_sweep_plan_value(plan, index, axis));
		error = um_sweep_sql_run(filling->db, filling->setting);
	}
	return error;
}

static int put_configuration(struct filling *filling, size_t index)
{
	const struct um_sweep_configuration *configuration =
		&filling->db->plan->configurations[index];
	sqlite3_stmt *to = filling->configuration;
	char *params = configuration->policy ? params_text(configuration->policy) : NULL;
	int error = configuration->machine ? put_machine(filling, configuration->machine) : 0;

	sqlite3_bind_int64(to, 1, (sqlite3_int64)index + 1);
	um_sweep_sql_bind_text(to, 2, configuration->from->name);
	um_sweep_sql_bind_text(
		to, 3,
		um_sweep_status_word(configuration->reason ? UM_SWEEP_REFUSED : UM_SWEEP_WAITING));
	um_sweep_sql_bind_text(to, 4, configuration->reason);
	if (configuration->policy)
		bind_effect(to, configuration, params);
	if (!error)
		error = um_sweep_sql_run(filling->db, to);
	free(params);
	return error ? error : put_settings(filling, index);
}

static int put_configurations(struct um_sweep_db *db)
{
	struct filling filling = {
		.db = db,
		.machine = um_sweep_sql_prepare(
			db, "INSERT OR IGNORE INTO machine_file (name, text) VALUES (?, ?)"),
		.setting = um_sweep_sql_prepare(
			db, "INSERT INTO setting (configuration, key, value) VALUES (?, ?, ?)"),
		.configuration = um_sweep_sql_prepare(
			db,
			"INSERT INTO configuration (configuration, policy, status, reason, machine, "
			"machine_file, driver, driver_parameters, driver_validated, xnack, "
			"xnack_source, page_bytes, memory_bytes, footprint_bytes, evict, "
			"hypothetical, policy_text) VALUES (?, ?, ?, ?, ?, "
			"(SELECT machine_file FROM machine_file WHERE text = ?), "
			"?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
	};
	int error = filling.machine && filling.setting && filling.configuration ? 0 : UM_EIO;

	for (size_t i = 0; i < db->plan->count && !error; i++)
		error = put_configuration(&filling, i);
	sqlite3_finalize(filling.machine);
	sqlite3_finalize(filling.setting);
	sqlite3_finalize(filling.configuration);
	return error;
}

/* ---------------------------------------------------------------- the view */

static void write_quoted(FILE *out, char quote, const char *text)
{
	fputc(quote, out);
	for (; *text; text++) {
		if (*text == quote)
			fputc(quote, out);
		fputc(*text, out);
	}
	fputc(quote, out);
}

/* Columns of the table that a key would be called like go without: they are in effect, it is asked. */
static void write_view(FILE *out, const struct um_sweep_plan *plan)
{
	fputs("CREATE VIEW result AS SELECT c.configuration, c.policy", out);
	for (size_t i = 0; i < plan->axis_count; i++) {
		fputs(", (SELECT value FROM setting s WHERE s.configuration = c.configuration AND "
		      "s.key = ",
		      out);
		write_quoted(out, '\'', plan->axes[i].key);
		fputs(") AS ", out);
		write_quoted(out, '"', plan->axes[i].key);
	}
	fputs(", c.status, c.reason", out);
	for (const struct um_sweep_column *column = um_sweep_columns; column->name; column++)
		fprintf(out, ", c.%s", column->name);
	fputs(" FROM configuration c", out);
}

static int make_view(struct um_sweep_db *db)
{
	char *sql = NULL;
	size_t bytes;
	FILE *out = open_memstream(&sql, &bytes);
	int error;

	if (!out)
		return um_fail(UM_ENOMEM, "out of memory");
	write_view(out, db->plan);
	error = fclose(out) ? um_fail(UM_ENOMEM, "out of memory") : um_sweep_sql_exec(db, sql);
	free(sql);
	return error;
}

int um_sweep_db_fill(struct um_sweep_db *db, const struct um_sweep_facts *facts)
{
	int error = um_sweep_sql_exec(db, "BEGIN IMMEDIATE");

	if (!error)
		error = um_sweep_sql_exec(db, um_sweep_schema);
	if (!error)
		error = put_sweep(db, facts);
	if (!error)
		error = put_axes(db);
	if (!error)
		error = put_configurations(db);
	if (!error)
		error = make_view(db);
	return error ? error : um_sweep_sql_exec(db, "COMMIT");
}
