/*
 * Memory that the runtime owns and kernels use: dynamic LDS, and malloc() and free() of device
 * code.
 */
#include "device_export.h"
#include "runtime.h"

#include <malloc.h>
#include <stdlib.h>

char um_lds_dynamic[UM_LDS_BYTES] __attribute__((aligned(64)));

/* What kernels have allocated and not freed. Lives from launch to launch, as on a device. */
static uint64_t heap_bytes;

void *um_device_malloc(unsigned long bytes)
{
	uint64_t limit = um_device_get(0)->memory_bytes;
	void *memory;

	if (heap_bytes >= limit || bytes > limit - heap_bytes)
		return NULL;
	memory = malloc(bytes);
	if (memory)
		heap_bytes += malloc_usable_size(memory);
	return memory;
}

void um_device_free(void *memory)
{
	if (!memory)
		return;
	heap_bytes -= malloc_usable_size(memory);
	free(memory);
}
