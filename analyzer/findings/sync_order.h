/*
 * What of the device's work the host has waited for, as far as the program's calls tell: HIP's rules of
 * streams, events and the legacy null stream (HIP programming guide, "Asynchronous concurrent execution";
 * the same as sim/actor/actor_stream.c plays). Threads of the host are taken as one: what one of them has
 * waited for, all know. A host function of a stream is taken to tell the host that it ran, and a query that found
 * its work done orders as a wait does.
 */
#ifndef UM_SYNC_ORDER_H
#define UM_SYNC_ORDER_H

#include "finding_rule.h"

struct um_sync_order;

/* A launch, copy or memset: the `position`-th of its stream. */
struct um_sync_work {
	uint32_t stream, position;
};

/*
 * `queries_told`: the trace has queries (schema version 6). Else an event that is recorded is taken to be
 * asked for before the host goes on. UM_ENOMEM.
 */
int um_sync_order_create(struct um_sync_order **out, bool queries_told);
void um_sync_order_destroy(struct um_sync_order *); /* NULL is legal */
/*
 * The next call in program order; those that failed are nothing. Sets *work and returns 1 where it is
 * work of a device that the host does not wait for; else 0. UM_ENOMEM.
 */
int um_sync_order_pass(struct um_sync_order *, const struct um_fact_op *,
		       struct um_sync_work *work);
/* Whether the host has waited for it, or there are more streams than are followed. */
bool um_sync_order_is_done(const struct um_sync_order *, struct um_sync_work);

#endif
