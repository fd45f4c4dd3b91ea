/* What a simulation did of what ideal.h has the least of: the one side of the distance to it. */
#ifndef UM_IDEAL_SPENT_H
#define UM_IDEAL_SPENT_H

#include "ideal.h"

#include "sim/probe/probe.h"

#include <stddef.h>
#include <stdint.h>

struct um_ideal_spent {
	/* Migrated, and accessed over the link, of what the trace has as managed memory. */
	uint64_t bytes_to_device, bytes_to_host;
	uint64_t device_faults, host_faults;
	unsigned char *managed; /* [allocation] */
	size_t allocations;
};

/* From a trace's allocations. UM_ENOMEM, UM_EFORMAT. */
int um_ideal_spent_init(struct um_ideal_spent *, struct um_db *trace);
/* The observer adds into the struct, which outlives the probe. */
struct um_observer um_ideal_spent_observer(struct um_ideal_spent *);
void um_ideal_spent_fini(struct um_ideal_spent *);

#endif
