#include "command.h"
#include "replay_options.h"
#include "skip_frames.h"

#include "analyzer/findings/finding.h"
#include "analyzer/render/render_findings.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_key { OPTION_LIST = 256 };

struct options {
	const char *path;
	struct um_findings_choice choice;
	struct um_skip_frames skip;
	bool json, list, quiet;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default), or json: everything, for programs", 0},
	{"all", 'a', NULL, 0,
	 "also what is too small to matter: each change is replayed, and those that save less than 1 % "
	 "are shown",
	 0},
	{"only", 'o', "FINDING", 0, "only this one (--list has them)", 0},
	{"list", OPTION_LIST, NULL, 0, "what there is to be found, and end", 0},
	{"policy", 'P', "FILE", 0,
	 "the program as it would be under this policy; default: as it is, or of a simulation, its "
	 "policy",
	 0},
	UM_REPLAY_OPTIONS,
	{"quiet", 'q', NULL, 0, "no progress on standard error", 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"What the program does to its pages that costs more than it has to: where in the source, how "
	"many bytes and how much time, and which change of that line saves how much. Each saving is the "
	"difference between two replays of the trace, without the change and with it; a change that "
	"saves nothing there is not shown. The largest come first."
	"\v"
	"Columns: as of umsim replay. \"end\" is when the program ends where the host takes no time but "
	"to wait: it compares, and does not foretell how long the program runs.\n"
	"\n"
	"umanalyze advise writes all changes that a policy file can say into one.";

static error_t parse_more(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	default:
		return um_replay_option(&options->choice, key, argument, state);
	}
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case 'a':
		options->choice.all = true;
		return 0;
	case 'o':
		options->choice.only = argument;
		return 0;
	case 'P':
		options->choice.policy = argument;
		return 0;
	case OPTION_LIST:
		options->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "one trace at a time");
		options->path = argument;
		return 0;
	case ARGP_KEY_END:
		if (!options->path && !options->list)
			argp_error(state, "which trace?");
		return 0;
	default:
		return parse_more(key, argument, state);
	}
}

static void show_progress(void *context, size_t done, size_t all)
{
	(void)context;
	fprintf(stderr, "\rreplayed %zu of %zu", done, all);
	if (done == all)
		fputs("\r\033[K", stderr);
}

static int print_findings(const struct options *options)
{
	const struct um_findings_style style = {
		.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.folded = options->choice.all,
	};
	struct um_findings *findings;
	struct um_db *db;
	int error = um_db_open(&db, options->path);

	if (error)
		return error;
	error = um_findings_load(&findings, db, &options->choice);
	um_db_close(db);
	if (error)
		return error;
	error = options->json ? um_render_findings_json(stdout, findings)
			      : um_render_findings_text(stdout, findings, &style);
	um_findings_destroy(findings);
	return error;
}

int um_cmd_findings(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "TRACE", help, NULL, NULL, NULL};
	static char name[] = "umanalyze findings";
	struct options options = {0};
	int error;

	argv[0] = name;
	options.choice.skip_frames = options.skip.patterns;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.quiet && isatty(STDERR_FILENO))
		options.choice.progress = show_progress;
	error = options.list ? um_render_finding_rules(stdout) : print_findings(&options);
	if (!error && fflush(stdout) != 0)
		error = um_fail_errno(UM_EIO, "writing");
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
