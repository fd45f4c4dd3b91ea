/*
 * What a launch's shape says before any group runs: how many groups the machine holds, how many
 * touches each makes side by side, and what those take.
 */
#ifndef UM_KERNEL_SHAPE_H
#define UM_KERNEL_SHAPE_H

#include "simulation.h"

struct um_kernel_shape {
	uint32_t reads_most, writes_most; /* on how many pages a group waits, each at least 1 */
	uint32_t waves;			  /* that make a touch; 0: none is whole */
	um_ns read_ns, write_ns;	  /* of a touch that hits */
};

/* How a launch's groups touch pages under the simulation's driver. */
void um_kernel_shape(struct um_kernel_shape *, const struct um_simulation_state *,
		     const struct um_kernel_row *, const struct um_groups *);
/*
 * What a launch computes, less all waiting: as measured where that is known, else estimated by the roofline
 * of what was recorded of it: bytes at the memory's bandwidth without caches, accesses of lanes as the
 * compute units issue them, whichever takes longer.
 */
um_ns um_kernel_compute_ns(struct um_simulation_state *, const struct um_kernel_row *);
/* So of a memset: its bytes. */
um_ns um_kernel_fill_ns(const struct um_simulation_state *, int64_t bytes);

#endif
