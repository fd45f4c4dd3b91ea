#include "host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

static uint64_t physical_bytes(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return UINT64_MAX;
	return ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
}

/* "max", or a number of bytes (Documentation/admin-guide/cgroup-v2.rst, memory.max). */
static uint64_t read_limit(const char *path)
{
	unsigned long long limit = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return UINT64_MAX;
	int read = fscanf(file, "%llu", &limit);

	fclose(file);
	return read == 1 ? limit : UINT64_MAX;
}

/* The smallest limit of the control group and those above it. */
static uint64_t group_limit(char *group)
{
	uint64_t least = UINT64_MAX;
	char path[4096];

	for (;;) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
		uint64_t limit = read_limit(path);

		if (limit < least)
			least = limit;
		char *slash = strrchr(group, '/');

		if (!slash)
			return least;
		*slash = 0;
	}
}

static uint64_t control_group_bytes(void)
{
	char line[2048];
	uint64_t limit = UINT64_MAX;
	FILE *file = fopen("/proc/self/cgroup", "re");

	if (!file)
		return limit;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::/", 4)) /* the only line of cgroup v2 */
			limit = group_limit(line + 3);
	}
	fclose(file);
	return limit;
}

uint64_t um_host_memory_bytes(void)
{
	static uint64_t known;

	if (!known) {
		uint64_t physical = physical_bytes(), group = control_group_bytes();

		known = group < physical ? group : physical;
	}
	return known;
}
