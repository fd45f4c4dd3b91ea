/*
 * fifo: the unit that came first leaves first, however often it was used since. What a driver does
 * that keeps units in the order in which they faulted: a hit never reaches it.
 */
#include "evict_list.h"

static int fifo_create(struct um_evict_order **out, const struct um_evict_choice *choice,
		       um_device_id device)
{
	(void)device;
	return um_evict_list_create(out, choice->ops);
}

const struct um_evict_ops um_evict_fifo = {
	.name = "fifo",
	.summary = "first in, first out: the order of arrival, as drivers keep it",
	.hypothetical = "this driver does not keep the order of arrival",
	.create = fifo_create,
	.destroy = um_evict_list_destroy,
	.arrived = um_evict_list_arrived,
	.ahead = um_evict_list_ahead,
	.left = um_evict_list_left,
	.victim = um_evict_list_victim,
};
