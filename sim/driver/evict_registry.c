/* The only list of eviction orders. */
#include "evict.h"

static const struct um_evict_ops *const orders[] = {&um_evict_fifo, &um_evict_lru, &um_evict_random,
						    &um_evict_belady};

const struct um_evict_ops *const *um_evict_registry(size_t *count)
{
	*count = sizeof(orders) / sizeof(*orders);
	return orders;
}

int um_evict_create(struct um_evict_order **out, const struct um_evict_choice *chosen,
		    const struct um_evict_ops *own, um_device_id device)
{
	struct um_evict_choice choice = {.ops = own};

	if (chosen)
		choice = *chosen;
	return choice.ops->create(out, &choice, device);
}
