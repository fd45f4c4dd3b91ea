#include "calibrate_measure.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"
#include "trace/base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* The program uses 256 MiB at most, and never more than an eighth of what is free. */
#define FREE_MIB_LEAST 2048
/* Of each way to run it: the times are medians. */
#define REPETITIONS 3

struct measuring {
	const char *folder;
	bool quiet;
	char *tools;  /* the folder of umtrace and umhipcc */
	char *source; /* measure.hip */
	char *log, *program, *trace, *times, *all_times;
};

/* --- a program, and what it prints --- */

/* The last line of a file that says something, cut to fit; "" if there is none. */
static void last_line(const char *path, char *line, size_t capacity)
{
	FILE *file = fopen(path, "re");
	char text[512];

	line[0] = '\0';
	while (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		if (text[strspn(text, " \t")])
			snprintf(line, capacity, "%.300s", text);
	}
	if (file)
		fclose(file);
}

static int wait_for(pid_t child, const char *name, const char *log)
{
	char line[400];
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return um_fail_errno(UM_EIO, "waiting for %s", name);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	last_line(log, line, sizeof(line));
	if (WIFSIGNALED(status))
		return um_fail(UM_EIO, "%s ended with signal %d%s%s", name, WTERMSIG(status),
			       *line ? ": " : "", line);
	return um_fail(UM_EIO, "%s ended with status %d%s%s", name, WEXITSTATUS(status),
		       *line ? ": " : "", line);
}

/*
 * Runs words[0] with its standard output to `output` (NULL: the log) and all else to the log.
 * UM_ENOENT: there is no such program.
 */
static int run(const struct measuring *measuring, const char *const *words, const char *output)
{
	posix_spawn_file_actions_t files;
	pid_t child;
	int result;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, measuring->log,
					 O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (output)
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output,
						 O_WRONLY | O_CREAT | O_TRUNC, 0644);
	else
		posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	result = posix_spawnp(&child, words[0], &files, NULL, (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&files);
	if (result)
		return um_fail(result == ENOENT ? UM_ENOENT : UM_EIO, "%s: %s", words[0],
			       strerror(result));
	return wait_for(child, words[0], measuring->log);
}

static int in_folder(char **out, const char *folder, const char *name)
{
	if (asprintf(out, "%s/%s", folder, name) >= 0)
		return 0;
	*out = NULL;
	return um_fail(UM_ENOMEM, "out of memory");
}

static void tell(const struct measuring *measuring, const char *what)
{
	if (!measuring->quiet)
		fprintf(stderr, "umtrace calibrate: %s\n", what);
}

/* --- the card --- */

/* As nvidia-smi answers, in this order. */
struct card_answers {
	char name[64], driver[32], generation[16], lanes[16];
	unsigned major, minor; /* compute capability */
	unsigned long free_mib;
};

/* One line with commas between. */
static int read_answers(struct card_answers *card, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256] = "";

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%63[^,], %31[^,], %15[^,], %15[^,], %u.%u, %lu", card->name, card->driver,
		   card->generation, card->lanes, &card->major, &card->minor, &card->free_mib) != 7)
		return um_fail(UM_ENOTSUP, "nvidia-smi tells of no GPU: \"%.80s\"", line);
	return 0;
}

static int ask_card(const struct measuring *measuring, struct card_answers *card)
{
	static const char *const words[] = {
		"nvidia-smi",
		"-i",
		"0",
		"--query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.width.current,"
		"compute_cap,memory.free",
		"--format=csv,noheader,nounits",
		NULL};
	char message[256], *answers;
	int error = in_folder(&answers, measuring->folder, "nvidia-smi");

	if (error)
		return error;
	error = run(measuring, words, answers);
	if (error == UM_ENOENT) {
		error = um_fail(UM_ENOTSUP,
				"there is no nvidia-smi: is there an NVIDIA GPU and its "
				"driver?");
	} else if (error) {
		snprintf(message, sizeof(message), "%.200s", um_error_message());
		error = um_fail(UM_ENOTSUP, "no NVIDIA GPU answers: %s", message);
	} else {
		error = read_answers(card, answers);
	}
	unlink(answers);
	free(answers);
	if (!error && card->free_mib < FREE_MIB_LEAST)
		error = um_fail(UM_ELIMIT,
				"the GPU has %lu MiB free; %d are wanted, so that others are left "
				"alone",
				card->free_mib, FREE_MIB_LEAST);
	return error;
}

static void write_answers(FILE *file, const struct card_answers *card)
{
	time_t now = time(NULL);
	struct tm utc;
	char date[32] = "?";

	if (gmtime_r(&now, &utc))
		strftime(date, sizeof(date), "%Y-%m-%d", &utc);
	fprintf(file, "date\t%s\ngpu\t%s\ndriver\t%s\npcie\tgeneration %s, %s lanes\n", date,
		card->name, card->driver, card->generation, card->lanes);
}

static int append_file(FILE *out, const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return um_fail_errno(UM_EIO, "%s", path);
	for (int c; (c = fgetc(file)) != EOF;)
		fputc(c, out);
	bool failed = ferror(file);
	fclose(file);
	return failed ? um_fail(UM_EIO, "%s cannot be read", path) : 0;
}

/* Whether the card moves pages on demand, which measure --device says. */
static bool migrates_on_demand(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool it_does = false;

	while (file && fgets(line, sizeof(line), file))
		it_does |= strcmp(line, "concurrentManagedAccess\t1\n") == 0;
	if (file)
		fclose(file);
	return it_does;
}

static int write_machine(const struct measuring *measuring, const struct card_answers *card)
{
	const char *const words[] = {measuring->program, "--device", NULL};
	char *device, *machine = NULL;
	int error = in_folder(&device, measuring->folder, "device");

	if (!error)
		error = in_folder(&machine, measuring->folder, "machine.tsv");
	if (!error)
		error = run(measuring, words, device);
	FILE *file = error ? NULL : fopen(machine, "we");
	if (!error && !file)
		error = um_fail_errno(UM_EIO, "%s", machine);
	if (file) {
		write_answers(file, card);
		error = append_file(file, device);
		if (fclose(file) && !error)
			error = um_fail_errno(UM_EIO, "%s", machine);
	}
	if (!error && !migrates_on_demand(device))
		error = um_fail(UM_ENOTSUP,
				"%s does not migrate pages on demand "
				"(concurrentManagedAccess 0): nothing to calibrate",
				card->name);
	if (device)
		unlink(device);
	free(device);
	free(machine);
	return error;
}

/* --- the program --- */

static int build(const struct measuring *measuring, const struct card_answers *card)
{
	char message[512], arch[64], *compiler;
	int error = in_folder(&compiler, measuring->tools, "umhipcc");

	if (error)
		return error;
	snprintf(arch, sizeof(arch), "--offload-arch=sm_%u%u", card->major, card->minor);
	const char *const words[] = {compiler, "--nvidia",	  arch, "-O2",
				     "-g",     measuring->source, "-o", measuring->program,
				     NULL};
	tell(measuring, "building the measuring program");
	error = run(measuring, words, NULL);
	if (error) {
		snprintf(message, sizeof(message), "%.400s", um_error_message());
		error = um_fail(
			UM_ENOTSUP,
			"the measuring program cannot be built (nvcc of CUDA 12 or later is "
			"needed): %s",
			message);
	}
	free(compiler);
	return error;
}

/* Lines of measure --times, with the mode before each. */
static int keep_times(const struct measuring *measuring, const char *mode, int repetition)
{
	FILE *from = fopen(measuring->times, "re"), *to = fopen(measuring->all_times, "ae");
	char line[512];
	int error = 0;

	while (from && to && fgets(line, sizeof(line), from)) {
		char *name_end = strchr(line, '\t');
		char *rest = name_end ? strchr(name_end + 1, '\t') : NULL;

		if (rest)
			fprintf(to, "%s\t%d\t%.*s%s", mode, repetition, (int)(name_end - line),
				line, rest);
	}
	if (!from || !to)
		error = um_fail_errno(UM_EIO, "%s", from ? measuring->all_times : measuring->times);
	if (from)
		fclose(from);
	if (to && fclose(to) && !error)
		error = um_fail_errno(UM_EIO, "%s", measuring->all_times);
	return error;
}

/* One run in one mode; the last with faults leaves the trace. */
static int run_mode(const struct measuring *measuring, const char *mode, int repetition)
{
	char *times, *faults, *tracer;
	int error = 0;

	if (asprintf(&times, "--times=%s", measuring->times) < 0)
		times = NULL;
	if (asprintf(&faults, "--faults=%s", mode) < 0)
		faults = NULL;
	if (in_folder(&tracer, measuring->tools, "umtrace"))
		tracer = NULL;
	if (!times || !faults || !tracer)
		error = um_fail(UM_ENOMEM, "out of memory");
	const char *const untraced[] = {measuring->program, times, NULL};
	const char *const traced[] = {tracer,		"-q", "--force",	  faults, "-o",
				      measuring->trace, "--", measuring->program, times,  NULL};

	if (!error)
		error = run(measuring, strcmp(mode, "untraced") ? traced : untraced, NULL);
	if (!error)
		error = keep_times(measuring, mode, repetition);
	free(times);
	free(faults);
	free(tracer);
	return error;
}

static int run_all(const struct measuring *measuring)
{
	static const char *const modes[] = {"untraced", "off", "all"};
	int error = 0;

	for (int repetition = 1; repetition <= REPETITIONS && !error; repetition++)
		for (size_t mode = 0; mode < sizeof(modes) / sizeof(*modes) && !error; mode++) {
			char what[80];

			snprintf(what, sizeof(what), "measuring, %d of %d, %s", repetition,
				 REPETITIONS, modes[mode]);
			tell(measuring, what);
			error = run_mode(measuring, modes[mode], repetition);
		}
	return error;
}

/* --- putting it together --- */

static int find_tools(char **out)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return um_fail_errno(UM_EIO, "/proc/self/exe");
	path[length] = '\0';
	*strrchr(path, '/') = '\0';
	*out = strdup(path);
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int prepare(struct measuring *measuring)
{
	const struct {
		char **path;
		const char *name;
	} files[] = {{&measuring->log, "log"},
		     {&measuring->program, "measure"},
		     {&measuring->trace, "configurations.um.db"},
		     {&measuring->times, "times"},
		     {&measuring->all_times, "times.tsv"}};
	int error = find_tools(&measuring->tools);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !error; i++)
		error = in_folder(files[i].path, measuring->folder, files[i].name);
	if (!error)
		error = um_path_share(&measuring->source, "calibrate/tests/gpu/measure.hip");
	if (!error && access(measuring->source, R_OK) != 0)
		error = um_fail_errno(UM_ENOENT, "this umtrace is not complete: %s",
				      measuring->source);
	return error;
}

int um_calibrate_measure(const char *folder, bool quiet)
{
	struct measuring measuring = {.folder = folder, .quiet = quiet};
	struct card_answers card;
	int error = prepare(&measuring);

	if (!error)
		error = ask_card(&measuring, &card);
	if (!error)
		error = build(&measuring, &card);
	if (!error)
		error = write_machine(&measuring, &card);
	if (!error)
		error = run_all(&measuring);
	if (measuring.times)
		unlink(measuring.times);
	free(measuring.tools);
	free(measuring.source);
	free(measuring.log);
	free(measuring.program);
	free(measuring.trace);
	free(measuring.times);
	free(measuring.all_times);
	return error;
}
