/*
 * The actors' side of the fault buffers (the driver's side is in driver.h): raise a fault and wait.
 * A buffer calls the driver, as an event of its own, when faults have come.
 */
#ifndef UM_FAULT_BUFFER_H
#define UM_FAULT_BUFFER_H

#include "driver.h"

struct um_probe;

int um_fault_buffers_create(struct um_fault_buffers **out, struct um_engine *, struct um_probe *,
			    uint32_t devices);
void um_fault_buffers_destroy(struct um_fault_buffers *); /* NULL is legal */
/* Who serves, and how faults come to it. Before the first fault. UM_ENOMEM. */
int um_fault_buffers_attach(struct um_fault_buffers *, struct um_driver *);
/*
 * Into the buffer of fault->device; `number` and `raised_at` are filled in. Whoever faulted waits:
 * `wake` runs as an event when the access can be tried again. UM_ENOMEM.
 */
int um_fault_buffers_raise(struct um_fault_buffers *, const struct um_fault *, um_event_fn wake,
			   void *context, uint64_t argument);

#endif
