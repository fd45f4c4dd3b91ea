#include "spool_environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PRELOAD_VARIABLE "LD_PRELOAD"
#define PRELOAD_BETWEEN	 " :" /* ld.so(8) */

const char *um_environment_spool(void)
{
	return getenv(UM_SPOOL_VARIABLE);
}

void um_environment_remove(const char *name)
{
	char *value = getenv(name);

	if (!value)
		return;
	unsetenv(name);
	size_t name_bytes = strlen(name) + 1;

	memset(value - name_bytes, 0, name_bytes + strlen(value));
}

/* The same path, the same file, or, for an entry that ld.so searched for, the same name. */
static bool is_library(const char *entry, const char *path)
{
	const char *name = strrchr(path, '/');
	struct stat entry_status, own_status;

	if (!strcmp(entry, path))
		return true;
	if (!strchr(entry, '/'))
		return name && !strcmp(entry, name + 1);
	return !stat(entry, &entry_status) && !stat(path, &own_status) &&
	       entry_status.st_dev == own_status.st_dev && entry_status.st_ino == own_status.st_ino;
}

/* The first entry of `list` that is the library: its start and length, or false. */
static bool find_entry(char *list, const char *path, size_t *start, size_t *bytes)
{
	char entry[4096];

	for (size_t at = 0; list[at]; at += *bytes) {
		at += strspn(list + at, PRELOAD_BETWEEN);
		*start = at;
		*bytes = strcspn(list + at, PRELOAD_BETWEEN);
		if (*bytes == 0 || *bytes >= sizeof(entry))
			continue;
		memcpy(entry, list + at, *bytes);
		entry[*bytes] = '\0';
		if (is_library(entry, path))
			return true;
	}
	return false;
}

void um_environment_remove_preload(const char *path)
{
	char *list = getenv(PRELOAD_VARIABLE);
	size_t start = 0, bytes = 0;

	if (!list || !find_entry(list, path, &start, &bytes))
		return;
	size_t total = strlen(list);
	/* One separator goes with it: the one behind, or that before the last entry. */
	size_t end = start + bytes;

	if (list[end])
		end++;
	else if (start)
		start--;
	if (start == 0 && end == total) {
		um_environment_remove(PRELOAD_VARIABLE);
		return;
	}
	memmove(list + start, list + end, total - end);
	memset(list + total - (end - start), 0, end - start);
}
