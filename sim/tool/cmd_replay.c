/* umsim replay: one simulation for each policy and page size, a database each and a table. */
#include "command.h"
#include "replay.h"

#include "sim/machine/machine_file.h"
#include "trace/base/shell_quote.h"
#include "trace/base/units.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_key {
	OPTION_MACHINE = 256,
	OPTION_DRIVER,
	OPTION_PAGE_SIZE,
	OPTION_MEMORY,
	OPTION_FORCE,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"policy", 'P', "FILE", 0, "Policy file; several give one simulation each", 0},
	{"output", 'o', "FILE", 0,
	 "Database to write (one simulation only); default: TRACE less .um.db, then the policy's "
	 "name, the page size if one was given, and .um.db",
	 0},
	{"page-size", OPTION_PAGE_SIZE, "BYTES", 0,
	 "Page size of the driver (4KiB, 64KiB, 2MiB for demand); several give one simulation each",
	 0},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine, or a file; default: the policy's, then the one that the trace was made with", 0},
	{"driver", OPTION_DRIVER, "NAME", 0, "Driver model, over the policy's", 0},
	{"memory", OPTION_MEMORY, "BYTES", 0, "Device memory that the program may use", 0},
	{"force", OPTION_FORCE, NULL, 0, "Replace databases that are there already", 0},
	{"format", OPTION_FORMAT, "text|json", 0, "Of the results on standard output", 0},
	{"quiet", 'q', NULL, 0, "No progress and no talk on standard error", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Replays TRACE (of umtrace) through a driver model and tells the faults, the bytes that "
	"would cross the link and why, and the time it would take."
	"\v"
	"Without -P the program does what it did, with its own advice and prefetches. Figures are "
	"predictions of the driver model named below the table, not measurements.\n\n"
	"Examples:\n"
	"  umsim replay app.um.db\n"
	"  umsim replay app.um.db --page-size 4KiB --page-size 64KiB\n"
	"  umsim replay app.um.db -P none.yaml -P prefetch.yaml\n"
	"  umsim replay app.um.db -P x.yaml --memory 4GiB -o small.um.db --force\n\n"
	"Exit status: 0 done, 1 failure, 2 usage (also a policy that is wrong or does not fit).";

struct arguments {
	const char *trace, *output, *machine, *driver;
	const char **policies;
	size_t policy_count;
	uint64_t *page_bytes;
	size_t page_count;
	uint64_t memory_bytes;
	bool force, json, quiet;
};

static int parse_page_size(struct arguments *arguments, const char *text)
{
	return um_parse_bytes(text, &arguments->page_bytes[arguments->page_count++]);
}

static int parse_format(struct arguments *arguments, const char *text)
{
	arguments->json = !strcmp(text, "json");
	if (arguments->json || !strcmp(text, "text"))
		return 0;
	return um_fail(UM_EINVAL, "no format '%s'; there are: text, json", text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	int error = 0;

	switch (key) {
	case 'P':
		arguments->policies[arguments->policy_count++] = value;
		break;
	case 'o':
		arguments->output = value;
		break;
	case 'q':
		arguments->quiet = true;
		break;
	case OPTION_MACHINE:
		arguments->machine = value;
		break;
	case OPTION_DRIVER:
		arguments->driver = value;
		break;
	case OPTION_PAGE_SIZE:
		error = parse_page_size(arguments, value);
		break;
	case OPTION_MEMORY:
		error = um_parse_bytes(value, &arguments->memory_bytes);
		break;
	case OPTION_FORCE:
		arguments->force = true;
		break;
	case OPTION_FORMAT:
		error = parse_format(arguments, value);
		break;
	case ARGP_KEY_ARG:
		if (arguments->trace)
			argp_error(state, "one trace at a time");
		arguments->trace = value;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (error)
		argp_error(state, "%s", um_error_message());
	return 0;
}

/* --- one simulation --- */

struct run {
	const struct arguments *arguments;
	const char *command;
	struct um_db *trace;
	struct um_replay *replay;
	int percent; /* last shown */
};

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct run *run = context;
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
	struct um_replay *replay = ((struct run *)context)->replay;

	if (replay->ignored_count == UM_REPLAY_IGNORED_MAX)
		return;
	replay->ignored[replay->ignored_count].what = what;
	replay->ignored[replay->ignored_count++].why = why;
}

static int take_accesses(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	struct um_replay *replay = context;

	snprintf(replay->accesses, sizeof(replay->accesses), "%s", origin->origin);
	return 0;
}

static int find_origin(struct run *run)
{
	strcpy(run->replay->accesses, "of unknown origin");
	return um_db_each(run->trace, &um_table_origin, "record = 'page_access' AND ?1 = 0", 0,
			  take_accesses, run->replay);
}

static int simulate(struct run *run, struct um_probe *probe)
{
	const struct um_simulation simulation = {
		.trace = run->trace,
		.policy = run->replay->policy,
		.machine = run->replay->machine,
		.probe = probe,
		.progress = !run->arguments->quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
		.progress_context = run,
		.ignored = note_ignored,
		.ignored_context = run,
	};

	return um_simulate(&simulation);
}

/* The probe writes into `db` and adds up; whatever fails first is returned. */
static int simulate_into(struct run *run, struct um_db *db)
{
	struct um_observer totals = um_probe_totals(&run->replay->totals), rows;
	struct um_probe *probe;
	int error = um_probe_create(&probe), finish_error;

	if (error)
		return error;
	error = um_probe_add(probe, &totals);
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

static int run_one(struct run *run)
{
	struct um_db *db = NULL;
	int error = find_origin(run);

	if (!error)
		error = um_replay_output_create(&db, run->replay, run->trace,
						run->arguments->force);
	if (!error)
		error = simulate_into(run, db);
	if (!error)
		error = um_replay_output_finish(db, run->replay, run->trace, run->command);
	if (!error)
		return um_db_close(db);

	char message[1024];

	snprintf(message, sizeof(message), "%s", um_error_message());
	um_replay_output_abandon(db, run->replay);
	return um_fail(error, "%s", message);
}

/* --- what to simulate --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The policy's file less its folder and .yaml. */
static char *name_of_policy(const char *path)
{
	char *name = strdup(path ? base_name(path) : "program");
	char *dot = name ? strrchr(name, '.') : NULL;

	if (dot && dot != name && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
		*dot = '\0';
	return name;
}

/* "64KiB": no blank, as a file's name wants it. */
static void page_size_name(char *buffer, size_t capacity, uint64_t bytes)
{
	size_t kept = 0;

	um_format_bytes(buffer, capacity, bytes);
	for (size_t i = 0; buffer[i]; i++)
		if (buffer[i] != ' ')
			buffer[kept++] = buffer[i];
	buffer[kept] = '\0';
}

static char *name_output(const struct arguments *arguments, const struct um_replay *replay)
{
	static const char suffix[] = ".um.db";
	size_t length = strlen(arguments->trace);
	char page[40] = ".", *path;

	if (arguments->output)
		return strdup(arguments->output);
	if (length > strlen(suffix) && !strcmp(arguments->trace + length - strlen(suffix), suffix))
		length -= strlen(suffix);
	page_size_name(page + 1, sizeof(page) - 1, replay->page_bytes);
	if (asprintf(&path, "%.*s.%s%s%s", (int)length, arguments->trace, replay->policy_name,
		     arguments->page_count ? page : "", suffix) < 0)
		return NULL;
	return path;
}

static int take_machine(const void *row, void *context)
{
	const struct um_run_row *run = row;

	if (!run->machine_text)
		return 0;
	return um_machine_parse(context, run->machine ? run->machine : "machine of the trace",
				run->machine_text, strlen(run->machine_text));
}

static int find_machine(struct run *run)
{
	struct um_replay *replay = run->replay;
	int error = 0;

	if (run->arguments->machine) {
		free(replay->policy->machine);
		replay->policy->machine = strdup(run->arguments->machine);
		error = replay->policy->machine ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
	}
	if (error)
		return error;
	if (replay->policy->machine)
		return um_machine_load(&replay->machine, replay->policy->machine);
	error = um_db_each(run->trace, &um_table_run, NULL, 0, take_machine, &replay->machine);
	if (error || replay->machine)
		return error;
	return um_machine_load(&replay->machine, NULL);
}

/* The policy as it is stored names the machine that was used. */
static int name_machine(struct um_replay *replay)
{
	char *name =
		replay->policy->machine ? replay->policy->machine : strdup(replay->machine->name);

	replay->policy->machine = name;
	return name ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static int apply_options(struct run *run, uint64_t page_bytes)
{
	const struct arguments *arguments = run->arguments;
	struct um_policy *policy = run->replay->policy;
	int error = 0;

	if (arguments->driver)
		error = um_policy_set_driver(policy, arguments->driver);
	if (!error && page_bytes)
		error = um_policy_set_page_bytes(policy, page_bytes);
	if (arguments->memory_bytes)
		policy->memory_bytes = arguments->memory_bytes;
	return error;
}

static int prepare(struct run *run, const char *policy_path, uint64_t page_bytes)
{
	struct um_replay *replay = run->replay;
	int error = policy_path ? um_policy_load(&replay->policy, policy_path)
				: um_policy_default(&replay->policy);

	if (!error)
		error = apply_options(run, page_bytes);
	if (!error)
		error = find_machine(run);
	if (error)
		return error;
	error = name_machine(replay);
	if (error)
		return error;
	replay->driver = replay->policy->driver;
	replay->page_bytes = replay->policy->page_bytes ? replay->policy->page_bytes
							: replay->driver->default_page_bytes;
	replay->memory_bytes = replay->policy->memory_bytes ? replay->policy->memory_bytes
							    : replay->machine->memory_bytes;
	replay->trace_path = run->arguments->trace;
	replay->policy_name = name_of_policy(policy_path);
	if (!replay->policy_name)
		return um_fail(UM_ENOMEM, "no memory for a name");
	replay->output_path = name_output(run->arguments, replay);
	return replay->output_path ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static void release(struct um_replay *replay)
{
	um_policy_destroy(replay->policy);
	um_machine_spec_destroy(replay->machine);
	free((char *)replay->policy_name);
	free(replay->output_path);
}

/* Everything that can be wrong before the first simulation starts. */
static int prepare_all(struct run *run, struct um_replay *replays, size_t *count)
{
	const struct arguments *arguments = run->arguments;
	size_t policies = arguments->policy_count ? arguments->policy_count : 1;
	size_t pages = arguments->page_count ? arguments->page_count : 1;
	int error = 0;

	for (size_t i = 0; i < policies * pages && !error; i++) {
		run->replay = &replays[i];
		*count = i + 1;
		error = prepare(run,
				arguments->policy_count ? arguments->policies[i / pages] : NULL,
				arguments->page_count ? arguments->page_bytes[i % pages] : 0);
		for (size_t other = 0; other < i && !error; other++)
			if (!strcmp(replays[other].output_path, replays[i].output_path))
				error = um_fail(UM_EINVAL, "two simulations would be written to %s",
						replays[i].output_path);
	}
	return error;
}

static int run_all(struct run *run, struct um_replay *replays, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		run->replay = &replays[i];
		run->percent = -1;
		error = run_one(run);
		if (!error && !run->arguments->quiet)
			fprintf(stderr, "umsim: wrote %s\n", replays[i].output_path);
	}
	return error;
}

static int check_combination(const struct arguments *arguments)
{
	size_t all = (arguments->policy_count ? arguments->policy_count : 1) *
		     (arguments->page_count ? arguments->page_count : 1);

	if (!arguments->output || all == 1)
		return 0;
	return um_fail(UM_EINVAL, "-o names one database, and there are %zu simulations", all);
}

static int replay(const struct arguments *arguments, const char *command)
{
	size_t most = (arguments->policy_count + 1) * (arguments->page_count + 1), count = 0;
	struct um_replay *replays = calloc(most, sizeof(*replays));
	struct run run = {.arguments = arguments, .command = command};
	int error = replays ? check_combination(arguments) : um_fail(UM_ENOMEM, "no memory");

	if (!error)
		error = um_db_open(&run.trace, arguments->trace);
	if (!error)
		error = prepare_all(&run, replays, &count);
	if (!error)
		error = run_all(&run, replays, count);
	if (!error)
		error = (arguments->json ? um_replay_print_json
					 : um_replay_print_table)(stdout, replays, count);
	for (size_t i = 0; i < count; i++)
		release(&replays[i]);
	free(replays);
	um_db_close(run.trace);
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

int um_cmd_replay(int argc, char **argv)
{
	static const struct argp argp = {options, parse_option, "TRACE", documentation,
					 NULL,	  NULL,		NULL};
	struct arguments arguments = {
		.policies = calloc((size_t)argc, sizeof(char *)),
		.page_bytes = calloc((size_t)argc, sizeof(uint64_t)),
	};
	char *command = command_text(argv);
	int error = 0;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (!arguments.policies || !arguments.page_bytes || !command)
		error = um_fail(UM_ENOMEM, "no memory");
	if (!error && argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		error = um_fail(UM_EINVAL, "cannot read the command line");
	if (!error)
		error = replay(&arguments, command);
	if (error)
		fprintf(stderr, "umsim: %s%s\n", um_error_message(),
			error == UM_EEXIST ? " (--force replaces it)" : "");
	free(arguments.policies);
	free(arguments.page_bytes);
	free(command);
	return (int)um_exit_status(error);
}
