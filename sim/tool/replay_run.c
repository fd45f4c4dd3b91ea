/* One simulation after the other, each into its database. */
#include "replay.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct um_replay_run *run = context;
	int percent = all ? (int)(done * 100 / all) : 100;

	if (percent == run->percent)
		return;
	run->percent = percent;
	fprintf(stderr, "\r%s: %d %%", run->replay->policy_name, percent);
	if (percent == 100)
		fputs("\r\033[K", stderr);
}

static void note_ignored(void *context, const char *what, const char *why)
{
	struct um_replay *replay = ((struct um_replay_run *)context)->replay;

	struct um_replay_ignored *grown =
		reallocarray(replay->ignored, replay->ignored_count + 1, sizeof(*grown));

	if (!grown)
		return;
	replay->ignored = grown;
	grown[replay->ignored_count] = (struct um_replay_ignored){strdup(what), why};
	replay->ignored_count += grown[replay->ignored_count].what != NULL;
}

static int take_accesses(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	struct um_replay *replay = context;

	snprintf(replay->accesses, sizeof(replay->accesses), "%s", origin->origin);
	return 0;
}

int um_replay_find_origin(struct um_replay_run *run)
{
	strcpy(run->replay->accesses, "of unknown origin");
	int error = um_db_each(run->trace, &um_table_origin, "record = 'page_access' AND ?1 = 0", 0,
			       take_accesses, run->replay);

	if (!error && !strcmp(run->replay->accesses, "absent"))
		error = um_fail(UM_ENOTSUP,
				"%s: nothing to replay: it was measured on a GPU, which does not "
				"tell what its kernels touch",
				um_db_path(run->trace));
	return error;
}

static int simulate(struct um_replay_run *run, struct um_probe *probe)
{
	const struct um_simulation simulation = {
		.trace = run->trace,
		.policy = run->replay->policy,
		.machine = run->replay->machine,
		.probe = probe,
		.host_time = run->arguments->host_time,
		.progress = !run->arguments->quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
		.progress_context = run,
		.ignored = note_ignored,
		.ignored_context = run,
	};

	return um_simulate(&simulation);
}

/* The probe writes into `db` and adds up; whatever fails first is returned. */
static int simulate_into(struct um_replay_run *run, struct um_db *db)
{
	struct um_observer totals = um_probe_totals(&run->replay->totals), rows;
	struct um_observer spent = um_ideal_spent_observer(&run->replay->spent);
	struct um_probe *probe;
	int error = um_probe_create(&probe), finish_error;

	if (error)
		return error;
	error = um_probe_add(probe, &totals);
	if (!error)
		error = um_ideal_spent_init(&run->replay->spent, run->trace);
	if (!error)
		error = um_probe_add(probe, &spent);
	if (!error)
		error = um_probe_db(&rows, db, UM_PROBE_OPS);
	if (!error)
		error = um_probe_add(probe, &rows);
	if (!error)
		error = simulate(run, probe);
	if (error) {
		char message[1024];

		snprintf(message, sizeof(message), "%s", um_error_message());
		um_probe_finish(probe);
		um_probe_destroy(probe);
		return um_fail(error, "%s", message);
	}
	finish_error = um_probe_finish(probe);
	um_probe_destroy(probe);
	return finish_error;
}

static int run_one(struct um_replay_run *run)
{
	struct um_db *db = NULL;
	int error = um_replay_find_origin(run);

	if (!error)
		error = um_replay_output_create(&db, run->replay, run->trace,
						run->arguments->force);
	if (!error)
		error = simulate_into(run, db);
	if (!error)
		error = um_replay_find_ideal(run);
	if (!error)
		error = um_replay_output_finish(db, run->replay, run->trace, run->command);
	if (!error)
		return um_replay_output_close(db, run->replay, run->arguments->force);

	char message[1024];

	snprintf(message, sizeof(message), "%s", um_error_message());
	um_replay_output_abandon(db, run->replay);
	return um_fail(error, "%s", message);
}

int um_replay_name_failure(const struct um_replay_run *run, int error)
{
	const struct um_replay *replay = run->replay;
	const char *path = replay->policy ? replay->policy->path : NULL;
	const char *name = replay->label ? replay->label : replay->policy_name;
	char message[1024];

	snprintf(message, sizeof(message), "%s", um_error_message());
	if (um_replay_count(run->arguments) == 1 || !name ||
	    (path && !strncmp(message, path, strlen(path))))
		return error;
	return um_fail(error, "%s: %s", name, message);
}

static void tell_failure(struct um_replay_run *run, int error)
{
	if (run->percent >= 0)
		fputs("\r\033[K", stderr);
	um_replay_name_failure(run, error);
	fprintf(stderr, "umsim: %s\n", um_error_message());
	run->has_told = true;
}

/* The done ones first, each in their order. */
static void put_done_first(struct um_replay_run *run)
{
	size_t done = 0;

	for (size_t i = 0; i < run->count; i++) {
		struct um_replay replay = run->replays[i];

		if (!replay.is_done)
			continue;
		memmove(&run->replays[done + 1], &run->replays[done], (i - done) * sizeof(replay));
		run->replays[done++] = replay;
	}
}

int um_replay_run_all(struct um_replay_run *run)
{
	int first_error = 0;

	for (size_t i = 0; i < run->count; i++) {
		run->replay = &run->replays[i];
		run->percent = -1;
		int error = run_one(run);
		run->replay->is_done = error == 0;
		if (error)
			tell_failure(run, error);
		else if (!run->arguments->quiet)
			fprintf(stderr, "umsim: wrote %s\n", run->replay->output_path);
		first_error = first_error ? first_error : error;
	}
	put_done_first(run);
	return first_error;
}

size_t um_replay_done(const struct um_replay_run *run)
{
	size_t done = 0;

	while (done < run->count && run->replays[done].is_done)
		done++;
	return done;
}
