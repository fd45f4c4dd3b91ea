#include "tracer_environment.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define HIP_RUNTIME  "libamdhip64.so"
#define TAP_VARIABLE "CUDA_INJECTION64_PATH"
#define TAP_LIBRARY  "/libumtrace_cupti.so"

/* Takes the library that holds `address` off LD_PRELOAD. */
static void remove_preload(const void *address)
{
	Dl_info library;

	if (address && dladdr(address, &library) && library.dli_fname)
		um_environment_remove_preload(library.dli_fname);
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
	remove_preload(dlsym(RTLD_DEFAULT, "um_wrap_start"));
	remove_preload(dlsym(RTLD_DEFAULT, "roctx_version_major"));
}

/* --- what the program was linked with --- */

static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info *object)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(object->dlpi_addr +
						   object->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static const char *string_table(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			/* glibc relocates the section where it can be written. */
			return (const char *)(dynamic->d_un.d_ptr < object->dlpi_addr
						      ? object->dlpi_addr + dynamic->d_un.d_ptr
						      : dynamic->d_un.d_ptr);
	return NULL;
}

static int needs_hip(struct dl_phdr_info *object, size_t bytes, void *found)
{
	const ElfW(Dyn) *dynamic = dynamic_section(object);
	const char *strings = NULL;

	(void)bytes;
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag != DT_NEEDED)
			continue;
		if (!strings)
			strings = string_table(object, dynamic_section(object));
		if (strings &&
		    !strncmp(strings + dynamic->d_un.d_val, HIP_RUNTIME, sizeof(HIP_RUNTIME) - 1))
			*(bool *)found = true;
	}
	return *(bool *)found;
}

bool um_program_uses_hip(void)
{
	bool found = false;

	dl_iterate_phdr(needs_hip, &found);
	return found;
}
