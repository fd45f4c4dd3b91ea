/* The end of a simulation whose program would have got no device memory. */
#ifndef UM_OUT_OF_MEMORY_H
#define UM_OUT_OF_MEMORY_H

#include "sim/machine/machine.h"

/*
 * Always UM_ELIMIT: a device allocation of `bytes` does not fit into `room_bytes`, which is what the
 * device allocations that there are leave of the memory. For ops->on_pressure().
 */
int um_refuse_device_allocation(const struct um_machine *, um_device_id, uint64_t bytes,
				uint64_t room_bytes);

#endif
