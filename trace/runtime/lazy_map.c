#include "lazy_map.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_ELEMENTS 1024u

void *um_lazy_map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_DONTDUMP);
	return memory;
}

bool um_lazy_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
	void **old = array;
	size_t wanted = *capacity ? 2 * *capacity : FIRST_ELEMENTS;
	void *grown;

	if (count < *capacity)
		return true;
	grown = um_lazy_map(wanted * element_bytes);
	if (!grown)
		return false;
	if (*capacity) {
		memcpy(grown, *old, count * element_bytes);
		munmap(*old, *capacity * element_bytes);
	}
	*old = grown;
	*capacity = wanted;
	return true;
}
