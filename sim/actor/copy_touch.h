/* Managed pages that a copy reads and writes, where copies fault (um_driver_ops.copies_fault). */
#ifndef UM_COPY_TOUCH_H
#define UM_COPY_TOUCH_H

#include "simulation.h"

#include "trace/base/error.h"

enum { UM_COPY_SOURCE, UM_COPY_TARGET, UM_COPY_SIDES };

struct um_copy_touch_request {
	struct um_simulation_state *state;
	um_device_id device; /* that copies */
	uint32_t op;
	struct um_page_range pages[UM_COPY_SIDES]; /* managed ones; none: 0 pages */
	/* When the device can access them all: within the start if it can already. */
	um_event_fn done;
	void *context;
};

struct um_copy_touch;
/* *out is set before `done` is called. UM_ENOMEM. */
int um_copy_touch_start(struct um_copy_touch **out, const struct um_copy_touch_request *);
void um_copy_touch_destroy(struct um_copy_touch *); /* NULL is legal */

#endif
