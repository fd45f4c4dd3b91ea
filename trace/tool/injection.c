#include "injection.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAP_LIBRARY	    "libumtrace_cupti.so"
#define KOKKOS_LIBRARY	    "libumtrace_kokkos.so"
#define DRIVER_VERSION_FILE "/proc/driver/nvidia/version"
/* The first driver that supports CUDA 13 (its release notes, table of driver versions). */
#define DRIVER_OF_CUDA_13 580
#define OLDEST_MAJOR	  12
#define NEWEST_MAJOR	  13

/* Of CUDA, that the driver here supports; the newest where it is not known. */
static int newest_major(void)
{
	FILE *file = fopen(DRIVER_VERSION_FILE, "re");
	char line[256] = "";
	unsigned major = DRIVER_OF_CUDA_13;

	if (file && fgets(line, sizeof(line), file)) {
		/* "NVRM version: NVIDIA UNIX ... Kernel Module  580.159.04  Release Build ..." */
		const char *at = line;

		while ((at = strpbrk(at, "0123456789")) &&
		       !(sscanf(at, "%u.", &major) == 1 && at[strspn(at, "0123456789")] == '.'))
			at += strspn(at, "0123456789");
		if (!at)
			major = DRIVER_OF_CUDA_13;
	}
	if (file)
		fclose(file);
	return major >= DRIVER_OF_CUDA_13 ? NEWEST_MAJOR : OLDEST_MAJOR;
}

/* malloc'ed; NULL: it is not there. */
static char *look_in(const char *folder, size_t length, const char *below, int major)
{
	char *path;

	if (!length ||
	    asprintf(&path, "%.*s%s/libcupti.so.%d", (int)length, folder, below, major) < 0)
		return NULL;
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *look_in_toolkit(const char *toolkit, int major)
{
	static const char *const below[] = {"/lib64", "/extras/CUPTI/lib64",
					    "/targets/x86_64-linux/lib"};
	char *path = NULL;

	for (size_t i = 0; toolkit && !path && i < sizeof(below) / sizeof(*below); i++)
		path = look_in(toolkit, strlen(toolkit), below[i], major);
	return path;
}

static char *look_in_list(const char *folders, int major)
{
	char *path = NULL;

	while (folders && *folders && !path) {
		size_t length = strcspn(folders, ":");

		path = look_in(folders, length, "", major);
		folders += length + (folders[length] == ':');
	}
	return path;
}

static char *find_cupti(void)
{
	char *path = NULL;

	for (int major = newest_major(); major >= OLDEST_MAJOR && !path; major--) {
		path = look_in_list(getenv("LD_LIBRARY_PATH"), major);
		if (!path)
			path = look_in_toolkit(getenv("CUDA_HOME"), major);
		if (!path)
			path = look_in_toolkit(getenv("CUDA_PATH"), major);
		if (!path)
			path = look_in_toolkit("/usr/local/cuda", major);
	}
	return path;
}

static int find_library(char **path, const char *name)
{
	int error = um_path_lib(path, name);

	if (!error && access(*path, R_OK) != 0)
		error = um_fail_errno(UM_ENOENT, "this umtrace is not complete: %s", *path);
	return error;
}

/* --- Kokkos --- */

/* The library before what is there. */
static int put_first(char **list, const char *library, const char *before)
{
	bool has_more = before && *before;

	return asprintf(list, "%s%s%s", library, has_more ? ";" : "", has_more ? before : "") < 0
		       ? um_fail(UM_ENOMEM, "out of memory")
		       : 0;
}

static int find_kokkos(struct um_injection *injection)
{
	const char *tools = getenv(UM_INJECTION_TOOLS), *profile = getenv(UM_INJECTION_PROFILE);
	char *library = NULL;
	int error = find_library(&library, KOKKOS_LIBRARY);

	/* In a folder of such a name it cannot be said to Kokkos. */
	if (!error && !strchr(library, ';')) {
		if (tools || !profile)
			error = put_first(&injection->tools, library, tools);
		if (!error && profile)
			error = put_first(&injection->profile, library, profile);
	}
	free(library);
	return error;
}

int um_injection_find(struct um_injection *injection)
{
	const char *nvtx = getenv(UM_INJECTION_NVTX);

	*injection = (struct um_injection){.taken = getenv(UM_INJECTION_TAP)};
	int error = find_kokkos(injection);

	if (error || (injection->taken && *injection->taken))
		return error;
	injection->taken = NULL;
	error = find_library(&injection->tap, TAP_LIBRARY);
	if (!error && (!nvtx || !*nvtx))
		injection->nvtx = find_cupti();
	return error;
}

void um_injection_fini(struct um_injection *injection)
{
	free(injection->tap);
	free(injection->nvtx);
	free(injection->tools);
	free(injection->profile);
}
