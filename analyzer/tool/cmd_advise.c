#include "command.h"
#include "replay_options.h"
#include "skip_frames.h"

#include "analyzer/findings/finding.h"
#include "trace/base/error.h"

#include <argp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_key { OPTION_FORCE = 256 };

struct options {
	const char *path, *output; /* output NULL or "-": standard output */
	struct um_findings_choice choice;
	struct um_skip_frames skip;
	bool force;
};

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "where to write the policy; default: standard output", 0},
	{"force", OPTION_FORCE, NULL, 0, "replace FILE if it is there already", 0},
	{"policy", 'P', "FILE", 0,
	 "the program as it would be under this policy, which the changes then go over; default: as it is, "
	 "or of a simulation, its policy",
	 0},
	UM_REPLAY_OPTIONS,
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"Writes a policy file with all changes of umanalyze findings that a policy can say. Each is "
	"replayed together with those before it, the largest first, and left out where the whole would be "
	"the worse for it; what remains is told at the head of the file."
	"\v"
	"  umanalyze advise app.um.db -o app.yaml\n"
	"  umsim replay app.um.db -P app.yaml\n"
	"\n"
	"Exit status: 0 also where there is nothing to change: then no file is written.";

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->output = argument;
		return 0;
	case OPTION_FORCE:
		options->force = true;
		return 0;
	case 'P':
		options->choice.policy = argument;
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
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
		return um_replay_option(&options->choice, key, argument, state);
	}
}

static int open_output(FILE **out, const struct options *options)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (options->force ? O_TRUNC : O_EXCL);
	int fd;

	*out = stdout;
	if (!options->output || strcmp(options->output, "-") == 0)
		return 0;
	fd = open(options->output, flags, 0666);
	*out = fd < 0 ? NULL : fdopen(fd, "w");
	if (*out)
		return 0;
	if (fd >= 0)
		close(fd);
	return um_fail_errno(UM_EEXIST, "%s (--force replaces it)", options->output);
}

static int write_policy(const struct options *options, const struct um_findings *findings)
{
	FILE *out;
	int error = open_output(&out, options);
	bool failed;

	if (error)
		return error;
	failed = fputs(findings->advice.policy, out) == EOF;
	failed |= (out == stdout ? fflush(out) : fclose(out)) != 0;
	if (failed)
		return um_fail_errno(UM_EIO, "writing");
	if (out != stdout)
		fprintf(stderr,
			"umanalyze: wrote %s: %zu change%s; to check: umsim replay %s -P %s\n",
			options->output, findings->advice.applied,
			findings->advice.applied == 1 ? "" : "s", options->path, options->output);
	return 0;
}

static int advise(const struct options *options)
{
	struct um_findings *findings;
	struct um_db *db;
	int error = um_db_open(&db, options->path);

	if (error)
		return error;
	error = um_findings_load(&findings, db, &options->choice);
	um_db_close(db);
	if (error)
		return error;
	if (findings->not_replayable)
		error = um_fail(UM_ENOTSUP, "%s: %s", options->path, findings->not_replayable);
	else if (!findings->advice.policy)
		fprintf(stderr,
			"umanalyze: %s: nothing that a policy could change for the better\n",
			options->path);
	else
		error = write_policy(options, findings);
	um_findings_destroy(findings);
	return error;
}

int um_cmd_advise(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "TRACE", help, NULL, NULL, NULL};
	static char name[] = "umanalyze advise";
	struct options options = {.choice = {.together = true}};
	int error;

	argv[0] = name;
	options.choice.skip_frames = options.skip.patterns;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	error = advise(&options);
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
