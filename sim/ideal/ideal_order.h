/*
 * Which operations are certain to be over when another begins, however fast each is: what streams,
 * events and the host's waiting promise, and no more (actor_stream.c and host_ops.c do the same).
 *
 * Operations on devices whose accesses count are numbered from 1 in the trace's order; any other is
 * only told where it makes something wait.
 */
#ifndef UM_IDEAL_ORDER_H
#define UM_IDEAL_ORDER_H

#include "trace/db/rows.h"

#include <stdbool.h>

struct um_op_order;

int um_op_order_create(struct um_op_order **out);
void um_op_order_destroy(struct um_op_order *);

/*
 * A kernel, memset or copy is put on the op's stream. `counts`: it gets the next number. *alone: all
 * that have a number are over when it begins. UM_ENOMEM.
 */
int um_op_order_task(struct um_op_order *, const struct um_op_row *, bool counts, bool *alone);
/* The host does the op that is no task: waits, records an event, ... UM_ENOMEM. */
int um_op_order_host(struct um_op_order *, const struct um_op_row *);
/* hipFree and its like: the host waits for everything. */
void um_op_order_wait_all(struct um_op_order *);

/* All operations with numbers up to this are over, as far as the host knows now. */
uint32_t um_op_order_over(const struct um_op_order *);

#endif
