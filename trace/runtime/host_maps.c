#include "host_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The fields before the path take 73 bytes (proc_pid_maps(5)); "\n" in it is written as "\012". */
#define LINE_BYTES (4 * PATH_MAX + 128)

static uint64_t number(const char **at, unsigned base)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		char c = **at;
		unsigned digit = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							: UINT_MAX;

		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

static bool expect(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* "start-end perms offset major:minor inode    name" */
static bool parse(struct um_host_map *map, const char *line)
{
	uint64_t major;

	map->start = number(&line, 16);
	if (!expect(&line, '-'))
		return false;
	map->end = number(&line, 16);
	if (!expect(&line, ' ') || strnlen(line, 5) < 5)
		return false;
	map->readable = line[0] == 'r';
	line += 5;
	map->offset = number(&line, 16);
	if (!expect(&line, ' '))
		return false;
	major = number(&line, 16);
	if (!expect(&line, ':'))
		return false;
	map->device = major << 32 | number(&line, 16);
	if (!expect(&line, ' '))
		return false;
	map->inode = number(&line, 10);
	map->name = line + strspn(line, " ");
	return map->start < map->end;
}

/* Whole lines of text[0, used). Returns how many bytes they are; *more: `look` wants the next. */
static size_t take_lines(char *text, size_t used, bool *more,
			 bool (*look)(const struct um_host_map *, void *), void *context)
{
	size_t taken = 0;
	char *end;

	while (*more && (end = memchr(text + taken, '\n', used - taken))) {
		struct um_host_map map;

		*end = '\0';
		if (parse(&map, text + taken))
			*more = look(&map, context);
		taken = (size_t)(end - text) + 1;
	}
	return taken;
}

bool um_host_maps_each(bool (*look)(const struct um_host_map *, void *), void *context)
{
	static char text[2 * LINE_BYTES];
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = 1;
	bool more = true;

	if (file < 0)
		return false;
	while (more && got > 0) {
		do
			got = read(file, text + used, sizeof(text) - used);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			break;
		used += (size_t)got;
		size_t taken = take_lines(text, used, &more, look, context);
		used -= taken;
		memmove(text, text + taken, used);
	}
	close(file);
	return got >= 0;
}
