#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

/*
 * Messages are put together beside `message`, which may be one of the arguments ("%s" of
 * um_error_message() behind a place in a file). What an untrusted file wrote reaches a terminal
 * only without its control characters.
 */
struct draft {
	char text[sizeof(message)];
	size_t used;
};

static void draft_add_v(struct draft *draft, const char *format, va_list args)
{
	size_t room = sizeof(draft->text) - draft->used;
	int wanted = vsnprintf(draft->text + draft->used, room, format, args);

	if (wanted > 0)
		draft->used += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

__attribute__((format(printf, 2, 3))) static void draft_add(struct draft *draft, const char *format,
							    ...)
{
	va_list args;

	va_start(args, format);
	draft_add_v(draft, format, args);
	va_end(args);
}

static int draft_say(struct draft *draft, int code)
{
	draft->text[draft->used] = '\0';
	for (char *c = draft->text; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f)
			*c = '?';
	memcpy(message, draft->text, draft->used + 1);
	return code;
}

int um_fail(int code, const char *format, ...)
{
	struct draft draft = {.used = 0};
	va_list args;

	va_start(args, format);
	draft_add_v(&draft, format, args);
	va_end(args);
	return draft_say(&draft, code);
}

int um_fail_errno(int code, const char *format, ...)
{
	int saved = errno;
	struct draft draft = {.used = 0};
	va_list args;

	va_start(args, format);
	draft_add_v(&draft, format, args);
	va_end(args);
	draft_add(&draft, ": %s", strerror(saved));
	return draft_say(&draft, code);
}

int um_fail_at(int code, const char *file, unsigned line, unsigned column, const char *format, ...)
{
	struct draft draft = {.used = 0};
	va_list args;

	draft_add(&draft, "%s:%u:", file, line);
	if (column)
		draft_add(&draft, "%u:", column);
	draft_add(&draft, " ");
	va_start(args, format);
	draft_add_v(&draft, format, args);
	va_end(args);
	return draft_say(&draft, code);
}

const char *um_error_message(void)
{
	return message;
}

enum um_exit um_exit_status(int error)
{
	switch (error) {
	case 0:
		return UM_EXIT_OK;
	case UM_ECHECK:
		return UM_EXIT_CHECK;
	case UM_EINVAL:
		return UM_EXIT_USAGE;
	default:
		return UM_EXIT_FAILURE;
	}
}
