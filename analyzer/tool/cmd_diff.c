#include "command.h"
#include "skip_frames.h"

#include "analyzer/query/diff.h"
#include "analyzer/query/diff_limits.h"
#include "analyzer/render/render_diff.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"
#include "trace/base/units.h"

#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum option_key { OPTION_MAX_CHANGE = 256 };

struct options {
	const char *paths[UM_DIFF_SIDES];
	size_t path_count;
	struct um_skip_frames skip;
	bool json;
	uint64_t rows;
	struct um_diff_limits limits;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default), or json: everything, for programs", 0},
	{"rows", 'n', "N", 0, "at most N rows of a table in the text (default 20); 0: all", 0},
	{"max-change", OPTION_MAX_CHANGE, "LIST", 0,
	 "exit with status 3 if a figure in total differs by more, in percent of A's: bytes=1%,time=10%. "
	 "Groups are bytes, time and counts; figures have the names that JSON has",
	 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"Two traces or simulations beside each other: what was measured and what was predicted, a "
	"program before and after a change, two policies. In total, by kernel and by allocation, "
	"what differs most first."
	"\v"
	"Each figure stands with its origin. What cannot be compared is shown and not compared, with "
	"the reason: times of an emulation, what one of the two does not tell, faults as a GPU's driver "
	"tells them with faults of a model. Kernels are the same by their names, the n-th allocation of a "
	"kind and size is the n-th; of those left over, the n-th of a size.\n"
	"\n"
	"How good a prediction is, with the card's own spread, says umsim check.\n"
	"\n"
	"Exit status: 3 if a figure is beyond --max-change, or none of its figures can be compared.";

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	case 'n':
		if (um_parse_u64(argument, &options->rows))
			argp_error(state, "--rows: %s", um_error_message());
		return 0;
	case OPTION_MAX_CHANGE:
		if (um_diff_limits_parse(&options->limits, argument))
			argp_error(state, "%s", um_error_message());
		return 0;
	case ARGP_KEY_ARG:
		if (options->path_count == UM_DIFF_SIDES)
			argp_error(state, "two files are compared; \"%s\" is a third", argument);
		options->paths[options->path_count++] = argument;
		return 0;
	case ARGP_KEY_END:
		if (options->path_count < UM_DIFF_SIDES)
			argp_error(state, "which two files?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void tell_beyond(void *context, enum um_diff_quantity quantity, int64_t a, int64_t b,
			double limit)
{
	(void)context;
	fprintf(stderr,
		"umanalyze: %s: %" PRId64 " in A, %" PRId64 " in B, beyond --max-change of %g %%\n",
		um_diff_quantities[quantity].name, a, b, 100 * limit);
}

static int hold_limits(const struct options *options, const struct um_diff *diff)
{
	long beyond = options->limits.any
			      ? um_diff_limits_hold(&options->limits, diff, tell_beyond, NULL)
			      : 0;

	if (beyond < 0)
		return (int)beyond;
	return beyond ? um_fail(UM_ECHECK, "%ld figure%s beyond --max-change", beyond,
				beyond == 1 ? " is" : "s are")
		      : 0;
}

static int print_diff(const struct options *options)
{
	struct um_diff *diff;
	int error = um_diff_load(&diff, options->paths, options->skip.patterns);

	if (error)
		return error;
	error = options->json ? um_render_diff_json(stdout, diff)
			      : um_render_diff_text(stdout, diff, options->rows);
	if (!error)
		error = hold_limits(options, diff);
	um_diff_destroy(diff);
	return error;
}

int um_cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "A B", help, NULL, NULL, NULL};
	static char name[] = "umanalyze diff";
	struct options options = {.rows = 20};

	argv[0] = name;
	um_diff_limits_init(&options.limits);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int error = print_diff(&options);

	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
