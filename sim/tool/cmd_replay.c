/* umsim replay: one simulation for each policy, page size and memory, a database each and a table. */
#include "command.h"
#include "replay.h"

#include "trace/base/shell_quote.h"
#include "trace/base/units.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
	OPTION_MACHINE = 256,
	OPTION_DRIVER,
	OPTION_PAGE_SIZE,
	OPTION_MEMORY,
	OPTION_EVICT,
	OPTION_XNACK,
	OPTION_HOST_TIME,
	OPTION_KERNEL_TIMES,
	OPTION_SENSITIVITY,
	OPTION_FORCE,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"policy", 'P', "FILE", 0, "Policy file; several give one simulation each", 0},
	{"output", 'o', "FILE", 0,
	 "Database to write (one simulation only); default: TRACE less .um.db, then the policy's "
	 "name, the page size and the memory if one was given, and .um.db",
	 0},
	{"page-size", OPTION_PAGE_SIZE, "BYTES", 0,
	 "Page size of the driver (umsim policy drivers lists them); several give one simulation each",
	 0},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine (umsim machine list), or a file; default: the policy's, then the one that the "
	 "trace was made with",
	 0},
	{"driver", OPTION_DRIVER, "NAME", 0,
	 "Driver model, over the policy's; default: the machine's own, which is amdgpu_svm for AMD's, nvidia_uvm for NVIDIA's",
	 0},
	{"memory", OPTION_MEMORY, "BYTES|Nx", 0,
	 "Device memory that the program may use, as 16GiB or 7448KiB, or as a multiple of its "
	 "footprint: 0.8x; several give one simulation each; default: the policy's, then the trace's "
	 "(umtrace --memory) on the same machine, then all that the machine has",
	 0},
	{"evict", OPTION_EVICT, "ORDER", 0,
	 "Who leaves a full device (umsim policy drivers lists the orders), over the policy's; random "
	 "with its seed: random:7 (else 0); default: the driver's own order",
	 0},
	{"xnack", OPTION_XNACK, "on|off", 0,
	 "Whether devices retry accesses that fault, so that managed memory can migrate, over the "
	 "policy's; default: as the traced program had it",
	 0},
	{"host-time", OPTION_HOST_TIME, NULL, 0,
	 "The host takes as long between its calls as it did while TRACE was recorded; default: no time, "
	 "so that all recordings of a program give the same",
	 0},
	{"kernel-times", OPTION_KERNEL_TIMES, "FILE", 0,
	 "What kernels compute for: as long as in FILE, a trace measured on such a GPU, by name and grid, the "
	 "shortest launch; default, and for those that it lacks: estimated",
	 0},
	{"sensitivity", OPTION_SENSITIVITY, NULL, 0,
	 "Simulate each at half and at double the estimated compute times too, and say whether the ranking "
	 "changes",
	 0},
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
	"Columns: \"to\" is bytes over the link for whatever cause; \"link\" is how long the link was "
	"taken that way; \"end\" is when the program ends. For that the host takes no time but to wait (but with --host-time), "
	"and a kernel what its faults, its remote accesses or what it computes take, whichever is "
	"longest: it compares policies, and does not foretell how long the program runs. What kernels compute "
	"is estimated, by the bytes of their lanes at the memory's bandwidth (--kernel-times has it measured, "
	"--sensitivity tells what hangs on it). \"end\" takes "
	"every remote request, as without a cache; \"to\" and \"link\" each line once a launch.\n\n"
	"The footprint is the most that managed and device allocations have at once: with --memory 1x "
	"all of it fits, with 0.8x it is 1.25 times the memory.\n\n"
	"Policies to begin with are in share/umtrace/policies; advice, prefetches, eviction and the "
	"driver's parameters are a policy's to say (umsim policy --help).\n\n"
	"Examples:\n"
	"  umsim replay app.um.db\n"
	"  umsim replay app.um.db --page-size 4KiB --page-size 64KiB\n"
	"  umsim replay app.um.db -P none.yaml -P prefetch.yaml\n"
	"  umsim replay app.um.db --xnack on -o xnack.um.db\n"
	"  umsim replay app.um.db --memory 1x --memory 0.9x --memory 0.8x --evict lru\n"
	"  umsim replay app.um.db -P x.yaml --memory 4GiB -o small.um.db --force\n\n"
	"Of several simulations one that fails is told, and the others are shown.\n"
	"Exit status: 0 done, 1 failure, 2 usage (also a policy that is wrong or does not fit).";

static int parse_format(struct um_replay_arguments *arguments, const char *text)
{
	arguments->json = !strcmp(text, "json");
	if (arguments->json || !strcmp(text, "text"))
		return 0;
	return um_fail(UM_EINVAL, "no format '%s'; there are: text, json", text);
}

static int add_memory(struct um_replay_arguments *arguments, const char *text)
{
	struct um_replay_memory *memory = &arguments->memory[arguments->memory_count++];

	memory->text = text;
	return um_memory_limit_parse(&memory->limit, text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct um_replay_arguments *arguments = state->input;
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
		error = um_parse_page_bytes(value, &arguments->page_bytes[arguments->page_count++]);
		break;
	case OPTION_MEMORY:
		error = add_memory(arguments, value);
		break;
	case OPTION_EVICT:
		arguments->evict = value;
		break;
	case OPTION_XNACK:
		error = um_xnack_parse(&arguments->xnack, value);
		break;
	case OPTION_HOST_TIME:
		arguments->host_time = true;
		break;
	case OPTION_KERNEL_TIMES:
		arguments->kernel_times = value;
		break;
	case OPTION_SENSITIVITY:
		arguments->sensitivity = true;
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

static int print(const struct um_replay_run *run)
{
	int error =
		(run->arguments->json ? um_replay_print_json : um_replay_print_table)(stdout, run);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

/* What is done is printed, also where something failed, which then stays the error. */
static int run_and_print(struct um_replay_run *run)
{
	int error = um_replay_run_all(run), print_error = um_replay_done(run) ? print(run) : 0;

	if (!print_error)
		return error;
	run->has_told = false;
	return print_error;
}

static int replay(struct um_replay_run *run)
{
	int error;

	run->replays = calloc(um_replay_count(run->arguments), sizeof(*run->replays));
	error = run->replays ? 0 : um_fail(UM_ENOMEM, "no memory");
	if (!error)
		error = um_db_open(&run->trace, run->arguments->trace);
	if (!error)
		error = um_replay_find_gaps(&run->gaps, run->trace);
	if (!error && run->arguments->kernel_times)
		error = um_kernel_times_load(&run->kernel_times, run->arguments->kernel_times);
	if (!error)
		error = um_replay_prepare_all(run);
	if (!error)
		error = run_and_print(run);
	for (size_t i = 0; i < run->count; i++)
		um_replay_release(&run->replays[i]);
	free(run->replays);
	um_kernel_times_destroy(run->kernel_times);
	um_db_close(run->trace);
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
	struct um_replay_arguments arguments = {
		.policies = calloc((size_t)argc, sizeof(char *)),
		.page_bytes = calloc((size_t)argc, sizeof(uint64_t)),
		.memory = calloc((size_t)argc, sizeof(struct um_replay_memory)),
		.xnack = UM_XNACK_UNKNOWN,
	};
	char *command = command_text(argv);
	struct um_replay_run run = {.arguments = &arguments, .command = command};
	int error = 0;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (!arguments.policies || !arguments.page_bytes || !arguments.memory || !command)
		error = um_fail(UM_ENOMEM, "no memory");
	if (!error && argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		error = um_fail(UM_EINVAL, "cannot read the command line");
	if (!error)
		error = replay(&run);
	if (error && !run.has_told)
		fprintf(stderr, "umsim: %s%s\n", um_error_message(),
			error == UM_EEXIST && !arguments.force ? " (--force replaces it)" : "");
	free(arguments.policies);
	free(arguments.page_bytes);
	free(arguments.memory);
	free(command);
	return (int)um_exit_status(error);
}
