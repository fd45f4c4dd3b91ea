#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

int um_fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return code;
}

int um_fail_errno(int code, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	int used = vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (used >= 0 && (size_t)used < sizeof(message))
		snprintf(message + used, sizeof(message) - (size_t)used, ": %s", strerror(saved));
	return code;
}

int um_fail_at(int code, const char *file, unsigned line, unsigned column, const char *format, ...)
{
	va_list args;
	int used = column ? snprintf(message, sizeof(message), "%s:%u:%u: ", file, line, column)
			  : snprintf(message, sizeof(message), "%s:%u: ", file, line);

	if (used < 0 || (size_t)used >= sizeof(message))
		return code;
	va_start(args, format);
	vsnprintf(message + used, sizeof(message) - (size_t)used, format, args);
	va_end(args);
	return code;
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
