/*
 * Shows what a program can see of how it was started: descriptors, signals, process group,
 * environment, also of its children. tests/cli/umtrace_surroundings.sh holds a traced run against an
 * untraced one.
 */
#include "hip_test.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

__global__ void fill(int *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

static void show_descriptors()
{
	for (int file = 0; file < 256; file++) {
		char link[64], target[512];
		snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
		ssize_t length = readlink(link, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		printf("descriptor %d: %s\n", file, target);
	}
}

static void show_signals()
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4))
			fputs(line, stdout);
	if (status)
		fclose(status);
}

int main()
{
	char line[256];

	show_descriptors();
	show_signals();
	int *data = managed<int>(4096);
	LAUNCH(fill<<<16, 256>>>(data));
	printf("data[4095] = %d\n", data[4095]);
	show_descriptors();
	show_signals();
	printf("process group %s that of the session's leader or the shell's\n",
	       getpgrp() == getpid() ? "is its own, not" : "is");
	printf("UMTRACE_SPOOL %s, LD_PRELOAD %s\n", getenv("UMTRACE_SPOOL") ? "set" : "not set",
	       getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "not set");
	fflush(stdout);
	if (system("env | grep -v '^_=' | sort") != 0)
		return 1;
	while (fgets(line, sizeof(line), stdin))
		printf("read: %s", line);
	return 0;
}
