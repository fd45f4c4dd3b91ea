/* Argument lists, child processes, and the folder of temporary files. */
#ifndef UM_CC_PROCESS_H
#define UM_CC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* NULL-terminated; owns its strings. Memory that runs out ends the program (um_argv_push). */
struct um_argv {
	char **items;
	size_t count;
};
void um_argv_push(struct um_argv *, const char *);
void um_argv_pushf(struct um_argv *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void um_argv_push_all(struct um_argv *, const struct um_argv *);
/* To stderr, each word in quotes, as clang -### has it. */
void um_argv_print(const struct um_argv *);
void um_argv_fini(struct um_argv *);

/*
 * Starts a program; its stdout and stderr go to the named files, NULL is ours. -1 with a message.
 */
pid_t um_spawn(const struct um_argv *, const char *stdout_path, const char *stderr_path);
/* Exit status as a shell has it: 128 + n after a signal. */
int um_wait(pid_t);
/* Both. 127 when the program cannot be started. */
int um_run(const struct um_argv *, const char *stdout_path, const char *stderr_path);

/*
 * Runs `work` in a child with a folder of its own, which is gone afterwards however the child
 * ended. Returns work's result; dies of the signal that the child or this process died of.
 */
int um_with_temporary_folder(int (*work)(const char *folder, void *context), void *context);

#endif
