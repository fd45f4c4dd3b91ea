/*
 * Errors: a function that can fail returns 0 or one of UM_E*. The message is set once, where the
 * fault is known, with um_fail(); only a tool's main.c and cmd_*.c print it.
 */
#ifndef UM_ERROR_H
#define UM_ERROR_H

enum um_error {
	UM_ENOMEM = -1,	   /* out of memory */
	UM_EIO = -2,	   /* the system refused: open, read, write, map */
	UM_EFORMAT = -3,   /* not the format it should be, or damaged */
	UM_EVERSION = -4,  /* made by a newer umtrace */
	UM_EINVAL = -5,	   /* a value that cannot be: policy, machine file, argument */
	UM_ENOENT = -6,	   /* what was named is not there */
	UM_EEXIST = -7,	   /* would overwrite */
	UM_ENOTSUP = -8,   /* not possible here, or with this driver */
	UM_ELIMIT = -9,	   /* beyond a stated limit */
	UM_ECHECK = -10,   /* a requested check failed (exit status 3) */
	UM_ESTOPPED = -11, /* the callback asked to stop */
};

/* Sets this thread's message (at most 1023 bytes) and returns `code`. */
int um_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* The same with ": strerror(errno)" behind it. */
int um_fail_errno(int code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* "file:line:column: message"; column 0 is left out. */
int um_fail_at(int code, const char *file, unsigned line, unsigned column, const char *format, ...)
	__attribute__((format(printf, 5, 6), cold));
/* This thread's last message; "" if there was none. Valid until the thread's next um_fail(). */
const char *um_error_message(void);

/* Exit status of the tools (umtrace: the program's own, or 125 to 127 as env(1) has them). */
enum um_exit { UM_EXIT_OK = 0, UM_EXIT_FAILURE = 1, UM_EXIT_USAGE = 2, UM_EXIT_CHECK = 3 };
/* UM_ECHECK is UM_EXIT_CHECK, UM_EINVAL is UM_EXIT_USAGE, 0 is UM_EXIT_OK, all else failure. */
enum um_exit um_exit_status(int error);

#endif
