/*
 * What is mapped where, from one reading of /proc/self/maps for many addresses. Where an address is
 * in no mapping of the snapshot that can be read, the list is read anew: mappings come while a kernel
 * runs. One that went meanwhile and has another in its place is seen after um_host_snapshot_drop()
 * only, which is due before each launch. Callers hold the lock.
 */
#ifndef UM_HOST_SNAPSHOT_H
#define UM_HOST_SNAPSHOT_H

#include "host_maps.h"

/* Of a mapping's name, with the NUL; of a longer one the snapshot has the end, which says more. */
#define UM_HOST_NAME_BYTES 256u

/*
 * The mapping that holds the address, if it can be read, until the next call of these two. NULL:
 * there is none, or no memory to keep it in.
 */
const struct um_host_map *um_host_snapshot_find(uintptr_t address);
/* Mappings may have changed. */
void um_host_snapshot_drop(void);

#endif
