#include "import_api.h"

#include <string.h>

/* Less "hip", "cuda", "cu", and a version behind '_'. */
static const struct {
	const char *name;
	int kind, allocation_kind;
} calls[] = {
	{"MallocManaged", UM_OP_ALLOC, UM_ALLOCATION_MANAGED},
	{"MemAllocManaged", UM_OP_ALLOC, UM_ALLOCATION_MANAGED},
	{"Malloc", UM_OP_ALLOC, UM_ALLOCATION_DEVICE},
	{"MallocAsync", UM_OP_ALLOC, UM_ALLOCATION_DEVICE},
	{"MemAlloc", UM_OP_ALLOC, UM_ALLOCATION_DEVICE},
	{"HostMalloc", UM_OP_ALLOC, UM_ALLOCATION_PINNED},
	{"HostAlloc", UM_OP_ALLOC, UM_ALLOCATION_PINNED},
	{"MallocHost", UM_OP_ALLOC, UM_ALLOCATION_PINNED},
	{"MemHostAlloc", UM_OP_ALLOC, UM_ALLOCATION_PINNED},
	{"Free", UM_OP_FREE, 0},
	{"FreeAsync", UM_OP_FREE, 0},
	{"MemFree", UM_OP_FREE, 0},
	{"HostFree", UM_OP_FREE, 0},
	{"FreeHost", UM_OP_FREE, 0},
	{"MemFreeHost", UM_OP_FREE, 0},
	{"MemAdvise", UM_OP_ADVISE, 0},
	{"MemPrefetchAsync", UM_OP_PREFETCH, 0},
	{"DeviceSynchronize", UM_OP_SYNC_DEVICE, 0},
	{"CtxSynchronize", UM_OP_SYNC_DEVICE, 0},
	{"ThreadSynchronize", UM_OP_SYNC_DEVICE, 0},
	{"StreamSynchronize", UM_OP_SYNC_STREAM, 0},
};

int um_import_api(const char *name, int *allocation_kind)
{
	static const char *const prefixes[] = {"hip", "cuda", "cu"};
	size_t skipped = 0, length;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && !skipped; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			skipped = strlen(prefixes[i]);
	name += skipped;
	length = strcspn(name, "_");
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls) && skipped; i++)
		if (strlen(calls[i].name) == length && strncmp(name, calls[i].name, length) == 0) {
			*allocation_kind = calls[i].allocation_kind;
			return calls[i].kind;
		}
	*allocation_kind = 0;
	return 0;
}
