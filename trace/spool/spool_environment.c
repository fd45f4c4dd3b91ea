#include "spool_environment.h"

#include "program_text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
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

/* --- Kokkos --- */

static const char *const kokkos_variables[] = UM_KOKKOS_VARIABLES;
enum { TOOLS, PROFILE }; /* of them */

/* How long the first entry of the list is, if it is the library; else 0. */
static size_t first_entry(const char *list, const char *library)
{
	size_t bytes = strlen(library);

	return list && !strncmp(list, library, bytes) && (list[bytes] == ';' || !list[bytes])
		       ? bytes
		       : 0;
}

void um_environment_remove_first(const char *variable, const char *library)
{
	char *list = getenv(variable);
	size_t bytes = first_entry(list, library);

	if (!bytes)
		return;
	if (!list[bytes]) {
		um_environment_remove(variable);
		return;
	}
	size_t total = strlen(list), rest = total - bytes - 1;

	memmove(list, list + bytes + 1, rest);
	memset(list + rest, 0, total - rest);
}

static bool kokkos_library(char path[PATH_MAX], const char *own)
{
	const char *slash = strrchr(own, '/');
	int used =
		slash ? snprintf(path, PATH_MAX, "%.*s/" UM_KOKKOS_LIBRARY, (int)(slash - own), own)
		      : -1;

	return used > 0 && used < PATH_MAX;
}

/* Which of the variables the program's own code names: bits as of kokkos_variables. Asked for once. */
static unsigned kokkos_texts(const char *own)
{
	static bool is_known;
	static unsigned texts;

	if (!is_known)
		texts = um_program_texts(kokkos_variables, 2, own, NULL);
	is_known = true;
	return texts;
}

void um_environment_choose_kokkos(const char *own)
{
	char path[PATH_MAX], list[2 * PATH_MAX];
	const char *before = getenv(kokkos_variables[PROFILE]);

	if (!kokkos_library(path, own) || !first_entry(getenv(kokkos_variables[TOOLS]), path) ||
	    first_entry(before, path) || kokkos_texts(own) != 1u << PROFILE)
		return;
	int used = snprintf(list, sizeof(list), "%s%s%s", path, before && *before ? ";" : "",
			    before ? before : "");

	if (used <= 0 || (size_t)used >= sizeof(list) ||
	    setenv(kokkos_variables[PROFILE], list, 1) != 0)
		return;
	um_environment_remove_first(kokkos_variables[TOOLS], path);
}

void um_environment_drop_kokkos(const char *own)
{
	char path[PATH_MAX];
	bool is_there = false;

	if (!kokkos_library(path, own))
		return;
	for (size_t i = 0; i < sizeof(kokkos_variables) / sizeof(*kokkos_variables); i++)
		is_there = is_there || first_entry(getenv(kokkos_variables[i]), path);
	if (!is_there || kokkos_texts(own) != 0)
		return;
	for (size_t i = 0; i < sizeof(kokkos_variables) / sizeof(*kokkos_variables); i++)
		um_environment_remove_first(kokkos_variables[i], path);
}
