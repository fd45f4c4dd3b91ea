/*
 * fake_program SCRIPT [WORD...]: a program that uses the fake driver. WORDs, done in order:
 *   threads=N   plays the script in N threads instead of one
 *   fork        forks before the end; the child plays the script too and exits
 *   early-fork  forks before CUDA is used; both use it, and the first waits for the other
 *   run=COMMAND runs it with system()
 *   environ     prints the variables of tools that /proc/self/environ and environ hold
 *   descriptors prints how many there are; peak, how much memory it had at most
 *   script=FILE the script from now on
 *   late        plays the script again in a handler at exit
 *   handler     plays the script in a handler of SIGUSR1 too
 *   name=ADDRESS,BYTES,TEXT  calls um_name(), unname=ADDRESS um_unname(); push=TEXT and pop a range
 *   fork-names  does so in a child
 *   recording   prints what um_recording() says
 *   exit=N      ends with this status, crash with SIGSEGV, quick=N with _exit()
 */
#include "fake_cuda.h"
#include "trace/names/umtrace.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
#ifdef HAS_NVTX
/* As in programs that NVTX is compiled into. */
const char *const nvtx_variable = "NVTX_INJECTION64_PATH";
#endif
static const char *script;
static pid_t early_child;

__attribute__((noinline)) static void play(void)
{
	if (fake_cuda_play(script))
		_exit(99);
}

static void *play_thread(void *unused)
{
	(void)unused;
	play();
	return NULL;
}

static void play_threads(int count)
{
	pthread_t thread[64];

	for (int i = 0; i < count && i < 64; i++)
		pthread_create(thread + i, NULL, play_thread, NULL);
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(thread[i], NULL);
}

static void fork_and_play(void)
{
	pid_t child = fork();

	if (child == 0) {
		play();
		exit(0);
	}
	int status = 0;

	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

static void print_if_ours(const char *from, const char *variable)
{
	if (strstr(variable, "INJECTION64_PATH=") || !strncmp(variable, "UMTRACE_", 8))
		printf("%s %.*s\n", from, (int)strcspn(variable, "="), variable);
}

static void print_environment(void)
{
	static char text[1 << 20];
	FILE *file = fopen("/proc/self/environ", "r");
	size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
		print_if_ours("proc", text + at);
	for (char **variable = environ; *variable; variable++)
		print_if_ours("environ", *variable);
	if (file)
		fclose(file);
}

static void print_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	printf("descriptors %d\n", count - 3); /* ".", "..", and the folder's own */
}

static void on_signal(int number)
{
	signal(number, SIG_IGN); /* the script raises it again */
	play();
}

static void print_peak(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmHWM:", 6))
			printf("peak_kib %lu\n", strtoul(line + 6, NULL, 10));
	if (file)
		fclose(file);
}

static void name(const char *text)
{
	char *end;
	uintptr_t address = strtoull(text, &end, 0);
	size_t bytes = strtoull(end + 1, &end, 0);

	um_name((const void *)address, bytes, end + 1);
}

/* In the child: whether it is recorded is its status. */
static void fork_and_name(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		um_name((const void *)0x7f0000000000, 16, "of the child");
		um_range_push("of the child");
		_exit(um_recording());
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

static bool act_on_names(const char *word)
{
	if (!strncmp(word, "name=", 5))
		name(word + 5);
	else if (!strncmp(word, "unname=", 7))
		um_unname((const void *)(uintptr_t)strtoull(word + 7, NULL, 0));
	else if (!strncmp(word, "push=", 5))
		um_range_push(word + 5);
	else if (!strcmp(word, "fork-names"))
		fork_and_name();
	else if (!strcmp(word, "pop"))
		um_range_pop();
	else if (!strcmp(word, "recording"))
		printf("recording %d\n", um_recording());
	else
		return false;
	return true;
}

static void act(const char *word)
{
	if (act_on_names(word))
		;
	else if (!strncmp(word, "threads=", 8))
		play_threads(atoi(word + 8));
	else if (!strncmp(word, "script=", 7))
		script = word + 7;
	else if (!strcmp(word, "fork"))
		fork_and_play();
	else if (!strncmp(word, "run=", 4))
		(void)!system(word + 4);
	else if (!strcmp(word, "environ"))
		print_environment();
	else if (!strcmp(word, "peak"))
		print_peak();
	else if (!strcmp(word, "descriptors"))
		print_descriptors();
	else if (!strcmp(word, "late"))
		atexit(play);
	else if (!strcmp(word, "play"))
		play();
	else if (!strncmp(word, "exit=", 5))
		exit(atoi(word + 5));
	else if (!strncmp(word, "quick=", 6))
		_exit(atoi(word + 6));
	else if (!strcmp(word, "crash"))
		raise(SIGSEGV);
	fflush(stdout);
}

int main(int count, char **words)
{
	if (count < 2)
		return 2;
	script = words[1];
	for (int i = 2; i < count; i++) {
		if (!strcmp(words[i], "early-fork"))
			early_child = fork();
		if (!strcmp(words[i], "handler"))
			signal(SIGUSR1, on_signal);
		if (!strcmp(words[i], "early-recording"))
			printf("recording %d\n", um_recording());
		if (!strcmp(words[i], "late"))
			atexit(play); /* before the tap's own handler: runs after it */
	}
	if (cuInit(0))
		return 2;
	for (int i = 2; i < count; i++)
		if (strcmp(words[i], "late") != 0)
			act(words[i]);
	if (early_child > 0)
		waitpid(early_child, NULL, 0);
	return 0;
}
