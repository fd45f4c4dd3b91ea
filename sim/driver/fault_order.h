/*
 * The order in which units came to a device: the oldest is the first to be evicted. A unit that
 * comes again is the youngest. Entries of units that left otherwise are skipped lazily.
 */
#ifndef UM_FAULT_ORDER_H
#define UM_FAULT_ORDER_H

#include "sim/machine/machine.h"

struct um_fault_order {
	struct um_order_entry *ring; /* capacity is a power of two */
	size_t capacity, head, tail;
	uint64_t arrivals;
};

struct um_order_entry {
	um_alloc_id allocation;
	uint32_t unit;
	uint64_t arrival; /* from 1 */
};

/*
 * Adds the unit as the youngest; its arrival number tells live entries from stale ones. UM_ENOMEM.
 */
int um_fault_order_add(struct um_fault_order *, um_alloc_id, uint32_t unit, uint64_t *arrival);
/* The oldest entry, stale or not; NULL if there is none. */
const struct um_order_entry *um_fault_order_oldest(const struct um_fault_order *);
void um_fault_order_pop(struct um_fault_order *);
void um_fault_order_fini(struct um_fault_order *);

#endif
