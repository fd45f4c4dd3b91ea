#include "cc_install.h"

#include "trace/base/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int um_cc_install_find(struct um_cc_install *out)
{
	const char *const needed[] = {out->prelude, out->device_library, out->device_imports};
	char root[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", root, sizeof root - 1);

	if (length < 0)
		return um_fail_errno(UM_EIO, "cannot read /proc/self/exe");
	root[length] = 0;
	for (int i = 0; i < 2; i++)
		if ((slash = strrchr(root, '/')))
			*slash = 0;
	if (strlen(root) > sizeof out->prelude - 64)
		return um_fail(UM_ELIMIT, "installed too deep: %.64s...", root);
	sprintf(out->library_folder, "%s/lib/umtrace", root);
	sprintf(out->prelude, "%s/share/umtrace/um_prelude.h", root);
	sprintf(out->device_library, "%s/lib/umtrace/libumdevice.a", root);
	sprintf(out->device_imports, "%s/lib/umtrace/libumdevice_imports.so", root);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (access(needed[i], R_OK))
			return um_fail_errno(UM_ENOENT, "umtrace is not installed whole: %s",
					     needed[i]);
	return 0;
}
