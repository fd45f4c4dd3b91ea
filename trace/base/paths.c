#include "paths.h"

#include "error.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int beside_self(char **out, const char *folder, const char *name)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return um_fail_errno(UM_EIO, "/proc/self/exe");
	self[length] = '\0';
	/* PREFIX/bin/tool: the tool's name and the folder it lies in go. */
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
	}
	if (asprintf(out, "%s/%s/umtrace%s%s", self, folder, name[0] ? "/" : "", name) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	return 0;
}

int um_path_lib(char **out, const char *name)
{
	return beside_self(out, "lib", name);
}

int um_path_share(char **out, const char *name)
{
	return beside_self(out, "share", name);
}
