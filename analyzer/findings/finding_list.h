/* Every rule, for registry.c; in files finding_NAME.c. */
#ifndef UM_FINDING_LIST_H
#define UM_FINDING_LIST_H

#include "finding_rule.h"

extern const struct um_finding_rule um_finding_ping_pong, um_finding_thrashing,
	um_finding_false_sharing, um_finding_over_fetch, um_finding_read_mostly,
	um_finding_host_preferred, um_finding_device_preferred, um_finding_prefetch_harmful,
	um_finding_prefetch_useless, um_finding_prefetch_stream, um_finding_prefetch_late,
	um_finding_prefetch_missing, um_finding_advice_harmful, um_finding_advice_without_effect;
extern const struct um_finding_rule um_finding_missing_sync, um_finding_xnack_off,
	um_finding_memory_headroom, um_finding_device_memory, um_finding_pinned_memory,
	um_finding_small_allocations, um_finding_remote_atomics, um_finding_link_saturated,
	um_finding_fragmentation, um_finding_shared_by_devices, um_finding_float_atomics;

#endif
