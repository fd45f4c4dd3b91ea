#include "cupti_library.h"

#include "trace/base/error.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST_MAJOR 12
#define NEWEST_MAJOR 19 /* a soname is asked for each; the driver's own version is the limit */

struct function {
	const char *name;
	size_t at; /* in struct um_cupti */
	bool needed;
};
#define AT(field) offsetof(struct um_cupti, field)

static const struct function cupti_functions[] = {
	{"cuptiGetVersion", AT(get_version), true},
	{"cuptiSubscribe", AT(subscribe), true},
	{"cuptiSubscribe_v2", AT(subscribe_2), false},
	{"cuptiUnsubscribe", AT(unsubscribe), true},
	{"cuptiEnableCallback", AT(enable_callback), true},
	{"cuptiEnableDomain", AT(enable_domain), true},
	{"cuptiActivityEnable", AT(activity_enable), true},
	{"cuptiActivityRegisterCallbacks", AT(register_callbacks), true},
	{"cuptiActivityRegisterTimestampCallback", AT(register_clock), false},
	{"cuptiGetTimestamp", AT(get_timestamp), true},
	{"cuptiActivityFlushAll", AT(flush_all), true},
	{"cuptiActivityGetNextRecord", AT(next_record), true},
	{"cuptiActivityGetNumDroppedRecords", AT(dropped_records), true},
	{"cuptiActivityConfigureUnifiedMemoryCounter", AT(configure_counters), true},
	{"cuptiGetDeviceId", AT(device_of), true},
	{"cuptiGetResultString", AT(result_text), false},
	{NULL, 0, false},
};

static const struct function driver_functions[] = {
	{"cuDriverGetVersion", AT(driver_version), true},
	{"cuDeviceGetCount", AT(device_count), true},
	{"cuDeviceGet", AT(device_get), true},
	{"cuDeviceGetName", AT(device_name), true},
	{"cuDeviceTotalMem_v2", AT(device_memory), true},
	{"cuDeviceGetAttribute", AT(device_attribute), true},
	{"cuPointerGetAttribute", AT(pointer_attribute), true},
	{"cuStreamIsCapturing", AT(is_capturing), false},
	{"cuStreamIsCapturing_ptsz", AT(is_capturing_ptsz), false},
	{"cuMemAdvise", AT(mem_advise), false},
	{"cuMemPrefetchAsync", AT(mem_prefetch), false},
	{"cuStreamCreate", AT(stream_create), false},
	{"cuMemAllocManaged", AT(alloc_managed), false},
	{"cuMemRangeGetAttribute", AT(range_attribute), false},
	{NULL, 0, false},
};

static int find_functions(struct um_cupti *cupti, void *library, const struct function *function,
			  const char *name)
{
	for (; function->name; function++) {
		void *found = dlsym(library, function->name);

		if (!found && function->needed)
			return um_fail(UM_ENOTSUP, "%s has no %s", name, function->name);
		memcpy((char *)cupti + function->at, &found, sizeof(found));
	}
	return 0;
}

/* --- where libcupti may be --- */

struct search {
	struct um_cupti *cupti;
	int major;     /* of CUDA */
	void *library; /* found */
	char refused[PATH_MAX];
	int refused_major;
};

/* 0 when it is none that can be used. */
static int major_of(uint32_t version)
{
	if (version >= UM_CUPTI_VERSION_13_0)
		return (int)(version / 10000);
	return version >= UM_CUPTI_VERSION_12_0 ? 12 : 0;
}

static void note_path(struct um_cupti *cupti, void *library)
{
	struct link_map *map = NULL;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
		snprintf(cupti->path, sizeof(cupti->path), "%s", map->l_name);
}

/* Whether the library is one for this driver; a later one's calls would fail one by one. */
static bool take(struct search *search, void *library)
{
	int (*get_version)(uint32_t *) = NULL;
	uint32_t version = 0;
	void *found = dlsym(library, "cuptiGetVersion");

	memcpy(&get_version, &found, sizeof(found));
	if (!get_version || get_version(&version) != UM_CUPTI_SUCCESS)
		return false;
	int major = major_of(version);

	note_path(search->cupti, library);
	if (major < OLDEST_MAJOR || major > search->cupti->driver / 1000) {
		search->refused_major = major;
		memcpy(search->refused, search->cupti->path, sizeof(search->refused));
		return false;
	}
	search->library = library;
	search->cupti->version = version;
	return true;
}

static bool try_path(struct search *search, const char *path, int flags)
{
	void *library = search->library ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);

	if (!library)
		return false;
	if (take(search, library))
		return true;
	dlclose(library);
	return false;
}

static bool try_folder(struct search *search, const char *folder, size_t length, const char *below)
{
	char path[PATH_MAX];
	int used = snprintf(path, sizeof(path), "%.*s%s/libcupti.so.%d", (int)length, folder, below,
			    search->major);

	return used > 0 && (size_t)used < sizeof(path) && try_path(search, path, 0);
}

static bool try_toolkit(struct search *search, const char *toolkit)
{
	size_t length = toolkit ? strlen(toolkit) : 0;

	return length && (try_folder(search, toolkit, length, "/lib64") ||
			  try_folder(search, toolkit, length, "/extras/CUPTI/lib64") ||
			  try_folder(search, toolkit, length, "/targets/x86_64-linux/lib"));
}

static int note_folder(struct dl_phdr_info *object, size_t bytes, void *folder)
{
	const char *name = object->dlpi_name ? object->dlpi_name : "";
	const char *slash = strrchr(name, '/');

	(void)bytes;
	if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0)
		return 0;
	size_t length = (size_t)(slash - name);

	if (length < PATH_MAX) {
		memcpy(folder, name, length);
		((char *)folder)[length] = '\0';
	}
	return 1;
}

/* dlopen() within dl_iterate_phdr() would wait for itself: the folder is noted first. */
static bool try_beside_runtime(struct search *search)
{
	char folder[PATH_MAX] = "";

	dl_iterate_phdr(note_folder, folder);
	size_t length = strlen(folder);

	/* The last is where NVIDIA's Python packages have it. */
	return length && (try_folder(search, folder, length, "") ||
			  try_folder(search, folder, length, "/../extras/CUPTI/lib64") ||
			  try_folder(search, folder, length, "/../../cuda_cupti/lib"));
}

static bool try_major(struct search *search)
{
	char name[32];

	snprintf(name, sizeof(name), "libcupti.so.%d", search->major);
	return try_beside_runtime(search) || try_toolkit(search, getenv("CUDA_HOME")) ||
	       try_toolkit(search, getenv("CUDA_PATH")) || try_path(search, name, 0) ||
	       try_toolkit(search, "/usr/local/cuda");
}

static bool try_loaded(struct search *search)
{
	char name[32];

	for (search->major = NEWEST_MAJOR; search->major >= OLDEST_MAJOR; search->major--) {
		snprintf(name, sizeof(name), "libcupti.so.%d", search->major);
		if (try_path(search, name, RTLD_NOLOAD))
			return true;
	}
	return false;
}

static int find_cupti(struct search *search, const char *hint)
{
	int driver_major = search->cupti->driver / 1000;

	if (try_loaded(search) || (hint && *hint && try_path(search, hint, 0)))
		return 0;
	for (search->major = driver_major; search->major >= OLDEST_MAJOR; search->major--)
		if (try_major(search))
			return 0;
	if (*search->refused)
		return um_fail(UM_ENOTSUP, "%s is of CUDA %d, the driver supports CUDA %d.%d",
			       search->refused, search->refused_major, driver_major,
			       search->cupti->driver % 1000 / 10);
	return um_fail(
		UM_ENOENT,
		"libcupti.so.%d was not found: it is part of the CUDA toolkit; set CUDA_HOME to "
		"where that is",
		driver_major);
}

static int open_driver(struct um_cupti *cupti)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!driver)
		return um_fail(UM_ENOENT, "libcuda.so.1 was not found");
	int failed = find_functions(cupti, driver, driver_functions, "libcuda.so.1");

	if (failed)
		return failed;
	if (cupti->driver_version(&cupti->driver) != 0)
		return um_fail(UM_ENOTSUP, "the driver does not tell its version");
	if (cupti->driver / 1000 < OLDEST_MAJOR)
		return um_fail(UM_ENOTSUP, "the driver supports CUDA %d.%d, and %d.0 is needed",
			       cupti->driver / 1000, cupti->driver % 1000 / 10, OLDEST_MAJOR);
	return 0;
}

int um_cupti_open(struct um_cupti *cupti, const char *hint)
{
	struct search search = {.cupti = cupti};
	int failed = open_driver(cupti);

	if (!failed)
		failed = find_cupti(&search, hint);
	return failed ? failed
		      : find_functions(cupti, search.library, cupti_functions, cupti->path);
}

const char *um_cupti_text(const struct um_cupti *cupti, int result)
{
	static char number[32];
	const char *text = NULL;

	if (cupti->result_text && cupti->result_text(result, &text) == UM_CUPTI_SUCCESS && text)
		return text;
	snprintf(number, sizeof(number), "error %d", result);
	return number;
}
