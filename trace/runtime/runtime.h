/*
 * What the files of the HIP runtime share: the lock, per-thread state, the device that is played,
 * and how an API function reports.
 */
#ifndef UM_RUNTIME_H
#define UM_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One lock for the whole runtime: launches complete before they return, one at a time. Recursive.
 */
void um_runtime_lock(void);
void um_runtime_unlock(void);
/*
 * For what exit() runs: false when a kernel of another thread, which may never end, has held the
 * lock for ten seconds.
 */
bool um_runtime_lock_at_exit(void);

/* What a device pretends to be; from umtrace --machine (struct um_spool_config), else one MI250X
 * GCD. */
struct um_played_device {
	char name[64];
	char arch[32];
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t clock_khz;
	uint32_t memory_clock_khz;
	uint32_t memory_bus_bits;
	uint32_t l2_bytes;
	bool xnack;	  /* faults are retried for this process */
	bool host_access; /* the host reaches its memory where it is */
};
uint32_t um_device_count(void);
const struct um_played_device *um_device_get(uint32_t device);

#endif
