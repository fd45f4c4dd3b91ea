#include "tracer_environment.h"

#include "hip_headers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_VARIABLE "CUDA_INJECTION64_PATH"
#define TAP_LIBRARY  "/libumtrace_cupti.so"

/* Takes the library that holds `address` off LD_PRELOAD. */
static void remove_preload(const void *address)
{
	Dl_info library;

	if (address && dladdr(address, &library) && library.dli_fname)
		um_environment_remove_preload(library.dli_fname);
}

/*
 * What lies beside the library that holds `address`: the names that it has for programs of newer
 * headers (umtrace preloads them too).
 */
static void remove_newer_names(const void *address)
{
	static const char *const names[] = {"libamdhip64.so.6", "libamdhip64.so.7"};
	char path[PATH_MAX];
	Dl_info library;

	if (!dladdr(address, &library) || !library.dli_fname)
		return;
	const char *slash = strrchr(library.dli_fname, '/');

	for (size_t i = 0; slash && i < sizeof(names) / sizeof(*names); i++) {
		int used = snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - library.dli_fname),
				    library.dli_fname, names[i]);

		if (used > 0 && (size_t)used < sizeof(path))
			um_environment_remove_preload(path);
	}
}

/* The tap that lies beside the library that holds `address`: this program runs without a GPU. */
static void remove_tap(const void *address)
{
	const char *value = getenv(TAP_VARIABLE);
	const char *name = value ? strrchr(value, '/') : NULL;
	Dl_info library;

	if (!name || strcmp(name, TAP_LIBRARY) != 0 || !dladdr(address, &library) ||
	    !library.dli_fname)
		return;
	const char *own_name = strrchr(library.dli_fname, '/');
	if (own_name && own_name - library.dli_fname == name - value &&
	    strncmp(value, library.dli_fname, (size_t)(name - value)) == 0)
		um_environment_remove(TAP_VARIABLE);
}

/* `address` is one of this library's. */
static void drop_kokkos(const void *address)
{
	Dl_info library;

	if (dladdr(address, &library) && library.dli_fname)
		um_environment_drop_kokkos(library.dli_fname);
}

void um_environment_begin(void)
{
	Dl_info library;

	if (dladdr(UM_SPOOL_VARIABLE, &library) && library.dli_fname)
		um_environment_choose_kokkos(library.dli_fname);
}

void um_environment_clean(void)
{
	um_environment_remove(UM_SPOOL_VARIABLE);
	remove_tap(UM_SPOOL_VARIABLE);
	drop_kokkos(UM_SPOOL_VARIABLE);
	remove_preload(UM_SPOOL_VARIABLE);
	remove_newer_names(UM_SPOOL_VARIABLE);
	remove_preload(dlsym(RTLD_DEFAULT, "um_wrap_start"));
	remove_preload(dlsym(RTLD_DEFAULT, "roctx_version_major"));
}

/* --- what the program was linked with --- */

bool um_program_uses_hip(void)
{
	return um_hip_needed() != 0;
}
