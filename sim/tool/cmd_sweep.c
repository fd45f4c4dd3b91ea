/* umsim sweep: every policy with every combination of what is varied, into one database. */
#include "command.h"
#include "sweep_command.h"

#include "trace/base/shell_quote.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is done is kept from then on, whatever becomes of the process. */
#define COMMIT_SECONDS 0.25

enum option_key {
	OPTION_VARY = 256,
	OPTION_HOST_TIME,
	OPTION_RESUME,
	OPTION_FORCE,
	OPTION_DRY_RUN,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"vary", OPTION_VARY, "KEY=VALUES", 0,
	 "A key of a policy file that has a single value (memory, page_size, machine, driver, "
	 "driver.PARAMETER, evict, ...) and its values: a list, 4KiB,64KiB, or FIRST..LAST/STEPS, "
	 "4GiB..64GiB/16; several keys give every combination",
	 0},
	{"policy", 'P', "FILE", 0,
	 "Policy file, or a pattern of files in quotes ('p/*.yaml'); several give every combination "
	 "with each; default: what the program did",
	 0},
	{"output", 'o', "FILE", 0, "Database of results; default: TRACE less .um.db, and .sweep.db",
	 0},
	{"jobs", 'j', "N", 0, "Simulations at a time; default: as many as there are processors", 0},
	{"resume", OPTION_RESUME, NULL, 0,
	 "Go on with the database of results: what is done is not run again, what failed is", 0},
	{"force", OPTION_FORCE, NULL, 0, "Replace a database of results that is there already", 0},
	{"dry-run", OPTION_DRY_RUN, NULL, 0, "List the configurations and run nothing", 0},
	{"host-time", OPTION_HOST_TIME, NULL, 0,
	 "The host takes as long between its calls as it did while TRACE was recorded", 0},
	{"format", OPTION_FORMAT, "text|json|csv", 0, "Of the results on standard output", 0},
	{"quiet", 'q', NULL, 0, "No progress and no talk on standard error", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Replays TRACE (of umtrace) through every policy with every combination of the values given, "
	"in one pass, and tells which ends first."
	"\v"
	"A value is what a policy file could have for its key, and wins over what the policy file has. "
	"A combination that a driver or a machine refuses, as a page size that it does not have, is kept "
	"as refused, with the reason.\n\n"
	"The database has a row for each configuration with its values, its totals and its effective "
	"policy, which umsim replay -P takes again (share/umtrace/sweep_schema.sql explains it). It grows "
	"as configurations are done: after a kill --resume goes on with it. Its rows do not depend on -j.\n\n"
	"Figures are predictions of the driver models named below the table, not measurements.\n\n"
	"Examples:\n"
	"  umsim sweep app.um.db --vary memory=0.5x..1.2x/8\n"
	"  umsim sweep app.um.db --vary memory=4GiB..64GiB/16 --vary page_size=4KiB,64KiB \\\n"
	"      --vary machine=mi250x,h200 -P 'p/*.yaml' -j 8\n"
	"  umsim sweep app.um.db --vary driver.xnack=on,off --dry-run\n"
	"  sqlite3 app.sweep.db 'SELECT * FROM result ORDER BY end_ns LIMIT 5'\n\n"
	"Exit status: 0 all done, 1 failure, also of a single configuration, 2 usage (also a policy that "
	"is wrong or does not fit), 3 all done but what was refused.";

struct arguments {
	const char *trace, *output;
	const char **policies, **vary;
	size_t policy_count, vary_count;
	unsigned jobs; /* 0: not given */
	bool host_time, resume, force, dry_run, quiet;
	um_sweep_print_fn print;
};

static int parse_format(struct arguments *arguments, const char *text)
{
	static const struct {
		const char *name;
		um_sweep_print_fn print;
	} formats[] = {{"text", um_sweep_print_text},
		       {"json", um_sweep_print_json},
		       {"csv", um_sweep_print_csv}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(formats[i].name, text) == 0) {
			arguments->print = formats[i].print;
			return 0;
		}
	return um_fail(UM_EINVAL, "no format '%s'; there are: text, json, csv", text);
}

static int parse_jobs(unsigned *out, const char *text)
{
	uint64_t jobs;

	if (um_parse_u64(text, &jobs) || jobs < 1 || jobs > UM_SWEEP_THREADS_MAX)
		return um_fail(UM_EINVAL, "-j %s: 1 to %d simulations at a time", text,
			       UM_SWEEP_THREADS_MAX);
	*out = (unsigned)jobs;
	return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	int error = 0;

	switch (key) {
	case OPTION_VARY:
		arguments->vary[arguments->vary_count++] = value;
		break;
	case 'P':
		arguments->policies[arguments->policy_count++] = value;
		break;
	case 'o':
		arguments->output = value;
		break;
	case 'j':
		error = parse_jobs(&arguments->jobs, value);
		break;
	case 'q':
		arguments->quiet = true;
		break;
	case OPTION_RESUME:
		arguments->resume = true;
		break;
	case OPTION_FORCE:
		arguments->force = true;
		break;
	case OPTION_DRY_RUN:
		arguments->dry_run = true;
		break;
	case OPTION_HOST_TIME:
		arguments->host_time = true;
		break;
	case OPTION_FORMAT:
		error = parse_format(arguments, value);
		break;
	case ARGP_KEY_ARG:
		if (arguments->trace)
			argp_error(state, "one trace at a time; a pattern of -P wants quotes");
		arguments->trace = value;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		break;
	case ARGP_KEY_END:
		if (arguments->resume && arguments->force)
			argp_error(state, "--resume goes on with results, --force replaces them");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (error)
		argp_error(state, "%s", um_error_message());
	return 0;
}

/* ---------------------------------------------------------------- running */

struct running {
	struct um_sweep_db *db;
	const size_t *configurations; /* of the points */
	struct um_sweep_progress progress;
	struct timespec committed;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static int take_result(void *context, size_t point, const struct um_sweep_result *result)
{
	struct running *running = context;

	running->progress.done++;
	return um_sweep_db_put(running->db, running->configurations[point], result);
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

static unsigned default_jobs(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1			   ? 1
	       : processors > UM_SWEEP_THREADS_MAX ? UM_SWEEP_THREADS_MAX
						   : (unsigned)processors;
}

static int run_points(const struct um_sweep_command *sweep, const struct arguments *arguments,
		      struct um_sweep_point *points, size_t *configurations, size_t count)
{
	struct running running = {.db = sweep->db, .configurations = configurations};
	const struct um_sweep request = {
		.trace_path = arguments->trace,
		.points = points,
		.count = count,
		.threads = arguments->jobs ? arguments->jobs : default_jobs(),
		.host_time = arguments->host_time,
		.result = take_result,
		.tick = take_tick,
		.context = &running,
	};
	int error, commit_error;
	char message[1024];

	um_sweep_progress_start(&running.progress, !arguments->quiet && isatty(STDERR_FILENO),
				"umsim sweep", sweep->plan.count - count, sweep->plan.count);
	clock_gettime(CLOCK_MONOTONIC, &running.committed);
	error = um_sweep_run(&request);
	um_sweep_progress_clear(&running.progress);
	snprintf(message, sizeof(message), "%s", um_error_message());
	commit_error = um_sweep_db_commit(sweep->db);
	return error ? um_fail(error, "%s", message) : commit_error;
}

/* What is not done yet, and what failed. */
static int run(struct um_sweep_command *sweep, const struct arguments *arguments)
{
	const struct um_sweep_plan *plan = &sweep->plan;
	struct um_sweep_point *points = calloc(plan->count, sizeof(*points));
	size_t *configurations = calloc(plan->count, sizeof(*configurations)), count = 0;
	struct um_sweep_outcome *before = NULL;
	int error = points && configurations ? um_sweep_db_outcomes(sweep->db, &before)
					     : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < plan->count && !error; i++) {
		const struct um_sweep_configuration *configuration = &plan->configurations[i];

		if (!configuration->policy || before[i].status == UM_SWEEP_DONE ||
		    before[i].status == UM_SWEEP_REFUSED)
			continue;
		points[count] =
			(struct um_sweep_point){configuration->policy, configuration->machine};
		configurations[count++] = i;
	}
	um_sweep_outcomes_free(before, plan->count);
	if (!error)
		error = run_points(sweep, arguments, points, configurations, count);
	free(points);
	free(configurations);
	return error ? error : um_sweep_db_outcomes(sweep->db, &sweep->outcomes);
}

/* ---------------------------------------------------------------- all of it */

static int make_plan(struct um_sweep_command *sweep, const struct arguments *arguments)
{
	int error = 0;

	for (size_t i = 0; i < arguments->policy_count && !error; i++)
		error = um_sweep_plan_add_policies(&sweep->plan, arguments->policies[i]);
	for (size_t i = 0; i < arguments->vary_count && !error; i++)
		error = um_sweep_plan_add_axis(&sweep->plan, arguments->vary[i]);
	return error ? error : um_sweep_plan_make(&sweep->plan, sweep->trace);
}

/* "app.um.db" gives "app.sweep.db". */
static char *name_output(const struct arguments *arguments)
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

/* 1: something failed, 3: something was refused. */
static enum um_exit status_of(const struct um_sweep_command *sweep)
{
	enum um_exit status = UM_EXIT_OK;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		if (sweep->outcomes[i].status == UM_SWEEP_FAILED)
			return UM_EXIT_FAILURE;
		if (sweep->outcomes[i].status == UM_SWEEP_REFUSED)
			status = UM_EXIT_CHECK;
	}
	return status;
}

static int print(const struct um_sweep_command *sweep, const struct arguments *arguments)
{
	int error = arguments->print(stdout, sweep);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	if (!error && !arguments->quiet)
		fprintf(stderr, "umsim: results in %s\n", sweep->db_path);
	return error;
}

static int open_results(struct um_sweep_command *sweep, const struct arguments *arguments,
			const char *path)
{
	sweep->db_path = path;
	return arguments->resume ? um_sweep_db_resume(&sweep->db, path, &sweep->plan, &sweep->facts)
				 : um_sweep_db_create(&sweep->db, path, &sweep->plan, &sweep->facts,
						      arguments->force);
}

static int simulate_all(struct um_sweep_command *sweep, const struct arguments *arguments,
			enum um_exit *status)
{
	char *path = name_output(arguments);
	int error =
		path ? open_results(sweep, arguments, path) : um_fail(UM_ENOMEM, "out of memory");
	int close_error;

	if (!error)
		error = run(sweep, arguments);
	if (!error) {
		error = print(sweep, arguments);
		*status = status_of(sweep);
	} else if (sweep->db) {
		fprintf(stderr, "umsim: what is done is in %s; --resume goes on with it\n", path);
	}
	close_error = um_sweep_db_close(sweep->db);
	free(path);
	return error ? error : close_error;
}

static int sweep_all(struct um_sweep_command *sweep, const struct arguments *arguments,
		     enum um_exit *status)
{
	int error = um_db_open(&sweep->trace, arguments->trace);

	if (!error)
		error = um_replay_find_gaps(&sweep->gaps, sweep->trace);
	if (!error)
		error = um_sweep_facts_read(&sweep->facts, sweep->trace);
	if (!error)
		error = make_plan(sweep, arguments);
	if (!error && arguments->dry_run) {
		*status = um_sweep_plan_refused(&sweep->plan) ? UM_EXIT_CHECK : UM_EXIT_OK;
		error = um_sweep_print_plan(stdout, &sweep->plan);
	} else if (!error) {
		error = simulate_all(sweep, arguments, status);
	}
	um_sweep_outcomes_free(sweep->outcomes, sweep->plan.count);
	um_sweep_plan_fini(&sweep->plan);
	um_db_close(sweep->trace);
	return error;
}

/* The command as it can be typed again; argv[0] is two words. */
static char *command_text(char **argv)
{
	char *words = um_shell_quote(argv + 1), *command = NULL;

	if (words && asprintf(&command, "%s %s", argv[0], words) < 0)
		command = NULL;
	free(words);
	return command;
}

int um_cmd_sweep(int argc, char **argv)
{
	static const struct argp argp = {options, parse_option, "TRACE", documentation,
					 NULL,	  NULL,		NULL};
	struct arguments arguments = {
		.policies = calloc((size_t)argc, sizeof(char *)),
		.vary = calloc((size_t)argc, sizeof(char *)),
		.print = um_sweep_print_text,
	};
	struct um_sweep_command sweep = {0};
	char *command = command_text(argv);
	enum um_exit status = UM_EXIT_OK;
	int error = 0;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (!arguments.policies || !arguments.vary || !command)
		error = um_fail(UM_ENOMEM, "no memory");
	if (!error && argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		error = um_fail(UM_EINVAL, "cannot read the command line");
	sweep.facts.command = command;
	sweep.facts.trace_path = arguments.trace;
	sweep.facts.host_time = arguments.host_time;
	if (!error)
		error = sweep_all(&sweep, &arguments, &status);
	if (error)
		fprintf(stderr, "umsim: %s\n", um_error_message());
	free(arguments.policies);
	free(arguments.vary);
	free(command);
	return error ? (int)um_exit_status(error) : (int)status;
}
