#include "cc_process.h"

#include "trace/base/error.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void um_argv_push(struct um_argv *argv, const char *text)
{
	char **items = realloc(argv->items, (argv->count + 2) * sizeof *items);
	char *copy = strdup(text);

	if (!items || !copy) {
		fputs("umhipcc: out of memory\n", stderr);
		_exit(1);
	}
	argv->items = items;
	items[argv->count++] = copy;
	items[argv->count] = NULL;
}

void um_argv_pushf(struct um_argv *argv, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	um_argv_push(argv, text ? text : "");
	free(text);
}

void um_argv_push_all(struct um_argv *argv, const struct um_argv *more)
{
	for (size_t i = 0; i < more->count; i++)
		um_argv_push(argv, more->items[i]);
}

void um_argv_print(const struct um_argv *argv)
{
	for (size_t i = 0; i < argv->count; i++)
		fprintf(stderr, " \"%s\"", argv->items[i]);
	fputc('\n', stderr);
}

void um_argv_fini(struct um_argv *argv)
{
	for (size_t i = 0; i < argv->count; i++)
		free(argv->items[i]);
	free(argv->items);
	*argv = (struct um_argv){0};
}

static void redirect(const char *path, int descriptor)
{
	int file;

	if (!path)
		return;
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file >= 0)
		dup2(file, descriptor);
}

pid_t um_spawn(const struct um_argv *argv, const char *stdout_path, const char *stderr_path)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return um_fail_errno(-1, "cannot start %s", argv->items[0]);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	redirect(stdout_path, STDOUT_FILENO);
	redirect(stderr_path, STDERR_FILENO);
	execvp(argv->items[0], argv->items);
	fprintf(stderr, "umhipcc: cannot run %s: %m (Debian's packages clang-15 and lld-15)\n",
		argv->items[0]);
	_exit(127);
}

int um_wait(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		continue;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int um_run(const struct um_argv *argv, const char *stdout_path, const char *stderr_path)
{
	pid_t child = um_spawn(argv, stdout_path, stderr_path);

	return child < 0 ? 127 : um_wait(child);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static volatile sig_atomic_t worker, caught;

static void pass_on(int signal_number)
{
	caught = signal_number;
	if (worker)
		kill((pid_t)worker, signal_number);
}

static void catch_signals(void (*handler)(int))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = handler};

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

int um_with_temporary_folder(int (*work)(const char *folder, void *context), void *context)
{
	const char *base = getenv("TMPDIR");
	char folder[1024];
	int status;

	snprintf(folder, sizeof folder, "%s/umhipcc-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(folder)) {
		fprintf(stderr, "umhipcc: cannot make a temporary folder %s: %m\n", folder);
		return 1;
	}
	catch_signals(pass_on);
	fflush(NULL);
	worker = fork();
	if (!worker) {
		catch_signals(SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		status = work(folder, context);
		fflush(NULL);
		_exit(status);
	}
	status = worker < 0 ? 1 : um_wait((pid_t)worker);
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	if (caught || status > 128) {
		catch_signals(SIG_DFL);
		raise(caught ? (int)caught : status - 128);
	}
	return status;
}
