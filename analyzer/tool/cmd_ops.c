#include "command.h"
#include "skip_frames.h"

#include "analyzer/query/ops.h"
#include "analyzer/render/render_ops.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 32

struct options {
	const char *path;
	struct um_ops_choice choice;
	struct um_skip_frames skip;
	const char *kinds[KINDS_MAX + 1];
	size_t kind_count;
	bool json, stacks;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default), or json: everything, for programs", 0},
	{"kind", 'k', "KIND,...", 0,
	 "only such calls: alloc, free, advise, prefetch, copy, memset, launch, ...; host: what the "
	 "host touched in between",
	 0},
	{"kernel", 'K', "PATTERN", 0, "only launches of kernels with such a name", 0},
	{"allocation", 'a', "PATTERN", 0,
	 "only what is about an allocation of this number (3 or #3) or such a name, and what gives "
	 "such a name to a part",
	 0},
	{"stream", 'S', "N", 0, "only calls on this stream; 0 is the null stream", 0},
	{"thread", 't', "N", 0, "only calls of this host thread; 1 is the first", 0},
	{"range", 'r', "NAME", 0,
	 "only calls within ranges (roctx, NVTX) of this name, which may be a pattern", 0},
	{"failed", 'e', NULL, 0, "only calls that returned an error", 0},
	{"stacks", 'c', NULL, 0, "with the whole call stack of each; '>' is the user's frame", 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"The program's calls of HIP in their order, one a line: what was asked of which allocation, "
	"what came of it, when it began after the run did and how long it took, and the line that "
	"called."
	"\v"
	"\"#3 grid.cells [0 B + 4 KiB]\" is 4 KiB from the start of allocation 3, which the program "
	"keeps in grid.cells.";

static void add_kind(struct options *options, const char *kind, struct argp_state *state)
{
	if (!um_ops_is_kind(kind)) {
		const char *meant = um_suggest(kind, &um_op_words[0].word, UM_OP_KINDS - 1,
					       sizeof(um_op_words[0]));

		if (meant)
			argp_error(state,
				   "--kind: no call is of kind \"%s\": did you mean "
				   "\"%s\"?",
				   kind, meant);
		else
			argp_error(state, "--kind: no call is of kind \"%s\"", kind);
	}
	if (options->kind_count == KINDS_MAX)
		argp_error(state, "--kind: more kinds than there are");
	options->kinds[options->kind_count++] = kind;
}

static int64_t parse_number(const char *text, const char *option, struct argp_state *state)
{
	uint64_t number = 0;

	if (um_parse_u64(text, &number))
		argp_error(state, "--%s: %s", option, um_error_message());
	if (number > INT32_MAX)
		argp_error(state, "--%s: there is none with so high a number", option);
	return (int64_t)number;
}

static error_t parse_choice(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;
	char *kind;

	switch (key) {
	case 'k':
		while ((kind = strsep(&argument, ",")))
			add_kind(options, kind, state);
		return 0;
	case 'K':
		options->choice.kernel = argument;
		return 0;
	case 'a':
		options->choice.allocation = argument;
		return 0;
	case 'S':
		options->choice.stream = parse_number(argument, "stream", state);
		return 0;
	case 't':
		options->choice.thread = parse_number(argument, "thread", state);
		return 0;
	case 'r':
		options->choice.range = argument;
		return 0;
	case 'e':
		options->choice.failed = true;
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case 'c':
		options->stacks = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "one trace at a time");
		options->path = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		return 0;
	default:
		return parse_choice(key, argument, state);
	}
}

static int keep_start(const void *row, void *context)
{
	*(int64_t *)context = ((const struct um_run_row *)row)->start_ns;
	return 0;
}

static int print_ops(const struct options *options)
{
	struct um_ops_output output = {
		.file = stdout, .stacks = options->stacks, .start_ns = UM_NULL};
	struct um_db *db;
	int error = um_db_open(&db, options->path);

	if (error)
		return error;
	error = um_db_run(db, keep_start, &output.start_ns);
	if (!error)
		error = um_ops_each(db, &options->choice,
				    options->json ? um_render_op_json : um_render_op_text, &output);
	if (!error && options->json)
		error = um_render_ops_json_end(&output);
	um_db_close(db);
	if (!error && fflush(stdout) != 0)
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

int um_cmd_ops(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "TRACE", help, NULL, NULL, NULL};
	static char name[] = "umanalyze ops";
	struct options options = {.choice = {.stream = UM_NULL, .thread = UM_NULL}};

	options.choice.kinds = options.kinds;
	options.choice.skip_frames = options.skip.patterns;
	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int error = print_ops(&options);
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
