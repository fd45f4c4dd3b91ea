#include "import_lines.h"

#include "trace/base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void um_import_lines_init(struct um_import_lines *lines, const struct um_import_file *file,
			  const struct um_import_events *events)
{
	*lines = (struct um_import_lines){.file = file, .events = events};
	rewind(file->text);
}

void um_import_lines_fini(struct um_import_lines *lines)
{
	free(lines->line);
}

/* getline() would take all of a file without newlines. */
static int read_line(struct um_import_lines *lines)
{
	int c;

	lines->length = 0;
	while ((c = getc_unlocked(lines->file->text)) != EOF && c != '\n') {
		if (lines->length + 1 >= lines->capacity) {
			size_t capacity = lines->capacity ? 2 * lines->capacity : 1024;
			char *grown = capacity <= 2 * UM_IMPORT_LINE_BYTES
					      ? realloc(lines->line, capacity)
					      : NULL;

			if (!grown)
				return um_fail(UM_EFORMAT, "%s:%u: the line is too long",
					       lines->file->path, lines->number);
			lines->line = grown;
			lines->capacity = capacity;
		}
		lines->line[lines->length++] = (char)c;
	}
	if (ferror(lines->file->text))
		return um_fail_errno(UM_EIO, "%s", lines->file->path);
	lines->cut = c == EOF && lines->length;
	return c != EOF || lines->length;
}

int um_import_lines_next(struct um_import_lines *lines)
{
	lines->number++;
	int result = read_line(lines);

	if (result <= 0)
		return result;
	if (!lines->line && !(lines->line = malloc(lines->capacity = 1024)))
		return um_fail(UM_ENOMEM, "out of memory");
	lines->line[lines->length] = '\0';
	lines->done += lines->length + 1;
	if (lines->length && lines->line[lines->length - 1] == '\r')
		lines->line[--lines->length] = '\0';
	if (memchr(lines->line, '\0', lines->length))
		return um_fail(UM_EFORMAT, "%s:%u: has a byte of zero, and so is damaged",
			       lines->file->path, lines->number);
	if (lines->events->progress && lines->number % 1024 == 0)
		lines->events->progress(lines->events->progress_context, lines->done,
					lines->file->bytes);
	return 1;
}

int um_import_lines_wrong(const struct um_import_lines *lines,
			  const struct um_import_format *format, const char *text, ...)
{
	char detail[512];
	va_list arguments;

	va_start(arguments, text);
	vsnprintf(detail, sizeof(detail), text, arguments);
	va_end(arguments);
	return um_fail(UM_EFORMAT, "%s:%u: recognised as a %s, but damaged: %s", lines->file->path,
		       lines->number, format->what, detail);
}
