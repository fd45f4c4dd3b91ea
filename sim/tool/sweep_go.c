/* Runs what a sweep has not done yet, in this process or among ranks, and keeps what comes of it. */
#include "sweep_command.h"

#include "sim/sweep/sweep_ranks.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is done is kept from then on, whatever becomes of the process. */
#define COMMIT_SECONDS 0.25

/* ---------------------------------------------------------------- results */

/* "app.um.db" gives "app.sweep.db". */
static char *name_output(const struct um_sweep_arguments *arguments)
{
	static const char suffix[] = ".um.db";
	size_t length = strlen(arguments->trace);
	char *path;

	if (arguments->output)
		return strdup(arguments->output);
	if (length > strlen(suffix) && !strcmp(arguments->trace + length - strlen(suffix), suffix))
		length -= strlen(suffix);
	return asprintf(&path, "%.*s.sweep.db", (int)length, arguments->trace) < 0 ? NULL : path;
}

int um_sweep_open_results(struct um_sweep_command *sweep)
{
	const struct um_sweep_arguments *arguments = sweep->arguments;

	sweep->db_path = name_output(arguments);
	if (!sweep->db_path)
		return um_fail(UM_ENOMEM, "no memory for a name");
	return arguments->resume
		       ? um_sweep_db_resume(&sweep->db, sweep->db_path, &sweep->plan, &sweep->facts)
		       : um_sweep_db_create(&sweep->db, sweep->db_path, &sweep->plan, &sweep->facts,
					    arguments->force);
}

void um_sweep_name_plan(char *out, size_t capacity, const struct um_sweep_command *sweep)
{
	snprintf(out, capacity, "umsim " UM_VERSION ", %zu bytes, plan %016" PRIx64 "%s, trace %s",
		 sizeof(struct um_totals), um_sweep_plan_fingerprint(&sweep->plan),
		 sweep->facts.host_time ? ", host time" : "", sweep->facts.identity);
}

/* ---------------------------------------------------------------- running */

struct running {
	struct um_sweep_db *db;
	struct um_sweep_progress progress;
	struct timespec committed;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static int take_tick(void *context, double part)
{
	struct running *running = context;

	um_sweep_progress_show(&running->progress, part);
	if (seconds_since(&running->committed) < COMMIT_SECONDS)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &running->committed);
	return um_sweep_db_commit(running->db);
}

static int take_result(void *context, size_t point, const struct um_sweep_result *result)
{
	struct running *running = context;

	running->progress.done++;
	return um_sweep_db_put(running->db, point, result);
}

static unsigned default_jobs(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1			   ? 1
	       : processors > UM_SWEEP_THREADS_MAX ? UM_SWEEP_THREADS_MAX
						   : (unsigned)processors;
}

/* Ranks have a processor each, as mpirun starts them. */
static unsigned jobs_of(const struct um_sweep_arguments *arguments)
{
	if (arguments->jobs)
		return arguments->jobs;
	return arguments->mpi ? 1 : default_jobs();
}

static int run_points(const struct um_sweep_command *sweep, const struct um_sweep_point *points,
		      const size_t *todo, size_t count)
{
	const struct um_sweep_arguments *arguments = sweep->arguments;
	struct running running = {.db = sweep->db};
	const struct um_sweep request = {
		.trace_path = arguments->trace,
		.points = points,
		.count = sweep->plan.count,
		.threads = jobs_of(arguments),
		.host_time = arguments->host_time,
		.result = take_result,
		.tick = take_tick,
		.context = &running,
	};
	char message[1024];
	int error, commit_error;

	um_sweep_progress_start(&running.progress,
				sweep->db && !arguments->quiet && isatty(STDERR_FILENO),
				"umsim sweep", sweep->plan.count - count, sweep->plan.count);
	clock_gettime(CLOCK_MONOTONIC, &running.committed);
	error = um_sweep_run_ranks(&request, sweep->ranks, todo, count);
	um_sweep_progress_clear(&running.progress);
	if (!sweep->db)
		return error;
	snprintf(message, sizeof(message), "%s", um_error_message());
	commit_error = um_sweep_db_commit(sweep->db);
	return error ? um_fail(error, "%s", message) : commit_error;
}

/* What is not done yet, and what failed; 0 of a rank that has no database. */
static int find_todo(const struct um_sweep_command *sweep, size_t *todo, size_t *count)
{
	struct um_sweep_outcome *before = NULL;
	int error = sweep->db ? um_sweep_db_outcomes(sweep->db, &before) : 0;

	*count = 0;
	for (size_t i = 0; i < sweep->plan.count && before; i++)
		if (sweep->plan.configurations[i].policy && before[i].status != UM_SWEEP_DONE &&
		    before[i].status != UM_SWEEP_REFUSED)
			todo[(*count)++] = i;
	um_sweep_outcomes_free(before, sweep->plan.count);
	return error;
}

int um_sweep_go(struct um_sweep_command *sweep)
{
	const struct um_sweep_plan *plan = &sweep->plan;
	struct um_sweep_point *points = calloc(plan->count, sizeof(*points));
	size_t *todo = calloc(plan->count, sizeof(*todo)), count = 0;
	int error = points && todo ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < plan->count && !error; i++)
		points[i] = (struct um_sweep_point){plan->configurations[i].policy,
						    plan->configurations[i].machine};
	if (!error)
		error = find_todo(sweep, todo, &count);
	if (!error)
		error = run_points(sweep, points, todo, count);
	free(points);
	free(todo);
	return error || !sweep->db ? error : um_sweep_db_outcomes(sweep->db, &sweep->outcomes);
}
