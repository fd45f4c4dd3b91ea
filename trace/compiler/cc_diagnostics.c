#include "cc_diagnostics.h"

#include "cc_bundle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "3 warnings and 1 error generated when compiling for host." */
static bool is_total(const char *line)
{
	return isdigit((unsigned char)*line) && strstr(line, " generated") &&
	       (strstr(line, "warning") || strstr(line, "error"));
}

/* A message starts where a file is included, or at its own first line; notes belong to it. */
static bool starts_message(const char *line, bool after_include)
{
	static const char *const kinds[] = {"error: ", "warning: ", "fatal error: ", "remark: "};

	if (!strncmp(line, "In file included from ", 22))
		return !after_include;
	if (after_include)
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strstr(line, kinds[i]) && *line != ' ')
			return true;
	return false;
}

struct messages {
	char **items;
	size_t count, capacity;
};

static bool is_new(struct messages *seen, const char *text)
{
	for (size_t i = 0; i < seen->count; i++)
		if (!strcmp(seen->items[i], text))
			return false;
	if (seen->count == seen->capacity) {
		size_t capacity = seen->capacity ? seen->capacity * 2 : 16;
		char **items = realloc(seen->items, capacity * sizeof *items);

		if (!items)
			return true;
		seen->items = items;
		seen->capacity = capacity;
	}
	seen->items[seen->count] = strdup(text);
	seen->count += seen->items[seen->count] != NULL;
	return true;
}

static void show_message(struct messages *seen, char *from, char *to)
{
	char kept = *to;

	*to = 0;
	if (from != to && is_new(seen, from))
		fputs(from, stderr);
	*to = kept;
}

static void show_file(struct messages *seen, const char *path)
{
	char *text, *start, *line, *end;
	bool after_include = false;
	void *file;
	size_t bytes;

	if (um_read_file(&file, &bytes, path))
		return;
	text = file;
	for (start = line = text; *line; line = end) {
		end = strchr(line, '\n');
		end = end ? end + 1 : line + strlen(line);
		if (is_total(line)) {
			show_message(seen, start, line);
			start = end;
			after_include = false;
			continue;
		}
		if (starts_message(line, after_include)) {
			show_message(seen, start, line);
			start = line;
		}
		after_include = !strncmp(line, "In file included from ", 22);
	}
	show_message(seen, start, line);
	free(file);
}

void um_diagnostics_show(const char *const *paths, size_t count)
{
	struct messages seen = {0};

	for (size_t i = 0; i < count; i++)
		show_file(&seen, paths[i]);
	for (size_t i = 0; i < seen.count; i++)
		free(seen.items[i]);
	free(seen.items);
}
