#include "verify_command.h"

#include "verify_table.h"

#include "trace/base/error.h"
#include "trace/base/shell_quote.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_REPEATS	       3
#define DEFAULT_TOLERANCE      0.05
#define DEFAULT_TIME_TOLERANCE 0.2
#define TOOL_STATUSES	       125 /* of umtrace itself, from here to 127 */

enum option_key {
	OPTION_REPEAT = 256,
	OPTION_TOLERANCE,
	OPTION_TIME_TOLERANCE,
	OPTION_ACCESSES,
	OPTION_MACHINE,
	OPTION_KEEP,
	OPTION_FORMAT,
};

static const struct argp_option options[] = {
	{"policy", 'P', "FILE", 0, "The policy", 0},
	{"repeat", OPTION_REPEAT, "N", 0, "Runs without it and under it, each; default: 3", 0},
	{"tolerance", OPTION_TOLERANCE, "PERCENT", 0,
	 "How far the predicted change of bytes and faults may lie outside the achieved ones, in percent of what there "
	 "was without the policy; default: 5",
	 0},
	{"time-tolerance", OPTION_TIME_TOLERANCE, "PERCENT", 0, "The same of the time; default: 20",
	 0},
	{"accesses", OPTION_ACCESSES, "TRACE", 0,
	 "On a GPU, which does not tell what kernels touch: the trace of the same program without one, that the "
	 "prediction is made from",
	 0},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine that is predicted for; default: the policy's, then the one of the trace", 0},
	{"keep", OPTION_KEEP, "FOLDER", 0, "Leave the traces there; it must not exist yet", 0},
	{"format", OPTION_FORMAT, "text|json", 0, "Of the result on standard output", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Runs PROGRAM without a policy and under it, and sets the change that was predicted beside the one that was "
	"achieved: bytes over the link each way, page faults, time."
	"\v"
	"Without a GPU the achieved figures are the driver model's too, of what the program did under the policy: they "
	"show that the policy was applied as it was simulated. On an NVIDIA GPU they are measured.\n\n"
	"PROGRAM's output goes to standard error. A run that ends with another status than the first is an error.\n\n"
	"Examples:\n"
	"  umtrace verify -P x.yaml ./app\n"
	"  umtrace verify -P x.yaml --repeat 5 --accesses app.um.db --machine h200 ./app_on_gpu\n\n"
	"Exit status: 0, 1 failed, 2 wrong usage, 3 a change was missed by more than the tolerance.";

struct arguments {
	const char *policy, *accesses, *machine, *keep;
	struct um_verify verify;
	bool json;
	char **program;
};

static int parse_percent(double *out, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(value >= 0) || value > 1000)
		return um_fail(UM_EINVAL, "'%s' is no percentage", text);
	*out = value / 100;
	return 0;
}

static int parse_repeat(size_t *out, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value < 1 || value > UM_VERIFY_REPEATS_MAX)
		return um_fail(UM_EINVAL, "--repeat: '%s' is none of 1 to %d", text,
			       UM_VERIFY_REPEATS_MAX);
	*out = value;
	return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	int error = 0;

	switch (key) {
	case 'P':
		arguments->policy = text;
		break;
	case OPTION_REPEAT:
		error = parse_repeat(&arguments->verify.repeats, text);
		break;
	case OPTION_TOLERANCE:
		error = parse_percent(&arguments->verify.tolerance, text);
		break;
	case OPTION_TIME_TOLERANCE:
		error = parse_percent(&arguments->verify.time_tolerance, text);
		break;
	case OPTION_ACCESSES:
		arguments->accesses = text;
		break;
	case OPTION_MACHINE:
		arguments->machine = text;
		break;
	case OPTION_KEEP:
		arguments->keep = text;
		break;
	case OPTION_FORMAT:
		arguments->json = strcmp(text, "json") == 0;
		if (!arguments->json && strcmp(text, "text") != 0)
			error = um_fail(UM_EINVAL, "--format: '%s' is neither text nor json", text);
		break;
	case ARGP_KEY_ARG:
		arguments->program = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		if (!arguments->policy)
			argp_error(state, "which policy? (-P)");
		if (!arguments->program)
			argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (error)
		argp_error(state, "%s", um_error_message());
	return 0;
}

/* --- running --- */

struct session {
	const struct arguments *arguments;
	struct um_verify *verify;
	char folder[4096];
	int status; /* of the first run of the program */
	bool has_run;
};

static void trace_path(char path[4200], const struct session *session, int side, size_t run)
{
	snprintf(path, 4200, "%s/%s.%zu.um.db", session->folder, side ? "applied" : "baseline",
		 run + 1);
}

/* In the child: this same program, its standard output where no result is. */
static void become_umtrace(const struct session *session, int side, const char *output)
{
	const struct arguments *arguments = session->arguments;
	char baseline[4200];
	const char *words[16 + 1];
	size_t count = 0, program = 0;

	trace_path(baseline, session, 0, 0);
	words[count++] = "umtrace";
	words[count++] = "-q";
	words[count++] = "--no-model";
	words[count++] = "--faults=all";
	words[count++] = "-o";
	words[count++] = output;
	if (side) {
		words[count++] = "-P";
		words[count++] = arguments->policy;
		words[count++] = "--baseline";
		words[count++] = baseline;
	}
	words[count++] = "--";
	while (arguments->program[program])
		program++;
	char **all = calloc(count + program + 1, sizeof(*all));

	if (!all)
		_exit(TOOL_STATUSES);
	memcpy(all, words, count * sizeof(*all));
	memcpy(all + count, arguments->program, program * sizeof(*all));
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv("/proc/self/exe", all);
	_exit(TOOL_STATUSES);
}

static int run_once(struct session *session, int side, const char *output)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return um_fail_errno(UM_EIO, "cannot start umtrace");
	if (child == 0)
		become_umtrace(session, side, output);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return um_fail_errno(UM_EIO, "cannot wait for umtrace");
	if (!WIFEXITED(status))
		return um_fail(UM_EIO, "umtrace was ended by signal %d", WTERMSIG(status));
	status = WEXITSTATUS(status);
	if (access(output, R_OK) != 0)
		return um_fail(UM_EIO, "%s could not be run under umtrace (status %d)",
			       session->arguments->program[0], status);
	if (session->has_run && status != session->status)
		return um_fail(UM_EIO, "%s ended with status %d, and with %d the first time",
			       session->arguments->program[0], status, session->status);
	session->status = status;
	session->has_run = true;
	return 0;
}

/* --- figures --- */

static int note_figures(struct session *session, int side, size_t run, const char *path)
{
	struct um_verify *verify = session->verify;
	struct um_verify_run *out = &verify->achieved[side][run];
	char message[1024];
	struct um_db *db;
	int error = um_db_open(&db, path);

	if (error)
		return error;
	if (side == 0 && run == 0)
		error = um_verify_is_measured(&verify->measured, db);
	if (!error)
		error = verify->measured
				? um_verify_measured(out, db)
				: um_verify_simulate(out, db, session->arguments->policy,
						     session->arguments->machine, false, true);
	snprintf(message, sizeof(message), "%s", um_error_message());
	um_db_close(db);
	return error ? um_fail(error, "%s", message) : 0;
}

static int run_all(struct session *session)
{
	char path[4200];
	int error = 0;

	for (int side = 0; side < 2 && !error; side++)
		for (size_t run = 0; run < session->verify->repeats && !error; run++) {
			trace_path(path, session, side, run);
			error = run_once(session, side, path);
			if (!error)
				error = note_figures(session, side, run, path);
		}
	return error;
}

static int predict(struct session *session)
{
	const struct arguments *arguments = session->arguments;
	struct um_verify *verify = session->verify;
	char path[4200], message[1024];
	struct um_db *db;

	if (verify->measured && !arguments->accesses)
		return um_fail(
			UM_EINVAL,
			"%s ran on a GPU, which does not tell what its kernels touch: --accesses names a "
			"trace of it without one",
			arguments->program[0]);
	trace_path(path, session, 0, 0);
	int error = um_db_open(&db, arguments->accesses ? arguments->accesses : path);

	for (int side = 0; side < 2 && !error; side++)
		error = um_verify_simulate(&verify->predicted[side], db, arguments->policy,
					   arguments->machine, side == 1, !verify->measured);
	snprintf(message, sizeof(message), "%s", um_error_message());
	um_db_close(db);
	return error ? um_fail(error, "%s", message) : 0;
}

static void remove_traces(const struct session *session)
{
	char path[4200];

	for (int side = 0; side < 2; side++)
		for (size_t run = 0; run < session->verify->repeats; run++) {
			trace_path(path, session, side, run);
			unlink(path);
		}
	rmdir(session->folder);
}

static int make_folder(struct session *session)
{
	const char *keep = session->arguments->keep, *temporary = getenv("TMPDIR");

	if (keep) {
		snprintf(session->folder, sizeof(session->folder), "%s", keep);
		return mkdir(keep, 0777) ? um_fail_errno(UM_EIO, "--keep %s", keep) : 0;
	}
	snprintf(session->folder, sizeof(session->folder), "%s/umtrace-verify-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	return mkdtemp(session->folder) ? 0
					: um_fail_errno(UM_EIO, "cannot make %s", session->folder);
}

static int verify(struct session *session)
{
	int error = make_folder(session);

	if (error)
		return error;
	error = run_all(session);
	if (!error)
		error = predict(session);
	if (!session->arguments->keep)
		remove_traces(session);
	if (error)
		return error;
	return session->arguments->json ? um_verify_print_json(stdout, session->verify)
					: um_verify_print(stdout, session->verify);
}

int um_verify_command(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[--] PROGRAM [ARGUMENT...]", documentation, NULL, NULL, NULL};
	struct arguments *arguments = calloc(1, sizeof(*arguments));
	struct session session = {.arguments = arguments};
	int status = 1;

	if (!arguments)
		return 1;
	arguments->verify.repeats = DEFAULT_REPEATS;
	arguments->verify.tolerance = DEFAULT_TOLERANCE;
	arguments->verify.time_tolerance = DEFAULT_TIME_TOLERANCE;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, arguments);
	char *command = um_shell_quote(arguments->program);

	arguments->verify.policy = arguments->policy;
	arguments->verify.command = command ? command : arguments->program[0];
	session.verify = &arguments->verify;
	if (verify(&session) != 0)
		fprintf(stderr, "umtrace: %s\n", um_error_message());
	else
		status = um_verify_is_missed(session.verify) ? 3 : 0;
	free(command);
	free(arguments);
	return status;
}
