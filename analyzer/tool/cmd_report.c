#include "command.h"
#include "skip_frames.h"

#include "analyzer/findings/baseline.h"
#include "analyzer/findings/finding.h"
#include "analyzer/render/render_findings.h"
#include "analyzer/render/render_report.h"
#include "analyzer/web/page.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <argp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_FORCE = 256, OPTION_NO_FINDINGS };

struct options {
	const char *paths[UM_REPORT_RUNS_MAX];
	size_t path_count;
	struct um_skip_frames skip;
	const char *output;
	bool force, quiet, no_findings;
};

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0,
	 "The page to write; default: the first TRACE, less .um.db, and .html", 0},
	{"force", OPTION_FORCE, NULL, 0, "Replace a file that is there already", 0},
	{"no-findings", OPTION_NO_FINDINGS, NULL, 0,
	 "Without what to change: looking for that replays the trace several times", 0},
	{"quiet", 'q', NULL, 0, "No talk on standard error", 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help[] =
	"One page of HTML that says what a run cost and why: what crossed the link when and on whose "
	"account, what to change and what that saves, page faults, kernels, phases, memory, pages by time, and a table each of allocations, "
	"kernels and phases. It holds everything, needs no network and asks for none."
	"\v"
	"Of several databases, as umsim replay writes them (\"app.um.db app.*.um.db\"), the page is about "
	"the first, and shows the others beside it.\n"
	"\n"
	"A page has at most 5 MiB: what is too much is added up in bins of time, and tables are cut, which "
	"the page says. Like the terminal's figures, each is marked as measured, emulated, modelled or "
	"inferred.\n"
	"\n"
	"Examples:\n"
	"  umanalyze report app.um.db\n"
	"  umanalyze report app.um.db app.xnack_on.um.db -o report.html";

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
	case OPTION_NO_FINDINGS:
		options->no_findings = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	case ARGP_KEY_ARG:
		if (options->path_count == UM_REPORT_RUNS_MAX)
			argp_error(state, "a page has room for %u databases", UM_REPORT_RUNS_MAX);
		options->paths[options->path_count++] = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* "dir/app.um.db" -> "dir/app.html"; malloc'ed. */
static char *default_output(const char *path)
{
	static const char ending[] = ".um.db";
	size_t bytes = strlen(path), tail = strlen(ending);
	char *out = NULL;

	if (bytes > tail && strcmp(path + bytes - tail, ending) == 0)
		bytes -= tail;
	if (asprintf(&out, "%.*s.html", (int)bytes, path) < 0)
		return NULL;
	return out;
}

/* --- databases --- */

static int make_scratch(char **out)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if (asprintf(out, "%s/umanalyze-XXXXXX", folder && *folder ? folder : "/tmp") < 0) {
		*out = NULL;
		return um_fail(UM_ENOMEM, "out of memory");
	}
	fd = mkstemp(*out);
	if (fd < 0) {
		int error = um_fail_errno(UM_EIO, "%s", *out);

		free(*out);
		*out = NULL;
		return error;
	}
	close(fd);
	return 0;
}

/*
 * Calls and driver have no common clock in an emulated trace: its charts are of a replay, which has. *out
 * stays NULL where the database needs none, and where it cannot be replayed, which is no error.
 */
static int replay_charts(struct um_db **out, struct um_db *db, const struct options *options)
{
	const struct um_findings_choice choice = {.skip_frames = options->skip.patterns};
	enum um_axis_kind kind = UM_AXIS_TIME;
	char *scratch = NULL;
	int error = um_axis_find_kind(&kind, db);

	if (error || kind == UM_AXIS_TIME)
		return error;
	error = make_scratch(&scratch);
	if (!error)
		error = um_baseline_write(scratch, db, &choice);
	if (!error)
		error = um_db_open(out, scratch);
	/* Open, it stays until it is closed. */
	if (scratch)
		unlink(scratch);
	free(scratch);
	return error == UM_ENOMEM || error == UM_EIO ? error : 0;
}

static int load_run(struct um_report_run **out, const struct options *options, size_t which)
{
	struct um_report_detail detail = um_report_detail(options->path_count);
	struct um_db *db, *replay = NULL;
	int error = um_db_open(&db, options->paths[which]);

	if (error)
		return error;
	error = replay_charts(&replay, db, options);
	if (!error)
		error = um_report_run_load(out, db, replay, options->skip.patterns, &detail);
	um_db_close(replay);
	um_db_close(db);
	return error;
}

/* --- what to change --- */

static void show_progress(void *context, size_t done, size_t all)
{
	(void)context;
	fprintf(stderr, "\rreplayed %zu of %zu", done, all);
	if (done == all)
		fputs("\r\033[K", stderr);
}

static int findings_json(json_t **out, const struct um_findings *findings)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	int error = memory ? um_render_findings_json(memory, findings) : UM_ENOMEM;

	if (memory && fclose(memory) != 0)
		error = UM_ENOMEM;
	*out = error ? NULL : json_loads(text, 0, NULL);
	free(text);
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

/*
 * Of the first database. Where there can be none (a simulation whose trace has gone, a machine that is not
 * here), the page says why and has all else.
 */
static int find(json_t **out, char **missing, const struct options *options)
{
	const struct um_findings_choice choice = {
		.skip_frames = options->skip.patterns,
		.progress = !options->quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	struct um_findings *findings;
	struct um_db *db;
	int error = um_db_open(&db, options->paths[0]);

	if (error)
		return error;
	error = um_findings_load(&findings, db, &choice);
	um_db_close(db);
	if (error == UM_ENOMEM)
		return error;
	if (error) {
		*missing = strdup(um_error_message());
		return *missing ? 0 : um_fail(UM_ENOMEM, "out of memory");
	}
	error = findings_json(out, findings);
	um_findings_destroy(findings);
	return error;
}

/* --- the file --- */

/* Written beside its name, which it gets when it is whole. */
static int open_page(FILE **out, char **partial, const char *path, bool force)
{
	int fd;

	if (!force && access(path, F_OK) == 0)
		return um_fail(UM_EEXIST, "%s is there already: --force replaces it", path);
	if (asprintf(partial, "%s.XXXXXX", path) < 0) {
		*partial = NULL;
		return um_fail(UM_ENOMEM, "out of memory");
	}
	fd = mkstemp(*partial);
	if (fd < 0) {
		free(*partial);
		*partial = NULL;
		return um_fail_errno(UM_EIO, "%s", path);
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	*out = fdopen(fd, "w");
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int close_page(FILE *out, const char *partial, const char *path, int error)
{
	if (out && fclose(out) != 0 && !error)
		error = um_fail_errno(UM_EIO, "%s", path);
	if (!error && rename(partial, path) != 0)
		error = um_fail_errno(UM_EIO, "%s", path);
	if (error && partial)
		unlink(partial);
	return error;
}

static void say(const struct options *options, const char *path, size_t bytes)
{
	char text[32];

	if (!options->quiet)
		fprintf(stderr, "umanalyze: %s: %s; open it with a browser\n", path,
			um_format_bytes(text, sizeof(text), bytes));
}

static int write_page(const struct options *options, const struct um_report *report)
{
	char *chosen = options->output ? NULL : default_output(options->paths[0]);
	const char *path = options->output ? options->output : chosen;
	char *partial = NULL;
	FILE *out = NULL;
	size_t bytes = 0;
	int error = path ? open_page(&out, &partial, path, options->force)
			 : um_fail(UM_ENOMEM, "out of memory");

	if (!error)
		error = um_render_report(out, um_page_template(), report, &bytes);
	if (partial)
		error = close_page(out, partial, path, error);
	if (!error)
		say(options, path, bytes);
	free(partial);
	free(chosen);
	return error;
}

static int make_report(const struct options *options)
{
	struct um_report_run *runs[UM_REPORT_RUNS_MAX] = {NULL};
	struct um_report report = {.runs = (const struct um_report_run *const *)runs,
				   .run_count = options->path_count};
	char *missing = NULL;
	int error = 0;

	if (!um_page_template())
		return um_fail(
			UM_ENOTSUP,
			"this umanalyze was built without the page (-DUM_WEB=OFF): configure with "
			"-DUM_WEB=ON, which takes Node.js 18 and npm (Debian: apt install nodejs "
			"npm); umanalyze summary shows the same as text");
	for (size_t i = 0; i < options->path_count && !error; i++)
		error = load_run(&runs[i], options, i);
	if (!error && !options->no_findings)
		error = find(&report.findings, &missing, options);
	report.findings_missing = missing;
	if (!error)
		error = write_page(options, &report);
	json_decref(report.findings);
	free(missing);
	for (size_t i = 0; i < options->path_count; i++)
		um_report_run_destroy(runs[i]);
	return error;
}

int um_cmd_report(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse, "TRACE...", help, NULL, NULL, NULL};
	static char name[] = "umanalyze report";
	struct options options = {0};

	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int error = make_report(&options);
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
