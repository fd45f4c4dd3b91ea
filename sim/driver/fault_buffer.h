/*
 * The actors' side of the fault buffer (the driver's side is in driver.h): raise a fault and wait.
 * The buffer calls the driver when it is idle and faults wait; the driver is busy until the last
 * done_at of what it served.
 */
#ifndef UM_FAULT_BUFFER_H
#define UM_FAULT_BUFFER_H

#include "driver.h"

struct um_probe;

int um_fault_buffer_create(struct um_fault_buffer **out, struct um_engine *, struct um_probe *);
void um_fault_buffer_destroy(struct um_fault_buffer *);
/* Who serves. Before the first fault. */
void um_fault_buffer_attach(struct um_fault_buffer *, struct um_driver *);
/*
 * Whoever faulted waits: `wake` runs as an event when the access can be tried again. A fault that
 * waits already on the same page of the same device is joined (a write makes it one).
 */
int um_fault_buffer_raise(struct um_fault_buffer *, const struct um_fault *, um_event_fn wake,
			  void *context, uint64_t argument);

#endif
