/* Lists of names, one a line. */
#include "check_table.h"

#include "trace/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int read_name(struct um_check_names *all, char *line)
{
	char *end = line + strcspn(line, "#\r\n");
	int error;

	line += strspn(line, " \t");
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end <= line)
		return 0;
	error = um_check_room(&all->names, all->count, &all->room, sizeof(*all->names));
	if (error)
		return error;
	all->names[all->count] = strndup(line, (size_t)(end - line));
	return all->names[all->count++] ? 0 : um_fail(UM_ENOMEM, "no memory for names");
}

int um_check_names_read(struct um_check_names *all, const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	*all = (struct um_check_names){0};
	if (!in)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "cannot open %s", path);
	while (!error && getline(&line, &room, in) > 0)
		error = read_name(all, line);
	if (!error && ferror(in))
		error = um_fail_errno(UM_EIO, "reading %s", path);
	free(line);
	fclose(in);
	if (error)
		um_check_names_free(all);
	else if (all->count)
		qsort(all->names, all->count, sizeof(*all->names), by_text);
	return error;
}

bool um_check_names_have(const struct um_check_names *all, const char *name)
{
	return all->count && bsearch(&name, all->names, all->count, sizeof(*all->names), by_text);
}

void um_check_names_free(struct um_check_names *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->names[i]);
	free(all->names);
	*all = (struct um_check_names){0};
}
