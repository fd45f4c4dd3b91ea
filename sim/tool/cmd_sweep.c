/* umsim sweep: every policy with every combination of what is varied, into one database. */
#include "command.h"
#include "sweep_command.h"

#include "sim/sweep/sweep_ranks.h"
#include "trace/base/shell_quote.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
	OPTION_VARY = 256,
	OPTION_HOST_TIME,
	OPTION_RESUME,
	OPTION_FORCE,
	OPTION_DRY_RUN,
	OPTION_MPI,
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
	{"mpi", OPTION_MPI, NULL, 0,
	 "Under mpirun of Open MPI: the ranks share the configurations, rank 0 hands them out and "
	 "writes the database; each has -j of its own, by default 1",
	 0},
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
	"as configurations are done: after a kill --resume goes on with it. Its rows do not depend on -j, nor on the ranks. A rank that dies ends them all, as "
	"mpirun has it; what is done is kept.\n\n"
	"Figures are predictions of the driver models named below the table, not measurements.\n\n"
	"Examples:\n"
	"  umsim sweep app.um.db --vary memory=0.5x..1.2x/8\n"
	"  umsim sweep app.um.db -P 'p/*.yaml' -j 8 \\\n"
	"      --vary memory=4GiB..64GiB/16 --vary machine=mi250x,h200\n"
	"  umsim sweep app.um.db --vary driver.xnack=on,off --dry-run\n"
	"  mpirun -n 16 umsim sweep --mpi app.um.db --vary memory=1GiB..64GiB/64\n"
	"  sqlite3 app.sweep.db 'SELECT * FROM result ORDER BY end_ns LIMIT 5'\n\n"
	"Exit status: 0 all done, 1 failure, also of a single configuration, 2 usage (also a policy that "
	"is wrong or does not fit), 3 all done but what was refused.";

static int parse_format(struct um_sweep_arguments *arguments, const char *text)
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
	struct um_sweep_arguments *arguments = state->input;
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
	case OPTION_MPI:
		arguments->mpi = true;
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
		if (arguments->mpi && arguments->dry_run)
			argp_error(state, "--dry-run needs no --mpi");
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

/* ---------------------------------------------------------------- all of it */

static int make_plan(struct um_sweep_command *sweep)
{
	const struct um_sweep_arguments *arguments = sweep->arguments;
	int error = 0;

	for (size_t i = 0; i < arguments->policy_count && !error; i++)
		error = um_sweep_plan_add_policies(&sweep->plan, arguments->policies[i]);
	for (size_t i = 0; i < arguments->vary_count && !error; i++)
		error = um_sweep_plan_add_axis(&sweep->plan, arguments->vary[i]);
	return error ? error : um_sweep_plan_make(&sweep->plan, sweep->trace);
}

static int prepare(struct um_sweep_command *sweep)
{
	int error = um_db_open(&sweep->trace, sweep->arguments->trace);

	if (!error)
		error = um_replay_find_gaps(&sweep->gaps, sweep->trace);
	if (!error)
		error = um_sweep_facts_read(&sweep->facts, sweep->trace);
	return error ? error : make_plan(sweep);
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

static int print(const struct um_sweep_command *sweep)
{
	int error = sweep->arguments->print(stdout, sweep);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	if (!error && !sweep->arguments->quiet)
		fprintf(stderr, "umsim: results in %s\n", sweep->db_path);
	return error;
}

/* Of several ranks the one that writes and prints. */
static bool is_first(const struct um_sweep_command *sweep)
{
	return !sweep->ranks || sweep->ranks->rank() == 0;
}

static int simulate_all(struct um_sweep_command *sweep, enum um_exit *status)
{
	int error = um_sweep_go(sweep), close_error;

	if (!is_first(sweep))
		return error;
	if (!error) {
		error = print(sweep);
		*status = status_of(sweep);
	} else {
		fprintf(stderr, "umsim: what is done is in %s; --resume goes on with it\n",
			sweep->db_path);
	}
	close_error = um_sweep_db_close(sweep->db);
	sweep->db = NULL;
	return error ? error : close_error;
}

static int dry_run(const struct um_sweep_command *sweep, enum um_exit *status)
{
	*status = um_sweep_plan_refused(&sweep->plan) ? UM_EXIT_CHECK : UM_EXIT_OK;
	return um_sweep_print_plan(stdout, &sweep->plan);
}

/* *goes_on: others may be at work, and an error ends them. */
static int sweep_all(struct um_sweep_command *sweep, enum um_exit *status, bool *goes_on)
{
	char name[1024];
	int error = prepare(sweep);

	if (!error && sweep->arguments->dry_run)
		return dry_run(sweep, status);
	if (!error && is_first(sweep))
		error = um_sweep_open_results(sweep);
	if (sweep->ranks) {
		um_sweep_name_plan(name, sizeof(name), sweep);
		error = um_ranks_agree(sweep->ranks, error, name);
	}
	if (error)
		return error;
	*goes_on = true;
	return simulate_all(sweep, status);
}

static void release(struct um_sweep_command *sweep)
{
	um_sweep_db_close(sweep->db);
	um_sweep_outcomes_free(sweep->outcomes, sweep->plan.count);
	um_sweep_plan_fini(&sweep->plan);
	um_db_close(sweep->trace);
	free(sweep->db_path);
}

/* Ranks behind the first say what went wrong to it, and end well: mpirun has one status to tell. */
static int run(struct um_sweep_command *sweep)
{
	enum um_exit status = UM_EXIT_OK;
	bool goes_on = false;
	int error = sweep->arguments->mpi ? um_ranks_open(&sweep->ranks) : 0;

	if (!error)
		error = sweep_all(sweep, &status, &goes_on);
	if (error && is_first(sweep)) {
		fprintf(stderr, "umsim: %s\n", um_error_message());
		status = um_exit_status(error);
	}
	release(sweep);
	if (sweep->ranks && error && goes_on && is_first(sweep))
		sweep->ranks->abort((int)status);
	if (sweep->ranks)
		sweep->ranks->finish();
	return (int)status;
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
	struct um_sweep_arguments arguments = {
		.policies = calloc((size_t)argc, sizeof(char *)),
		.vary = calloc((size_t)argc, sizeof(char *)),
		.print = um_sweep_print_text,
	};
	struct um_sweep_command sweep = {.arguments = &arguments};
	char *command = command_text(argv);
	int status = UM_EXIT_FAILURE;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (arguments.policies && arguments.vary && command &&
	    argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0) {
		sweep.facts.command = command;
		sweep.facts.trace_path = arguments.trace;
		sweep.facts.host_time = arguments.host_time;
		status = run(&sweep);
	} else {
		fputs("umsim: no memory\n", stderr);
	}
	free(arguments.policies);
	free(arguments.vary);
	free(command);
	return status;
}
