/* umsim check: a prediction beside what was measured. */
#include "check_command.h"
#include "command.h"

#include "sim/check/check_measured.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
	OPTION_AGAINST = 256,
	OPTION_ALL,
	OPTION_TEST_SET,
	OPTION_CHOICES,
	OPTION_MACHINE,
	OPTION_MAX_ERROR,
	OPTION_ALLOW_OTHER_CALLS,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"against", OPTION_AGAINST, "FILE", 0,
	 "Trace of the same program that umtrace measured on a GPU; several are repetitions of it, and "
	 "tell the card's own spread",
	 0},
	{"all", OPTION_ALL, "DIR", 0,
	 "In place of a trace: every measured trace of the folder beside its accesses, DIR/X.um.db beside "
	 "DIR/accesses/X.um.db, with the repetitions of DIR/figures.tsv and DIR/times.tsv",
	 0},
	{"test-set", OPTION_TEST_SET, "FILE", 0,
	 "With --all: names, one a line, whose errors are summed up apart", 0},
	{"choices", OPTION_CHOICES, "FILE", 0,
	 "With --all: \"program: policy policy ...\" a line, names of what was measured: whether the "
	 "prediction ranks them as the card did, and what following it costs",
	 0},
	{"policy", 'P', "FILE", 0, "Policy file, where the program was measured under one", 0},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine (umsim machine list), or a file; default: the policy's, then the one whose "
	 "device was measured",
	 0},
	{"max-error", OPTION_MAX_ERROR, "LIST", 0,
	 "Exit with status 3, and name what exceeds, where an error in total or of a range is beyond the "
	 "larger of that and the card's own spread, or the programs' calls differ: "
	 "bytes=1%,records=15%,time=25%. With --all: where the test set's median is beyond that, or its 90th "
	 "percentile beyond a second one: records=15%/35% (without --test-set, those of all)",
	 0},
	{"allow-other-calls", OPTION_ALLOW_OTHER_CALLS, NULL, 0,
	 "With --max-error: no status 3 only because the two programs' calls differ", 0},
	{"format", OPTION_FORMAT, "text|json|markdown|tsv", 0,
	 "Of the results on standard output; the last two with --all", 0},
	{"quiet", 'q', NULL, 0,
	 "Of what exceeds --max-error only how much it is; of --all not what was left out", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Replays ACCESSES (of umtrace, without a GPU) on the machine that was measured, and sets what is "
	"predicted beside what was measured there."
	"\v"
	"Both sides are counted alike: bytes each way and by cause, records (pieces on the link), CPU faults, "
	"fault batches of devices, remote maps, the transfers' times added up, those of kernels, of those "
	"kernels that faulted when they were measured, and how long a device ran something or a link moved "
	"pages. Times are predicted as under umtrace, with what recording costs (`tracing:` of the machine), "
	"the host taking what it took in the trace; what a kernel computes takes none. "
	"What the measured trace has no records of is not compared.\n\n"
	"Ranges that both traces have (NVTX, roctx) are compared one by one, the n-th of a name with the "
	"n-th; within them, or else in the whole run, the n-th launch with the n-th, and of allocations of one "
	"kind and size the n-th with the n-th.\n\n"
	"Allocations, advice, prefetches, attachments, copies, memsets and launches of both are compared in "
	"their order. Where they differ it says how many and the first, and marks with \"!\" the figures "
	"that are of another program. It warns where the machine, its driver or what the accesses were "
	"traced for is not the card that was measured.\n\n"
	"The error is (predicted - measured) / measured, of the median of the repetitions. A prediction is "
	"within the spread if some repetition had as little and some as much. It is beyond --max-error if it is "
	"not within the spread and its error is larger. LIST has quantities as the table "
	"or --format=json calls them (\"kernels with faults\", fault_kernel_time), or several at once: bytes, "
	"records, cpu_faults, batches, maps, time, causes.\n\n"
	"Examples:\n"
	"  umsim check app.um.db --against card.um.db\n"
	"  umsim check app.um.db --against card.um.db --max-error=bytes=1%,time=25%\n"
	"  umsim check app.um.db --against 1.um.db --against 2.um.db\n"
	"  umsim check --all traces/h200 --test-set=tests/gpu/test_set.txt\n"
	"  umsim check --all traces/h200 --test-set=tests/gpu/test_set.txt --max-error=time=15%/35%\n\n"
	"Exit status: 0 done, 1 failure, 2 usage (also traces that cannot be compared), 3 an error beyond "
	"--max-error, or nothing that it is about was measured, or it was of another program.";

static int parse_format(struct um_check_arguments *arguments, const char *text)
{
	static const struct {
		const char *name;
		enum um_check_format format;
	} formats[] = {{"text", UM_CHECK_TEXT},
		       {"json", UM_CHECK_JSON},
		       {"markdown", UM_CHECK_MARKDOWN},
		       {"tsv", UM_CHECK_TSV}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(formats[i].name, text) == 0) {
			arguments->format = formats[i].format;
			return 0;
		}
	return um_fail(UM_EINVAL, "no format '%s'; there are: text, json, markdown, tsv", text);
}

static int check_combination(const struct um_check_arguments *arguments)
{
	bool is_table = arguments->format == UM_CHECK_MARKDOWN || arguments->format == UM_CHECK_TSV;

	if (arguments->all && (arguments->accesses || arguments->against_count))
		return um_fail(UM_EINVAL, "--all takes a folder's traces, and no other");
	if (!arguments->all && um_check_limits_have_ninetieth(&arguments->limits))
		return um_fail(UM_EINVAL, "--max-error: a second percentage, of the 90th "
					  "percentile, is for --all");
	if (arguments->allow_other_calls && (arguments->all || !arguments->limits.count))
		return um_fail(UM_EINVAL, "--allow-other-calls is for --max-error of one program");
	if (!arguments->all && (arguments->test_set || arguments->choices || is_table))
		return um_fail(UM_EINVAL, "%s is for --all",
			       arguments->test_set  ? "--test-set"
			       : arguments->choices ? "--choices"
						    : "that format");
	if (arguments->all)
		return 0;
	if (!arguments->accesses)
		return um_fail(UM_EINVAL, "which trace of accesses?");
	if (!arguments->against_count)
		return um_fail(UM_EINVAL, "against what? --against names a measured trace");
	return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct um_check_arguments *arguments = state->input;
	int error = 0;

	switch (key) {
	case OPTION_AGAINST:
		arguments->against[arguments->against_count++] = value;
		break;
	case 'P':
		arguments->policy = value;
		break;
	case OPTION_ALL:
		arguments->all = value;
		break;
	case OPTION_TEST_SET:
		arguments->test_set = value;
		break;
	case OPTION_CHOICES:
		arguments->choices = value;
		break;
	case OPTION_MACHINE:
		arguments->machine = value;
		break;
	case OPTION_MAX_ERROR:
		error = um_check_limits_parse(&arguments->limits, value);
		break;
	case OPTION_ALLOW_OTHER_CALLS:
		arguments->allow_other_calls = true;
		break;
	case OPTION_FORMAT:
		error = parse_format(arguments, value);
		break;
	case 'q':
		arguments->quiet = true;
		break;
	case ARGP_KEY_ARG:
		if (arguments->accesses)
			argp_error(state, "one trace of accesses at a time");
		arguments->accesses = value;
		break;
	case ARGP_KEY_END:
		error = check_combination(arguments);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (error)
		argp_error(state, "%s", um_error_message());
	return 0;
}

static int print(const struct um_check_result *result)
{
	int error = result->arguments->format == UM_CHECK_JSON
			    ? um_check_print_json(stdout, result)
			    : um_check_print_text(stdout, result);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

/* --- one program --- */

static int check_against(const struct um_check_arguments *arguments, struct um_check_side *measured)
{
	struct um_check_side predicted = {0};
	struct um_check_model model = {0};
	struct um_check_comparison comparison = {0};
	int error = um_check_predict(&predicted, &model, arguments, arguments->accesses,
				     &measured->card, true);

	if (!error)
		error = um_check_compare(&comparison, &predicted, measured,
					 arguments->against_count);
	if (!error)
		error = print(&(struct um_check_result){arguments, &model, &predicted, measured,
							&comparison});
	if (!error)
		error = um_check_hold(arguments, &comparison);
	um_check_comparison_free(&comparison);
	um_check_model_free(&model);
	um_check_side_free(&predicted);
	return error;
}

static int check_one(const struct um_check_arguments *arguments)
{
	struct um_check_side *measured = calloc(arguments->against_count, sizeof(*measured));
	size_t read = 0;
	int error = measured ? 0 : um_fail(UM_ENOMEM, "no memory");

	while (!error && read < arguments->against_count) {
		error = um_check_measured_read(&measured[read], arguments->against[read]);
		read += error == 0;
	}
	if (!error)
		error = check_against(arguments, measured);
	for (size_t i = 0; i < read; i++)
		um_check_side_free(&measured[i]);
	free(measured);
	return error;
}

int um_cmd_check(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "ACCESSES\n--all DIR", documentation, NULL, NULL, NULL};
	struct um_check_arguments arguments = {.against = calloc((size_t)argc, sizeof(char *))};
	int error = 0;

	argp_err_exit_status = UM_EXIT_USAGE;
	if (!arguments.against)
		error = um_fail(UM_ENOMEM, "no memory");
	if (!error && argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		error = um_fail(UM_EINVAL, "cannot read the command line");
	if (!error)
		error = arguments.all ? um_check_all(&arguments) : check_one(&arguments);
	if (error)
		fprintf(stderr, "umsim: %s\n", um_error_message());
	free(arguments.against);
	return (int)um_exit_status(error);
}
