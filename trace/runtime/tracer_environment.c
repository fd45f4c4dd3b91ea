#include "tracer_environment.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PRELOAD_VARIABLE "LD_PRELOAD"
#define PRELOAD_BETWEEN	 " :" /* ld.so(8) */
#define HIP_RUNTIME	 "libamdhip64.so"

/* The same path, the same file, or, for an entry that ld.so searched for, the same name. */
static bool is_library(const char *entry, const char *own_path)
{
	const char *own_name = strrchr(own_path, '/');
	struct stat entry_status, own_status;

	if (!strcmp(entry, own_path))
		return true;
	if (!strchr(entry, '/'))
		return own_name && !strcmp(entry, own_name + 1);
	return !stat(entry, &entry_status) && !stat(own_path, &own_status) &&
	       entry_status.st_dev == own_status.st_dev && entry_status.st_ino == own_status.st_ino;
}

/* The first entry of `list` that is the library: its start and length, or false. */
static bool find_entry(char *list, const char *own_path, size_t *start, size_t *bytes)
{
	char entry[4096];

	for (size_t at = 0; list[at]; at += *bytes) {
		at += strspn(list + at, PRELOAD_BETWEEN);
		*start = at;
		*bytes = strcspn(list + at, PRELOAD_BETWEEN);
		if (*bytes == 0 || *bytes >= sizeof(entry))
			continue;
		memcpy(entry, list + at, *bytes);
		entry[*bytes] = '\0';
		if (is_library(entry, own_path))
			return true;
	}
	return false;
}

/* Takes the library that holds `address` off the list. */
static void remove_preload(const void *address)
{
	char *list = getenv(PRELOAD_VARIABLE);
	size_t start = 0, bytes = 0;
	Dl_info library;

	if (!list || !address || !dladdr(address, &library) || !library.dli_fname ||
	    !find_entry(list, library.dli_fname, &start, &bytes))
		return;
	size_t total = strlen(list);
	/* One separator goes with it: the one behind, or that before the last entry. */
	size_t end = start + bytes;

	if (list[end])
		end++;
	else if (start)
		start--;
	if (start == 0 && end == total) {
		um_environment_remove(PRELOAD_VARIABLE);
		return;
	}
	memmove(list + start, list + end, total - end);
	memset(list + total - (end - start), 0, end - start);
}

void um_environment_clean(void)
{
	um_environment_remove(UM_SPOOL_VARIABLE);
	remove_preload(UM_SPOOL_VARIABLE);
	remove_preload(dlsym(RTLD_DEFAULT, "um_wrap_start"));
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
