#include "cc_install.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

int um_cc_install_find(struct um_cc_install *out)
{
	const struct {
		char **to;
		int (*path)(char **, const char *);
		const char *name;
	} files[] = {
		{&out->library_folder, um_path_lib, ""},
		{&out->prelude, um_path_share, "um_prelude.h"},
		{&out->include_folder, um_path_share, "include"},
		{&out->device_library, um_path_lib, "libumdevice.a"},
		{&out->device_imports, um_path_lib, "libumdevice_imports.so"},
	};

	*out = (struct um_cc_install){0};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int error = files[i].path(files[i].to, files[i].name);

		if (error)
			return error;
		if (access(*files[i].to, R_OK))
			return um_fail_errno(UM_ENOENT, "umtrace is not installed whole: %s",
					     *files[i].to);
	}
	return 0;
}

void um_cc_install_fini(struct um_cc_install *install)
{
	free(install->library_folder);
	free(install->prelude);
	free(install->include_folder);
	free(install->device_library);
	free(install->device_imports);
}
