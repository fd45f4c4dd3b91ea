/*
 * The way of a device's faults into its buffer (struct um_fault_path, driver.h). Whoever faults waits
 * here until the buffer takes its entry: a client (a compute unit's translation cache) asks for one
 * access at a time, in the order in which they came; clusters of clients take turns at the buffer.
 */
#ifndef UM_FAULT_QUEUE_H
#define UM_FAULT_QUEUE_H

#include "driver.h"

struct um_fault_queue;

/* UM_ENOMEM. The path says that there is a way: path->entry_ns > 0. */
int um_fault_queue_create(struct um_fault_queue **out, const struct um_fault_path *path);
void um_fault_queue_destroy(struct um_fault_queue *); /* NULL is legal */
/*
 * `id` is told again with its entries, of which there are fault->waves. *waits: false if the client
 * has as many accesses or misses as it can have; the fault gets no entry then. UM_ENOMEM.
 */
int um_fault_queue_add(struct um_fault_queue *, const struct um_fault *, uint32_t id, bool *waits);
/* The next entry that is in the buffer at `now`; false: none. */
bool um_fault_queue_next(struct um_fault_queue *, um_ns now, uint32_t *id);
/* When the next entry will be there; UM_NEVER. */
um_ns um_fault_queue_due(const struct um_fault_queue *);
/* All are asked for anew, as they are after a replay at `now`: none is left. */
void um_fault_queue_reset(struct um_fault_queue *, um_ns now);

#endif
