#include "command.h"
#include "skip_frames.h"

#include "analyzer/query/ranks.h"
#include "analyzer/query/summary.h"
#include "analyzer/render/render_ranks.h"
#include "analyzer/render/render_summary.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char **paths; /* room for all words of the command line */
	size_t path_count;
	struct um_summary_choice choice;
	struct um_skip_frames skip;
	bool json;
	uint64_t rows;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default), or json: everything, for programs", 0},
	{"range", 'r', "NAME", 0,
	 "only what belongs to ranges of this name (NVTX, roctx), which may be a pattern: 'step*'",
	 0},
	{"rows", 'n', "N", 0, "at most N rows of a table in the text (default 20); 0: all", 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"What a trace of umtrace or a simulation of umsim holds, on one page: what was run where, "
	"which figures are measured, emulated or modelled, the bytes over the link by cause, the "
	"page faults, and a table each of the kernels and the allocations."
	"\v"
	"Columns: \"moved\" is pages that migrated, \"remote\" is lines accessed in place over the "
	"link, \"copied\" is explicit copies; \"in\" is to the GPU, \"out\" to the host. \"touched\" "
	"counts whole pages of 4 KiB, \"host pages\" the pages that the host touched between "
	"device operations, every time anew. \"reads\" and \"writes\" are those of the lanes, "
	"\"requests\" what is left of them once each wave's neighbours are served together.\n"
	"\n"
	"Of a measured run, \"GPU time\" is what kernels took on the GPU, \"remote maps\" the mappings "
	"that a driver made of memory elsewhere instead of moving it, and each transfer is one of the "
	"driver's own.\n"
	"\n"
	"Of several files, as the ranks of a job write them (\"app.*.um.db\"): a table of the ranks "
	"with the least, the median and the most, which of them stand out, and kernels and "
	"allocations added up over the ranks by name and line. What cannot be added up, as measured "
	"with modelled, other machines, drivers, policies or jobs, is shown apart; a rank that is there "
	"twice is refused.\n"
	"\n"
	"A trace can be read while it is still being recorded.";

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case 'r':
		options->choice.range = argument;
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	case 'n':
		if (um_parse_u64(argument, &options->rows))
			argp_error(state, "--rows: %s", um_error_message());
		return 0;
	case ARGP_KEY_ARG:
		options->paths[options->path_count++] = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_summary(const struct options *options)
{
	struct um_db *db;
	struct um_summary *summary;
	int error = um_db_open(&db, options->paths[0]);

	if (error)
		return error;
	error = um_summary_load(&summary, db, &options->choice);
	um_db_close(db);
	if (error)
		return error;
	error = options->json ? um_render_summary_json(stdout, summary)
			      : um_render_summary_text(stdout, summary, options->rows);
	um_summary_destroy(summary);
	return error;
}

/* One that cannot be read is told, and the others go on. The first error, if any. */
static int add_files(struct um_ranks *ranks, const struct options *options)
{
	int first_error = 0;

	for (size_t i = 0; i < options->path_count; i++) {
		int error = um_ranks_add(ranks, options->paths[i], &options->choice);

		if (error == UM_ENOMEM)
			return error;
		if (error)
			fprintf(stderr, "umanalyze: %s\n", um_error_message());
		first_error = first_error ? first_error : error;
	}
	if (first_error)
		um_fail(first_error, ranks->count ? "what is shown is without what was said above"
						  : "there is nothing to show");
	return first_error;
}

static int print_ranks(const struct options *options)
{
	struct um_ranks *ranks;
	int error = um_ranks_create(&ranks, &options->choice), unread;

	if (error)
		return error;
	unread = add_files(ranks, options);
	error = unread == UM_ENOMEM ? unread : um_ranks_finish(ranks);
	if (!error && ranks->count)
		error = options->json ? um_render_ranks_json(stdout, ranks)
				      : um_render_ranks_text(stdout, ranks, options->rows);
	um_ranks_destroy(ranks);
	return error ? error : unread;
}

int um_cmd_summary(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "TRACE...", help, NULL, NULL, NULL};
	static char name[] = "umanalyze summary";
	struct options options = {.rows = 20};

	argv[0] = name;
	options.choice.skip_frames = options.skip.patterns;
	options.paths = calloc((size_t)argc, sizeof(*options.paths));
	if (!options.paths) {
		fputs("umanalyze: out of memory\n", stderr);
		return UM_EXIT_FAILURE;
	}
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int error = options.path_count == 1 ? print_summary(&options) : print_ranks(&options);
	free(options.paths);
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
