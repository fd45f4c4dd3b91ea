/*
 * Records of where the host first read and wrote the pages of an interval (umtrace --host-sync). Callers
 * hold the runtime lock.
 */
#ifndef UM_TRACER_HOST_ACCESS_H
#define UM_TRACER_HOST_ACCESS_H

#include "arena.h"

/* Of pages of the arena that lie in this allocation, and that UM_OP_HOST `op` touched. */
void um_tracer_host_access(uint32_t op, const struct um_allocation *, uint64_t first_page,
			   uint64_t pages);
/* Writes what is still kept; before the op ends. */
void um_tracer_host_access_end(void);

#endif
