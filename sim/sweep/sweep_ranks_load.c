/* The module with MPI: lib/umtrace/umsim_mpi.so beside the program's own bin/. */
#include "sweep_ranks.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int um_ranks_open(const struct um_ranks_ops **out)
{
	char *path = NULL;
	void *module;
	um_ranks_open_fn open_ranks;
	int error = um_path_lib(&path, "umsim_mpi.so");

	if (error)
		return error;
	if (access(path, F_OK)) {
		free(path);
		return um_fail(UM_ENOTSUP,
			       "--mpi: this umsim was built without Open MPI (libopenmpi-dev)");
	}
	/* Open MPI loads components of its own, which look for its symbols. */
	module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	free(path);
	if (!module)
		return um_fail(UM_ENOTSUP, "--mpi: %s", dlerror());
	*(void **)&open_ranks = dlsym(module, UM_RANKS_SYMBOL);
	if (!open_ranks)
		return um_fail(UM_ENOTSUP, "--mpi: %s", dlerror());
	*out = open_ranks();
	return 0;
}
