#include "calibrate_command.h"

#include "calibrate_measure.h"
#include "sim/calibrate/calibrate.h"
#include "sim/machine/machine_file.h"
#include "trace/base/error.h"

#include <argp.h>
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum option_key { OPTION_FORCE = 256, OPTION_FROM, OPTION_TEST_SET, OPTION_KEEP };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Machine file to write; its name is the machine's", 0},
	{"force", OPTION_FORCE, NULL, 0, "Replace FILE", 0},
	{"quiet", 'q', NULL, 0, "Do not tell what is being done", 0},
	{"from", OPTION_FROM, "FOLDER", 0,
	 "Measure nothing: take the measurements that lie there (configurations.um.db, times.tsv, "
	 "machine.tsv)",
	 0},
	{"test-set", OPTION_TEST_SET, "FILE", 0,
	 "Configurations that have no part in it, one name a line; default: all have, and umsim check "
	 "--test-set then tests nothing",
	 0},
	{"keep", OPTION_KEEP, "FOLDER", 0,
	 "Leave the measurements there, where --from finds them; it must not exist yet", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Measures managed memory on this machine's NVIDIA GPU and writes a machine file for umsim and "
	"umtrace --machine: the card, its link, and what a batch of faults costs NVIDIA's driver there."
	"\v"
	"It builds a measuring program (nvcc of CUDA 12 or later) and runs it nine times, untraced and "
	"under umtrace, in about two minutes. At most 256 MiB of managed memory are in use at once; it "
	"stops where the GPU has less than 2 GiB free. The costs are those that fit the measured times "
	"best, and how far they are off stands beside them in the file.\n\n"
	"Examples:\n"
	"  umtrace calibrate -o node.yaml\n"
	"  umsim replay app.um.db --machine=./node.yaml -P x.yaml\n\n"
	"Exit status: 0, 1 failed, 2 wrong usage. A program that is called calibrate is traced by "
	"umtrace -- calibrate.";

struct arguments {
	const char *output, *from, *test_set, *keep;
	bool force, quiet;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'o':
		arguments->output = text;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case OPTION_FORCE:
		arguments->force = true;
		return 0;
	case OPTION_FROM:
		arguments->from = text;
		return 0;
	case OPTION_TEST_SET:
		arguments->test_set = text;
		return 0;
	case OPTION_KEEP:
		arguments->keep = text;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much", text);
		return EINVAL;
	case ARGP_KEY_END:
		if (!arguments->output)
			argp_error(state, "-o FILE says where the machine file goes");
		else if (arguments->from && arguments->keep)
			argp_error(state, "--keep is for measurements, and --from makes none");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- the machine file --- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* "dir/node.yaml" is "node"; at most 31 bytes of it. */
static void name_machine(char *name, size_t capacity, const char *output)
{
	const char *slash = strrchr(output, '/');
	const char *from = slash ? slash + 1 : output;

	snprintf(name, capacity, "%.*s", (int)(strrchr(from, '.') - from), from);
}

/* Whether it can stand between quotes as it is. */
static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			return false;
	return *name;
}

/* A machine file is a path that says so. */
static int check_output(const struct arguments *arguments)
{
	char name[32];

	if (!ends_with(arguments->output, ".yaml") && !ends_with(arguments->output, ".yml"))
		return um_fail(UM_EINVAL, "%s: a machine file's name ends in .yaml",
			       arguments->output);
	name_machine(name, sizeof(name), arguments->output);
	if (!is_plain(name))
		return um_fail(
			UM_EINVAL,
			"%s: the file's name is the machine's, and that is of ASCII letters, "
			"digits and marks other than \" and \\",
			arguments->output);
	if (!arguments->force && access(arguments->output, F_OK) == 0)
		return um_fail(UM_EEXIST, "%s exists (--force replaces it)", arguments->output);
	return 0;
}

/* Beside the output first, so that a file is whole or not there; nothing else is in its place. */
static int replace(const char *output, const char *text, size_t bytes)
{
	char *partial;
	int error = 0;

	if (asprintf(&partial, "%s.part", output) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	FILE *file = fopen(partial, "wxe");
	if (!file && errno == EEXIST)
		error = um_fail(UM_EEXIST,
				"%s is in the way: it is written first, and then renamed", partial);
	else if (!file)
		error = um_fail_errno(UM_EIO, "%s", partial);
	if (file && fwrite(text, 1, bytes, file) != bytes)
		error = um_fail_errno(UM_EIO, "%s", partial);
	if (file && fclose(file) && !error)
		error = um_fail_errno(UM_EIO, "%s", partial);
	if (!error && rename(partial, output))
		error = um_fail_errno(UM_EIO, "%s", output);
	if (error && file)
		unlink(partial);
	free(partial);
	return error;
}

/* Measurements may be of no machine that there can be: what would not be read is not written. */
static int check_text(const char *output, const char *text, size_t bytes)
{
	struct um_machine_spec *machine = NULL;
	int error = um_machine_parse(&machine, output, text, bytes);

	um_machine_spec_destroy(machine);
	if (!error || error == UM_ENOMEM)
		return error;
	return um_fail(UM_EFORMAT, "the measurements make no machine: %s", um_error_message());
}

static int write_output(const struct arguments *arguments, const struct um_calibration *calibration,
			const char *source)
{
	char name[32], *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	if (!file)
		return um_fail(UM_ENOMEM, "out of memory");
	name_machine(name, sizeof(name), arguments->output);
	int error = um_calibration_write(file, calibration, name, source);
	if (fclose(file) && !error)
		error = um_fail(UM_ENOMEM, "out of memory");
	if (!error)
		error = check_text(arguments->output, text, bytes);
	if (!error)
		error = replace(arguments->output, text, bytes);
	free(text);
	return error;
}

/* --- the measurements --- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

/* *folder: malloc'ed, made just now. */
static int make_folder(const struct arguments *arguments, char **folder)
{
	const char *base = getenv("TMPDIR");

	if (arguments->keep) {
		*folder = strdup(arguments->keep);
		if (*folder && mkdir(*folder, 0777))
			return um_fail_errno(errno == EEXIST ? UM_EEXIST : UM_EIO, "%s", *folder);
	} else {
		if (asprintf(folder, "%s/umtrace-calibrate-XXXXXX", base && *base ? base : "/tmp") <
		    0)
			*folder = NULL;
		if (*folder && !mkdtemp(*folder))
			return um_fail_errno(UM_EIO, "%s", *folder);
	}
	return *folder ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int measure(const struct arguments *arguments, struct um_calibration *calibration)
{
	char *folder = NULL, message[1024];
	int error = make_folder(arguments, &folder);

	if (error) {
		free(folder);
		return error;
	}
	error = um_calibrate_measure(folder, arguments->quiet);
	if (!error)
		error = um_calibrate(calibration, folder, arguments->test_set);
	if (!arguments->keep) {
		snprintf(message, sizeof(message), "%s", um_error_message());
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
		if (error)
			um_fail(error, "%s", message);
	}
	free(folder);
	return error;
}

static int calibrate(const struct arguments *arguments)
{
	struct um_calibration calibration;
	int error = check_output(arguments);

	if (!error)
		error = arguments->from
				? um_calibrate(&calibration, arguments->from, arguments->test_set)
				: measure(arguments, &calibration);
	if (!error)
		error = write_output(arguments, &calibration,
				     arguments->from ? arguments->from : "this machine's GPU");
	return error;
}

int um_calibrate_command(int argc, char **argv)
{
	const struct argp argp = {options, parse, "-o FILE", documentation, NULL, NULL, NULL};
	struct arguments arguments = {0};
	int error;

	argp_err_exit_status = UM_EXIT_USAGE;
	argp_program_version = NULL;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	error = calibrate(&arguments);
	if (error)
		fprintf(stderr, "umtrace calibrate: %s\n", um_error_message());
	else if (!arguments.quiet)
		fprintf(stderr, "umtrace calibrate: wrote %s\n", arguments.output);
	return (int)um_exit_status(error);
}
