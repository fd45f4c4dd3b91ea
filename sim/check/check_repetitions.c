#include "check_repetitions.h"

#include "check_side.h"
#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_mode_and_name(const void *left, const void *right)
{
	const struct um_check_repetition *a = left, *b = right;
	int modes = strcmp(a->mode, b->mode);

	return modes ? modes : strcmp(a->name, b->name);
}

/* The text up to the next tab, which becomes its end; NULL behind the last. */
static char *next_field(char **rest)
{
	return *rest ? strsep(rest, "\t") : NULL;
}

static int read_numbers(struct um_check_repetition *row, char **rest)
{
	char *field, *end;

	while ((field = next_field(rest))) {
		if (!*field && !*rest) /* a last field that is empty */
			return 0;
		if (row->count == UM_CHECK_COLUMNS)
			return UM_EFORMAT;
		row->values[row->count] = strtod(field, &end);
		if (*end || end == field || !isfinite(row->values[row->count]) ||
		    row->values[row->count] < 0)
			return UM_EFORMAT;
		row->count++;
	}
	return 0;
}

static int read_line(struct um_check_repetitions *all, char *line)
{
	char *rest = line;
	const char *mode = next_field(&rest), *repetition = next_field(&rest),
		   *name = next_field(&rest);
	struct um_check_repetition row = {0};
	int error;

	if (!mode || !*mode || !repetition || !*repetition || !name || !*name)
		return UM_EFORMAT;
	error = read_numbers(&row, &rest);
	if (!error)
		error = um_check_room(&all->rows, all->count, &all->room, sizeof(*all->rows));
	if (error)
		return error;
	row.mode = strdup(mode);
	row.name = strdup(name);
	all->rows[all->count++] = row;
	return row.mode && row.name ? 0 : um_fail(UM_ENOMEM, "no memory for repetitions");
}

static int read_lines(struct um_check_repetitions *all, FILE *in, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	ssize_t length;
	int error = 0;

	while (!error && (length = getline(&line, &room, in)) > 0) {
		number++;
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		error = read_line(all, line);
		if (error == UM_EFORMAT)
			um_fail_at(UM_EFORMAT, path, number, 0,
				   "not a mode, a repetition, a name and numbers between tabs");
	}
	if (!error && ferror(in))
		error = um_fail_errno(UM_EIO, "reading %s", path);
	free(line);
	return error;
}

int um_check_repetitions_read(struct um_check_repetitions *all, const char *path)
{
	FILE *in = fopen(path, "re");
	int error;

	*all = (struct um_check_repetitions){0};
	if (!in)
		return errno == ENOENT ? 0 : um_fail_errno(UM_EIO, "cannot open %s", path);
	error = read_lines(all, in, path);
	fclose(in);
	if (error)
		um_check_repetitions_free(all);
	else if (all->count)
		qsort(all->rows, all->count, sizeof(*all->rows), by_mode_and_name);
	return error;
}

void um_check_repetitions_free(struct um_check_repetitions *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->rows[i].mode);
		free(all->rows[i].name);
	}
	free(all->rows);
	*all = (struct um_check_repetitions){0};
}

const struct um_check_repetition *um_check_repetitions_of(const struct um_check_repetitions *all,
							  const char *mode, const char *name,
							  size_t *count)
{
	const struct um_check_repetition key = {.mode = (char *)mode, .name = (char *)name};
	size_t first =
		um_sorted_first(all->rows, all->count, sizeof(*all->rows), &key, by_mode_and_name);

	*count = um_sorted_alike(all->rows, all->count, sizeof(*all->rows), first, &key,
				 by_mode_and_name);
	return *count ? &all->rows[first] : NULL;
}
