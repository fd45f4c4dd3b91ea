/*
 * The program that is traced: found, started in the foreground, waited for. It has umtrace's own
 * input, output, descriptors, process group and signals; only its environment differs. umtrace
 * meanwhile leaves the keyboard's signals to it and passes on SIGTERM and SIGHUP.
 */
#ifndef UM_PROGRAM_H
#define UM_PROGRAM_H

#include "injection.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct um_program {
	pid_t pid;	/* 0: there is none yet */
	int go, report; /* pipes, until it is the program */
	bool ended;
	int wait_status;	       /* as of waitpid(2), once it has ended */
	sigset_t signals;	       /* held back from umtrace while it waits */
	sigset_t mask;		       /* as umtrace was started with, and what it did about */
	struct sigaction inherited[4]; /* those that it now ignores */
};

struct um_program_start {
	const char *path; /* of um_program_find() */
	char **words;
	const char *preload; /* libraries, before those of LD_PRELOAD */
	const char *spool;
	const struct um_injection *injection; /* NULL: none */
};

/*
 * The file that execvp(3) would run, malloc'ed. UM_ENOENT: there is none; UM_EIO: it cannot be
 * executed.
 */
int um_program_find(char **out, const char *name);
/* An ELF file that no dynamic loader starts, so that nothing can be preloaded. */
bool um_program_is_static(const char *path);

/*
 * First of all: from here on a file that may not grow, or a terminal that has gone, is an error of
 * umtrace's and not its end.
 */
void um_program_init(struct um_program *);
/*
 * Makes the process that is to be the program and lets it wait, so that its number is known; `start` and
 * all in it must be as they will be. UM_EIO.
 */
int um_program_fork(struct um_program *, const struct um_program_start *);
/* Of a process that waits: it will not be the program. Where there is none, nothing. */
void um_program_abandon(struct um_program *);
/*
 * Makes that process the program, or where there is none, makes one. UM_EIO: the system refused, or exec did; UM_ENOENT. What is neither a program nor begins with #! is
 * read by a shell, as execvp(3) has it, but no ELF file: of another machine, or cut off.
 */
int um_program_start(struct um_program *, const struct um_program_start *);
/* Passes on what signals there are and sees whether the program has ended; `block`: until then. */
void um_program_poll(struct um_program *, bool block);
/* umtrace takes its own signals again. */
void um_program_release(struct um_program *);
/* The status that umtrace ends with. */
int um_program_exit_status(const struct um_program *);

#endif
