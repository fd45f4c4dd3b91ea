#include "fault_order.h"

#include "trace/base/error.h"

#include <stdlib.h>

static int grow(struct um_fault_order *order)
{
	size_t capacity = order->capacity ? order->capacity * 2 : 1024;
	struct um_order_entry *ring = malloc(capacity * sizeof(*ring));
	size_t count = order->tail - order->head;

	if (!ring)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %zu", capacity);
	for (size_t i = 0; i < count; i++)
		ring[i] = order->ring[(order->head + i) & (order->capacity - 1)];
	free(order->ring);
	order->ring = ring;
	order->capacity = capacity;
	order->head = 0;
	order->tail = count;
	return 0;
}

int um_fault_order_add(struct um_fault_order *order, um_alloc_id allocation, uint32_t unit,
		       uint64_t *arrival)
{
	if (order->tail - order->head == order->capacity && grow(order))
		return UM_ENOMEM;
	*arrival = ++order->arrivals;
	order->ring[order->tail++ & (order->capacity - 1)] =
		(struct um_order_entry){allocation, unit, *arrival};
	return 0;
}

const struct um_order_entry *um_fault_order_oldest(const struct um_fault_order *order)
{
	return order->head == order->tail ? NULL
					  : &order->ring[order->head & (order->capacity - 1)];
}

void um_fault_order_pop(struct um_fault_order *order)
{
	order->head++;
}

void um_fault_order_fini(struct um_fault_order *order)
{
	free(order->ring);
}
