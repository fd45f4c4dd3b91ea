#include "rtc.h"
#include "api.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* "%s/%s", cut at PATH_MAX: then there is no such file. */
static void join(char out[PATH_MAX], const char *folder, const char *name)
{
	if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		out[0] = '\0';
}

/* --- files --- */

static char *read_whole(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rbe");
	struct stat status;
	char *data = NULL;

	*bytes = 0;
	if (file && !fstat(fileno(file), &status))
		data = calloc(1, (size_t)status.st_size + 1);
	if (data)
		*bytes = fread(data, 1, (size_t)status.st_size, file);
	if (file)
		fclose(file);
	return data;
}

/* Names the source as the program does, and asks for the addresses of what it wants the names of. */
static bool write_source(const struct um_rtc_program *program, const char *path)
{
	FILE *file = fopen(path, "wbe");

	if (!file)
		return false;
	fprintf(file, "#line 1 \"%s\"\n%s\n", program->name, program->source);
	for (size_t i = 0; i < program->expression_count; i++) {
		const char *e = program->expressions[i];

		e += strspn(e, " \t&");
		/* The host's half makes the compiler instantiate it. */
		fprintf(file, "#line 1 \"name expression\"\n");
		fprintf(file,
			"static __attribute__((used)) const void *um_rtc_host_%zu = "
			"(const void *)&(%s);\n",
			i, e);
		fprintf(file,
			"extern \"C\" __device__ __attribute__((used)) const void *" UM_RTC_VARIABLE
			" = (const void *)&(%s);\n",
			i, e);
	}
	return !fclose(file);
}

static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int failed = mkdir(path, 0700);

		*slash = '/';
		if (failed && errno != EEXIST)
			return false;
	}
	return true;
}

static bool write_headers(const struct um_rtc_program *program, const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < program->header_count; i++) {
		join(path, folder, program->headers[i].name);
		if (!make_folders(path))
			return false;
		FILE *file = fopen(path, "wbe");

		if (!file)
			return false;
		fputs(program->headers[i].text, file);
		if (fclose(file))
			return false;
	}
	return true;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

/* --- the compiler --- */

/* Beside this library: lib/umtrace/libamdhip64.so.5 and bin/umhipcc, installed or built. */
static bool find_compiler(char out[PATH_MAX])
{
	Dl_info info;
	char folder[PATH_MAX], *slash;

	if (!dladdr((void *)(uintptr_t)um_rtc_compile, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, folder))
		return false;
	slash = strrchr(folder, '/');
	*slash = '\0';
	join(out, folder, "../../bin/umhipcc");
	return !access(out, X_OK);
}

/* GPUs are not what this code is for. */
static bool names_a_gpu(const char *option)
{
	static const char *const prefixes[] = {"--gpu-architecture", "--offload-arch", "-arch"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(option, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0; /* the program has all children reaped: the output tells */
	return status;
}

/* Its exit status; -1 where it could not be started. */
static int run(char *const *arguments, const char *log)
{
	posix_spawn_file_actions_t actions;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log,
					 O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);

	posix_spawn_file_actions_destroy(&actions);
	errno = error;
	return error ? -1 : wait_for(child);
}

struct paths {
	char folder[PATH_MAX], source[PATH_MAX], code[PATH_MAX], log[PATH_MAX];
	char compiler[PATH_MAX];
};

static int run_compiler(struct paths *p, int option_count, const char *const *options)
{
	const char *fixed[] = {p->compiler,	    "--genco", "-include",
			       "hip/hip_runtime.h", "-I",      p->folder,
			       p->source,	    "-o",      p->code};
	size_t count = sizeof(fixed) / sizeof(*fixed);
	const char **arguments = calloc((size_t)option_count + count + 1, sizeof(*arguments));

	if (!arguments)
		return -1;
	memcpy(arguments, fixed, sizeof(fixed));
	for (int i = 0; i < option_count; i++)
		if (!names_a_gpu(options[i]))
			arguments[count++] = options[i];
	int status = run((char *const *)(uintptr_t)arguments, p->log);

	free(arguments);
	return status;
}

/* --- what comes of it --- */

static char *make_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *make_log(const char *format, ...)
{
	char *log = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&log, format, args) < 0)
		log = NULL;
	va_end(args);
	return log;
}

static void find_names(struct um_rtc_program *program)
{
	struct um_bundle_entry entry;
	char variable[64];

	if (um_bundle_find(&entry, program->code, program->code_bytes, UM_TARGET))
		return;
	for (size_t i = 0; i < program->expression_count; i++) {
		snprintf(variable, sizeof(variable), UM_RTC_VARIABLE, i);
		free(program->lowered[i]);
		program->lowered[i] = um_rtc_pointee(entry.image, entry.image_bytes, variable);
	}
}

static bool take_result(struct um_rtc_program *program, struct paths *p, int status)
{
	size_t bytes;

	free(program->code);
	free(program->log);
	program->code = NULL;
	if (status < 0) {
		program->log = make_log("umtrace: hiprtc compiles with umhipcc, which cannot be "
					"started (%s): it is neither beside this library, in "
					"../../bin, nor in PATH\n",
					strerror(errno));
		return false;
	}
	program->log = read_whole(p->log, &bytes);
	program->code = read_whole(p->code, &program->code_bytes);
	if (status || !program->code) {
		free(program->code);
		program->code = NULL;
		return false;
	}
	find_names(program);
	return true;
}

static bool compile_in(struct um_rtc_program *program, struct paths *p, int option_count,
		       const char *const *options)
{
	join(p->source, p->folder, "um_rtc_program.hip");
	join(p->code, p->folder, "um_rtc_program.co");
	join(p->log, p->folder, "um_rtc_program.log");
	if (!find_compiler(p->compiler))
		strcpy(p->compiler, "umhipcc");
	if (!write_source(program, p->source) || !write_headers(program, p->folder)) {
		free(program->log);
		program->log = make_log("umtrace: hiprtc cannot write to %s: %s\n", p->folder,
					strerror(errno));
		return false;
	}
	return take_result(program, p, run_compiler(p, option_count, options));
}

bool um_rtc_compile(struct um_rtc_program *program, int option_count, const char *const *options)
{
	const char *temporary = getenv("TMPDIR");
	struct paths *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	join(p->folder, temporary && *temporary ? temporary : "/tmp", "umtrace-hiprtc.XXXXXX");
	if (!mkdtemp(p->folder)) {
		free(program->log);
		program->log = make_log("umtrace: hiprtc cannot make the folder %s: %s\n",
					p->folder, strerror(errno));
		free(p);
		return false;
	}
	bool compiled = compile_in(program, p, option_count, options);

	nftw(p->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p);
	return compiled;
}
