#include "program.h"
#include "trace_options.h"

#include "trace/base/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/bin:/usr/bin" /* execvp(3), where PATH is not set */

/* --- finding it --- */

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static int take(char **out, char *path)
{
	*out = path;
	if (!path)
		return um_fail(UM_ENOMEM, "out of memory");
	if (is_file(path) && access(path, X_OK) == 0)
		return 0;
	int error = access(path, F_OK) != 0 ? UM_ENOENT : UM_EIO;

	if (error == UM_ENOENT)
		um_fail_errno(error, "%s", path);
	else if (is_file(path))
		um_fail_errno(error, "%s cannot be executed", path);
	else
		um_fail(error, "%s cannot be executed: it is a folder", path);
	free(path);
	*out = NULL;
	return error;
}

static char *join(const char *folder, size_t length, const char *name)
{
	char *path;

	if (length == 0)
		return strdup(name);
	return asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0 ? NULL : path;
}

int um_program_find(char **out, const char *name)
{
	const char *folders = getenv("PATH");
	int error = UM_ENOENT;

	if (!*name)
		return um_fail(error, "the name of the program is empty");
	if (strchr(name, '/'))
		return take(out, strdup(name));
	if (!folders)
		folders = DEFAULT_PATH;
	for (const char *folder = folders;; folder++) {
		size_t length = strcspn(folder, ":");
		char *path = join(folder, length, name);

		if (!path || is_file(path)) {
			error = take(out, path);
			if (error == 0)
				return 0;
		} else {
			free(path);
		}
		folder += length;
		if (!*folder)
			break;
	}
	return error == UM_ENOENT ? um_fail(error, "%s: no such program in PATH", name) : error;
}

static bool has_loader(int file, const Elf64_Ehdr *head)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(head->e_phoff + (uint64_t)i * sizeof(segment));

		if (pread(file, &segment, sizeof(segment), at) == sizeof(segment) &&
		    segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

bool um_program_is_static(const char *path)
{
	Elf64_Ehdr head;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return false;
	bool is_static = pread(file, &head, sizeof(head), 0) == sizeof(head) &&
			 !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
			 head.e_ident[EI_CLASS] == ELFCLASS64 && !has_loader(file, &head);
	close(file);
	return is_static;
}

static bool is_elf(const char *path)
{
	unsigned char magic[SELFMAG];
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return false;
	bool is = read(file, magic, sizeof(magic)) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
	close(file);
	return is;
}

/* --- starting it --- */

static const int held_back[] = {SIGCHLD, SIGTERM, SIGHUP};
/*
 * Of umtrace's own doing, from the start; then the keyboard's, which are the program's to answer.
 */
static const int ignored[] = {SIGXFSZ, SIGPIPE, SIGINT, SIGQUIT};
#define IGNORED	    (sizeof(ignored) / sizeof(*ignored))
#define IGNORED_OWN 2

_Static_assert(IGNORED == sizeof((struct um_program){0}.inherited) / sizeof(struct sigaction),
	       "one for each");

static void ignore(struct um_program *program, size_t first, size_t end)
{
	const struct sigaction action = {.sa_handler = SIG_IGN};

	for (size_t i = first; i < end; i++)
		sigaction(ignored[i], &action, &program->inherited[i]);
}

void um_program_init(struct um_program *program)
{
	*program = (struct um_program){0};
	ignore(program, 0, IGNORED_OWN);
}

static void block_signals(struct um_program *program)
{
	sigset_t block;

	sigemptyset(&program->signals);
	for (size_t i = 0; i < sizeof(held_back) / sizeof(*held_back); i++)
		sigaddset(&program->signals, held_back[i]);
	block = program->signals;
	for (size_t i = 0; i < IGNORED; i++)
		sigaddset(&block, ignored[i]);
	sigprocmask(SIG_BLOCK, &block, &program->mask);
}

static void ignore_signals(struct um_program *program)
{
	sigset_t mask = program->mask;

	ignore(program, IGNORED_OWN, IGNORED);
	for (size_t i = 0; i < sizeof(held_back) / sizeof(*held_back); i++)
		sigaddset(&mask, held_back[i]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* What is NULL stays as it is. */
static int set_injection(const struct um_injection *injection)
{
	const struct {
		const char *name, *value;
	} variables[] = {
		{UM_INJECTION_TAP, injection->tap},
		{UM_INJECTION_NVTX, injection->nvtx},
		{UM_INJECTION_TOOLS, injection->tools},
		{UM_INJECTION_PROFILE, injection->profile},
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (variables[i].value && setenv(variables[i].name, variables[i].value, 1))
			return -1;
	return 0;
}

static int set_environment(const struct um_program_start *start)
{
	const char *before = getenv("LD_PRELOAD");
	char *preload;

	if (asprintf(&preload, "%s%s%s", start->preload, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return -1;
	if (start->injection && set_injection(start->injection))
		return -1;
	return setenv("LD_PRELOAD", preload, 1) || setenv("UMTRACE_SPOOL", start->spool, 1);
}

/* In the child: the program, or the reason why not into `report`. */
static void become(const struct um_program *program, const struct um_program_start *start,
		   const struct sigaction *child_action, int report)
{
	sigaction(SIGCHLD, child_action, NULL);
	for (size_t i = 0; i < IGNORED_OWN; i++)
		sigaction(ignored[i], &program->inherited[i], NULL);
	sigprocmask(SIG_SETMASK, &program->mask, NULL);
	if (set_environment(start) != 0)
		;
	else if (is_elf(start->path))
		execv(start->path, start->words);
	else
		execvp(start->path, start->words);
	int number = errno;
	(void)!write(report, &number, sizeof(number));
	_exit(UM_TRACE_FAILED);
}

/* Waits until the child is the program; or says why it is not. */
static int await_exec(struct um_program *program, const char *name, int report)
{
	int number;
	ssize_t got;

	do
		got = read(report, &number, sizeof(number));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(number))
		return 0;
	waitpid(program->pid, NULL, 0);
	errno = number;
	return um_fail_errno(number == ENOENT ? UM_ENOENT : UM_EIO, "%s cannot be executed", name);
}

/* Two pipes, for the word to go on and for why it could not. */
static int make_pipes(int go[2], int report[2])
{
	if (pipe2(go, O_CLOEXEC) != 0)
		return um_fail_errno(UM_EIO, "cannot make a pipe");
	if (pipe2(report, O_CLOEXEC) == 0)
		return 0;
	int error = um_fail_errno(UM_EIO, "cannot make a pipe");
	close(go[0]);
	close(go[1]);
	return error;
}

/* In the child: until the word comes; never back where none will. */
static void await_word(int go[2])
{
	char word;
	ssize_t got;

	close(go[1]);
	do
		got = read(go[0], &word, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(UM_TRACE_FAILED);
}

int um_program_fork(struct um_program *program, const struct um_program_start *start)
{
	struct sigaction child_action, reap = {.sa_handler = SIG_DFL};
	int go[2], report[2];
	int error = make_pipes(go, report);

	if (error)
		return error;
	block_signals(program);
	/* An ignored SIGCHLD, which a parent may leave us, would take the status away. */
	sigaction(SIGCHLD, &reap, &child_action);
	program->pid = fork();
	if (program->pid == 0) {
		await_word(go);
		become(program, start, &child_action, report[1]);
	}
	close(go[0]);
	close(report[1]);
	program->go = go[1];
	program->report = report[0];
	if (program->pid > 0) {
		ignore_signals(program);
		return 0;
	}
	error = um_fail_errno(UM_EIO, "cannot start a process");
	close(go[1]);
	close(report[0]);
	sigprocmask(SIG_SETMASK, &program->mask, NULL);
	return error;
}

int um_program_start(struct um_program *program, const struct um_program_start *start)
{
	int error = program->pid > 0 ? 0 : um_program_fork(program, start);

	if (error)
		return error;
	/* One that was killed meanwhile says so when it is waited for. */
	(void)!write(program->go, "", 1);
	close(program->go);
	error = await_exec(program, start->words[0], program->report);
	close(program->report);
	if (error) {
		um_program_release(program);
		program->pid = 0;
	}
	return error;
}

void um_program_abandon(struct um_program *program)
{
	if (program->pid <= 0)
		return;
	close(program->go);
	close(program->report);
	waitpid(program->pid, NULL, 0);
	um_program_release(program);
	program->pid = 0;
}

/* --- waiting for it --- */

static bool has_ended(struct um_program *program)
{
	if (waitpid(program->pid, &program->wait_status, WNOHANG) == program->pid)
		program->ended = true;
	return program->ended;
}

void um_program_poll(struct um_program *program, bool block)
{
	const struct timespec no_time = {0};

	while (!has_ended(program)) {
		int number = block ? sigwaitinfo(&program->signals, NULL)
				   : sigtimedwait(&program->signals, NULL, &no_time);

		if (number == SIGTERM || number == SIGHUP)
			kill(program->pid, number);
		if (number < 0 && !block)
			return;
	}
}

void um_program_release(struct um_program *program)
{
	for (size_t i = IGNORED_OWN; i < IGNORED; i++)
		sigaction(ignored[i], &program->inherited[i], NULL);
	sigprocmask(SIG_SETMASK, &program->mask, NULL);
}

int um_program_exit_status(const struct um_program *program)
{
	return WIFSIGNALED(program->wait_status)
		       ? UM_TRACE_SIGNALLED + WTERMSIG(program->wait_status)
		       : WEXITSTATUS(program->wait_status);
}
