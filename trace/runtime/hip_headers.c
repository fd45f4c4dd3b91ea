#include "hip_headers.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define HIP_RUNTIME "libamdhip64.so"

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

/* Of "libamdhip64.so.6": 6. Without a number it is as old as the oldest. 0: another library. */
static unsigned major_of(const char *library)
{
	size_t length = sizeof(HIP_RUNTIME) - 1;

	if (strncmp(library, HIP_RUNTIME, length) != 0)
		return 0;
	unsigned major = library[length] == '.' ? (unsigned)library[length + 1] - '0' : 0;

	return major > UM_HIP_HEADERS_OLDEST && major <= 9 ? major : UM_HIP_HEADERS_OLDEST;
}

static int find_needed(struct dl_phdr_info *object, size_t bytes, void *found)
{
	const ElfW(Dyn) *dynamic = dynamic_section(object);
	const char *strings = dynamic ? string_table(object, dynamic) : NULL;

	(void)bytes;
	for (; strings && dynamic->d_tag != DT_NULL; dynamic++) {
		unsigned major =
			dynamic->d_tag == DT_NEEDED ? major_of(strings + dynamic->d_un.d_val) : 0;

		if (major > *(unsigned *)found)
			*(unsigned *)found = major;
	}
	return 0;
}

unsigned um_hip_needed(void)
{
	unsigned found = 0;

	dl_iterate_phdr(find_needed, &found);
	return found;
}

static _Atomic unsigned told = UM_HIP_HEADERS_OLDEST;
static _Atomic unsigned long long loads_seen; /* of dl_phdr_info.dlpi_adds */

/* Stops at the first object: only how often something was loaded is asked for. */
static int get_loads(struct dl_phdr_info *object, size_t bytes, void *loads)
{
	(void)bytes;
	*(unsigned long long *)loads = object->dlpi_adds;
	return 1;
}

void um_hip_headers_at_least(unsigned major)
{
	unsigned known = atomic_load(&told);

	while (known < major && !atomic_compare_exchange_weak(&told, &known, major))
		;
}

unsigned um_hip_headers(void)
{
	unsigned long long loads = 0;

	dl_iterate_phdr(get_loads, &loads);
	if (atomic_exchange(&loads_seen, loads) != loads)
		um_hip_headers_at_least(um_hip_needed());
	unsigned major = atomic_load(&told);

	return major < UM_HIP_HEADERS_NEWEST ? major : UM_HIP_HEADERS_NEWEST;
}
