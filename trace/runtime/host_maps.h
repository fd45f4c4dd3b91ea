/* What is mapped where in this process: /proc/self/maps. No allocation; callers hold the lock. */
#ifndef UM_HOST_MAPS_H
#define UM_HOST_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct um_host_map {
	uintptr_t start, end;
	uint64_t offset, device, inode; /* of the file; inode 0: anonymous */
	bool readable;
	/* As the kernel shows it: a path, "[heap]", "[stack]", ...; "" for anonymous memory. */
	const char *name;
};

/*
 * Calls `look` for each mapping, ascending, until it returns false; the mapping lives for that call
 * only. False if the list cannot be read to where that was: mappings may be missing.
 */
bool um_host_maps_each(bool (*look)(const struct um_host_map *, void *context), void *context);

#endif
