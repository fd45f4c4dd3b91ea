/* umsim curve: one policy at many sizes of memory. */
#include "command.h"
#include "curve_command.h"

#include "sim/sweep/sweep.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POINTS_DEFAULT 16
#define POINTS_MAX     65536

enum option_key {
	OPTION_MACHINE = 256,
	OPTION_DRIVER,
	OPTION_PAGE_SIZE,
	OPTION_EVICT,
	OPTION_XNACK,
	OPTION_POINTS,
	OPTION_FROM,
	OPTION_TO,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"policy", 'P', "FILE", 0, "Policy file; its memory does not count", 0},
	{"from", OPTION_FROM, "BYTES|Nx", 0,
	 "Least memory, as 4GiB, or as a multiple of the footprint: 0.1x; default: a step", 0},
	{"to", OPTION_TO, "BYTES|Nx", 0, "Most memory; default: the footprint, 1x", 0},
	{"points", OPTION_POINTS, "N", 0,
	 "How many sizes, in equal steps, each rounded down to whole pages of the driver; default: 16",
	 0},
	{"page-size", OPTION_PAGE_SIZE, "BYTES", 0,
	 "Page size of the driver (umsim policy drivers lists them)", 0},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine (umsim machine list), or a file; default: the policy's, then the one that the "
	 "trace was made with",
	 0},
	{"driver", OPTION_DRIVER, "NAME", 0,
	 "Driver model, over the policy's; default: the machine's own", 0},
	{"evict", OPTION_EVICT, "ORDER", 0,
	 "Who leaves a full device, over the policy's (umsim policy drivers lists the orders)", 0},
	{"xnack", OPTION_XNACK, "on|off", 0,
	 "Whether devices retry accesses that fault, over the policy's; default: as the traced program "
	 "had it",
	 0},
	{"format", OPTION_FORMAT, "text|json|csv", 0, "Of the results on standard output", 0},
	{"jobs", 'j', "N", 0,
	 "Replays side by side, where it takes replays; default: as many as there are processors",
	 0},
	{"quiet", 'q', NULL, 0, "No progress on standard error", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Tells what TRACE (of umtrace) would move over the link at each of several sizes of device "
	"memory, and names the knees: where a little less memory moves much more."
	"\v"
	"Every point is what umsim replay --memory gives, exactly. Where the program's touches come in "
	"one order whatever the memory is (one group and one stream at a time, the driver demand with "
	"lru, fifo or belady, and no advice, prefetches or copies of managed memory), one simulation "
	"tells all points; otherwise each is a replay. Which it was is said below the table.\n\n"
	"A knee is where one point down multiplies the bytes over the link by 1.25 or more, and adds at "
	"least a hundredth of the most that any point moves; steps that follow each other are one. It "
	"thrashes where that ends at twice the bytes of the point with the most memory, and twice the "
	"footprint, or more.\n\n"
	"Examples:\n"
	"  umsim curve app.um.db\n"
	"  umsim curve app.um.db --from 0.5x --to 1x --points 50\n"
	"  umsim curve app.um.db --driver demand --evict lru --points 1000 --format=csv\n\n"
	"Exit status: 0 done, 1 failure (of a point too), 2 usage (also a policy that is wrong or does "
	"not fit).";

static int parse_format(enum um_curve_format *format, const char *text)
{
	static const char *const names[] = {"text", "json", "csv"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*format = (enum um_curve_format)i;
			return 0;
		}
	return um_fail(UM_EINVAL, "no format '%s'; there are: text, json, csv", text);
}

static int parse_points(uint64_t *points, const char *text)
{
	int error = um_parse_u64(text, points);

	if (!error && (*points < 1 || *points > POINTS_MAX))
		error = um_fail(UM_EINVAL, "1 to %d points, not %s", POINTS_MAX, text);
	return error;
}

static int parse_jobs(uint64_t *jobs, const char *text)
{
	int error = um_parse_u64(text, jobs);

	if (!error && (*jobs < 1 || *jobs > UM_SWEEP_THREADS_MAX))
		error = um_fail(UM_EINVAL, "1 to %d jobs, not %s", UM_SWEEP_THREADS_MAX, text);
	return error;
}

static uint64_t processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1		      ? 1
	       : count > UM_SWEEP_THREADS_MAX ? UM_SWEEP_THREADS_MAX
					      : (uint64_t)count;
}

static int parse_page_size(struct um_replay_arguments *arguments, const char *text)
{
	arguments->page_count = 1;
	return um_parse_page_bytes(text, arguments->page_bytes);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct um_curve_command *command = state->input;
	struct um_replay_arguments *arguments = &command->replay;
	int error = 0;

	switch (key) {
	case 'P':
		if (arguments->policy_count)
			argp_error(state, "one policy at a time");
		arguments->policies[arguments->policy_count++] = value;
		break;
	case 'j':
		error = parse_jobs(&command->jobs, value);
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
	case OPTION_EVICT:
		arguments->evict = value;
		break;
	case OPTION_XNACK:
		error = um_xnack_parse(&arguments->xnack, value);
		break;
	case OPTION_POINTS:
		error = parse_points(&command->points, value);
		break;
	case OPTION_FROM:
		command->from = value;
		break;
	case OPTION_TO:
		command->to = value;
		break;
	case OPTION_FORMAT:
		error = parse_format(&command->format, value);
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

/* --- running --- */

static void show_progress(void *context, size_t done, size_t all)
{
	(void)context;
	if (done < all)
		fprintf(stderr, "\r%zu of %zu", done, all);
	else
		fputs("\r\033[K", stderr);
}

/* Each thing once, though each of many simulations says it. */
static void note_ignored(void *context, const char *what, const char *why)
{
	struct um_replay *replay = context;
	struct um_replay_ignored *grown;

	for (size_t i = 0; i < replay->ignored_count; i++)
		if (!strcmp(replay->ignored[i].what, what))
			return;
	grown = reallocarray(replay->ignored, replay->ignored_count + 1, sizeof(*grown));
	if (!grown)
		return;
	replay->ignored = grown;
	grown[replay->ignored_count] = (struct um_replay_ignored){strdup(what), why};
	replay->ignored_count += grown[replay->ignored_count].what != NULL;
}

static int find_knees(struct um_curve_result *result)
{
	const struct um_curve *curve = &result->curve;

	result->knees = calloc(curve->count + 1, sizeof(*result->knees));
	if (!result->knees)
		return um_fail(UM_ENOMEM, "no memory");
	result->knee_count =
		um_curve_knees(curve->points, curve->count, result->knees, curve->count);
	return 0;
}

static int run_curve(struct um_curve_result *result, const struct um_curve_command *command)
{
	struct um_curve *curve = &result->curve;
	struct um_replay *replay = result->run.replays;
	bool is_shown = !command->replay.quiet && isatty(STDERR_FILENO);
	int error = um_curve_place_points(result, command);

	curve->trace = result->run.trace;
	curve->policy = replay->policy;
	curve->machine = replay->machine;
	curve->threads = (unsigned)command->jobs;
	curve->progress = is_shown ? show_progress : NULL;
	curve->ignored = note_ignored;
	curve->context = replay;
	if (!error)
		error = um_curve_run(curve);
	replay->is_done = !error;
	return error ? error : find_knees(result);
}

static int print(const struct um_curve_result *result, enum um_curve_format format)
{
	static int (*const formats[])(FILE *, const struct um_curve_result *) = {
		[UM_CURVE_TEXT] = um_curve_print_text,
		[UM_CURVE_JSON] = um_curve_print_json,
		[UM_CURVE_CSV] = um_curve_print_csv,
	};
	int error = formats[format](stdout, result);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

/* A point that failed is in the table; its message goes where all do, once. */
static int tell_failed_points(const struct um_curve *curve)
{
	const struct um_curve_point *first = NULL;
	size_t failed = 0;

	for (size_t i = 0; i < curve->count; i++) {
		first = !first && curve->points[i].error ? &curve->points[i] : first;
		failed += curve->points[i].error != 0;
	}
	return failed ? um_fail(first->error, "%zu of %zu points failed, the first: %s", failed,
				curve->count, first->message)
		      : 0;
}

static int curve(const struct um_curve_command *command)
{
	struct um_replay replay = {0};
	struct um_curve_result result = {
		.run = {.arguments = &command->replay, .replays = &replay, .replay = &replay}};
	int error = um_db_open(&result.run.trace, command->replay.trace);

	if (!error)
		error = um_replay_find_gaps(&result.run.gaps, result.run.trace);
	if (!error)
		error = um_replay_prepare_all(&result.run);
	replay.shows_memory = true; /* not the policy's */
	if (!error)
		error = um_replay_find_origin(&result.run);
	if (!error)
		error = um_policy_footprint(&result.footprint_bytes, result.run.trace);
	if (!error)
		error = run_curve(&result, command);
	if (!error)
		error = print(&result, command->format);
	if (!error)
		error = tell_failed_points(&result.curve);
	um_replay_release(&replay);
	free(result.knees);
	free(result.curve.points);
	um_db_close(result.run.trace);
	return error;
}

int um_cmd_curve(int argc, char **argv)
{
	static const struct argp argp = {options, parse_option, "TRACE", documentation,
					 NULL,	  NULL,		NULL};
	const char *policy = NULL;
	uint64_t page_bytes = 0;
	struct um_curve_command command = {
		/* It writes no database: what is there does not matter. */
		.replay = {.policies = &policy,
			   .page_bytes = &page_bytes,
			   .xnack = UM_XNACK_UNKNOWN,
			   .force = true},
		.points = POINTS_DEFAULT,
		.jobs = processors(),
	};
	int error = 0;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		error = um_fail(UM_EINVAL, "cannot read the command line");
	if (!error)
		error = curve(&command);
	if (error)
		fprintf(stderr, "umsim: %s\n", um_error_message());
	return (int)um_exit_status(error);
}
