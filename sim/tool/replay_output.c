/*
 * The database of a simulation. The operations, faults and traffic come through the probe; this
 * adds what is as it was in the trace (sites, allocations, kernels, losses), what each kind of
 * record is, and the run.
 */
#include "replay.h"

#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- life --- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

int um_replay_output_check(const struct um_replay *replay, struct um_db *trace, bool force)
{
	if (is_same_file(replay->output_path, um_db_path(trace)))
		return um_fail(UM_EINVAL, "%s is the trace itself", replay->output_path);
	return um_db_check_new(replay->output_path, force);
}

int um_replay_output_create(struct um_db **out, const struct um_replay *replay, struct um_db *trace,
			    bool force)
{
	int error = um_replay_output_check(replay, trace, force);

	return error ? error : um_db_create(out, replay->partial_path, true);
}

int um_replay_output_close(struct um_db *db, const struct um_replay *replay, bool force)
{
	int error = um_db_close(db);

	if (!error)
		error = um_db_rename(replay->partial_path, replay->output_path, force);
	if (error)
		unlink(replay->partial_path);
	return error;
}

void um_replay_output_abandon(struct um_db *db, const struct um_replay *replay)
{
	if (!db)
		return;
	um_db_close(db);
	unlink(replay->partial_path);
}

/* --- rows as they were --- */

struct copying {
	struct um_db *to;
	const struct um_table *table;
};

static int copy_row(const void *row, void *context)
{
	const struct copying *copying = context;

	return um_db_insert(copying->to, copying->table, row);
}

static int copy_table(struct um_db *to, struct um_db *from, const struct um_table *table)
{
	struct copying copying = {to, table};

	return um_db_each(from, table, NULL, 0, copy_row, &copying);
}

static int copy_tables(struct um_db *to, struct um_db *from)
{
	static const struct um_table *const tables[] = {
		&um_table_site,	  &um_table_frame,	&um_table_allocation, &um_table_part,
		&um_table_kernel, &um_table_user_range, &um_table_selection};
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++)
		error = copy_table(to, from, tables[i]);
	return error;
}

/* What the trace lacks this lacks too, less what only its own model did without. */
static int write_losses(struct um_db *db, const struct um_replay *replay, struct um_db *trace)
{
	struct copying copying = {db, &um_table_loss};
	char detail[512];
	int error = um_db_each(trace, &um_table_loss, "kind <> 'not_modelled' AND ?1 = 0", 0,
			       copy_row, &copying);

	for (size_t i = 0; i < replay->ignored_count && !error; i++) {
		const struct um_loss_row row = {
			.op = UM_NULL,
			.device = UM_NULL,
			.kind = "not_modelled",
			.count = 1,
			.start_ns = UM_NULL,
			.end_ns = UM_NULL,
			.detail = detail,
		};

		snprintf(detail, sizeof(detail), "%s: %s", replay->ignored[i].what,
			 replay->ignored[i].why);
		error = um_db_insert(db, &um_table_loss, &row);
	}
	return error;
}

/* --- origins --- */

static const char *const modelled[] = {
	"op.time",	"fault",	"migration",   "mapping", "remote_access",
	"driver_event", "copy_traffic", "peer_traffic"}; /* the last of several devices only */

#define MODELLED (sizeof(modelled) / sizeof(*modelled))

/* What the trace holds and the simulation started from; itself, it holds none of it. */
static int copy_origin(const void *row, void *context)
{
	struct um_origin_row origin = *(const struct um_origin_row *)row;
	char record[64];

	for (size_t i = 0; i < MODELLED; i++)
		if (!strcmp(modelled[i], origin.record))
			return 0;
	snprintf(record, sizeof(record), "source.%s", origin.record);
	origin.record = record;
	return um_db_insert(context, &um_table_origin, &origin);
}

static int write_origins(struct um_db *db, const struct um_replay *replay, struct um_db *trace)
{
	char order[128], detail[512];
	int error = um_db_each(trace, &um_table_origin, NULL, 0, copy_origin, db);

	um_replay_order_text(order, sizeof(order), replay);
	snprintf(detail, sizeof(detail), "%s%s%s", replay->driver->validated, *order ? "; " : "",
		 order);
	for (size_t i = 0; i < MODELLED - (replay->machine->devices == 1) && !error; i++) {
		struct um_origin_row row = {modelled[i], "modelled", "run", detail};

		error = um_db_insert(db, &um_table_origin, &row);
	}
	return error;
}

/* --- devices --- */

static int write_devices(struct um_db *db, const struct um_replay *replay)
{
	const struct um_machine_spec *machine = replay->machine;
	int error = 0;

	for (uint32_t i = 0; i < machine->devices && !error; i++) {
		struct um_device_row row = {
			.device = i,
			.name = machine->device_name,
			.arch = machine->arch,
			.memory_bytes = (int64_t)machine->memory_bytes,
			.compute_units = machine->compute_units,
			.link = machine->link.name,
			.link_to_device_bytes_per_s = machine->link.to_device_bytes_per_s,
			.link_to_host_bytes_per_s = machine->link.to_host_bytes_per_s,
		};

		error = um_db_insert(db, &um_table_device, &row);
	}
	return error;
}

/* --- the run --- */

struct source_run {
	char *backend, *runtime, *host_watch, *ended, *host, *executable, *rank_source, *job;
	int64_t filter_pages, exit_status, exit_signal, rank, ranks;
};

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int take_source_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct source_run *source = context;

	*source = (struct source_run){
		.backend = copy_text(run->backend),
		.runtime = copy_text(run->runtime),
		.host_watch = copy_text(run->host_watch),
		.ended = copy_text(run->ended),
		.host = copy_text(run->host),
		.executable = copy_text(run->executable),
		.rank_source = copy_text(run->rank_source),
		.job = copy_text(run->job),
		.rank = run->rank,
		.ranks = run->ranks,
		.filter_pages = run->filter_pages,
		.exit_status = run->exit_status,
		.exit_signal = run->exit_signal,
	};
	return 0;
}

static void free_source_run(struct source_run *source)
{
	free(source->backend);
	free(source->runtime);
	free(source->host_watch);
	free(source->ended);
	free(source->host);
	free(source->executable);
	free(source->rank_source);
	free(source->job);
}

static char *params_text(const struct um_replay *replay)
{
	const struct um_param *params = replay->driver->params;
	json_t *all = json_object();
	char text[64], *out;

	for (size_t i = 0; params && params[i].name; i++)
		json_object_set_new(
			all, params[i].name,
			json_string(um_param_text(text, sizeof(text), &replay->policy->params[i])));
	out = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return out;
}

struct run_texts {
	char *params, *policy, started[32];
};

static int write_run(struct um_db *db, const struct um_replay *replay, const char *command,
		     const struct source_run *source, const struct run_texts *texts)
{
	struct um_run_row row = {
		.role = "simulation",
		.tool = "umsim " UM_VERSION,
		.command = command,
		.source = replay->trace_path,
		.backend = source->backend,
		.runtime = source->runtime,
		.host = source->host,
		.pid = UM_NULL,
		.rank = source->rank,
		.ranks = source->ranks,
		.rank_source = source->rank_source,
		.job = source->job,
		.executable = source->executable,
		.started = texts->started,
		.clock = "simulated",
		.start_ns = 0,
		.end_ns = (int64_t)replay->totals.end_ns,
		.ended = source->ended ? source->ended : "running",
		.exit_status = source->exit_status,
		.exit_signal = source->exit_signal,
		.host_watch = source->host_watch,
		.filter_pages = source->filter_pages,
		.machine = replay->machine->name,
		.machine_text = replay->machine->text,
		.driver = replay->driver->name,
		.driver_parameters = texts->params,
		.xnack = replay->xnack,
		.xnack_source = replay->xnack_source,
		.page_bytes = (int64_t)replay->page_bytes,
		.memory_bytes = (int64_t)replay->memory_bytes,
		.policy = texts->policy,
	};

	return um_db_insert(db, &um_table_run, &row);
}

static int describe_run(struct um_db *db, const struct um_replay *replay, struct um_db *trace,
			const char *command)
{
	struct source_run source = {.rank = UM_NULL,
				    .ranks = UM_NULL,
				    .filter_pages = UM_NULL,
				    .exit_status = UM_NULL,
				    .exit_signal = UM_NULL};
	struct run_texts texts = {.params = params_text(replay)};
	time_t now = time(NULL);
	struct tm utc;
	int error = um_policy_text(&texts.policy, replay->policy);

	if (gmtime_r(&now, &utc))
		strftime(texts.started, sizeof(texts.started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (!error)
		error = um_db_run(trace, take_source_run, &source);
	if (!error)
		error = write_run(db, replay, command, &source, &texts);
	free_source_run(&source);
	free(texts.params);
	free(texts.policy);
	return error;
}

int um_replay_output_finish(struct um_db *db, const struct um_replay *replay, struct um_db *trace,
			    const char *command)
{
	int error = um_db_begin(db);

	if (!error)
		error = copy_tables(db, trace);
	if (!error)
		error = write_losses(db, replay, trace);
	if (!error)
		error = write_origins(db, replay, trace);
	if (!error)
		error = um_replay_write_ideal(db, replay);
	if (!error)
		error = write_devices(db, replay);
	if (!error)
		error = describe_run(db, replay, trace, command);
	/* Rows that the schema does not take are the trace's, word for word. */
	if (error == UM_EINVAL)
		error = um_fail(UM_EFORMAT, "%s: damaged: %s", um_db_path(trace),
				um_error_message());
	return error ? error : um_db_commit(db);
}
