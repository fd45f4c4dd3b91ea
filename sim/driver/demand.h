/*
 * Between the files of the driver demand (driver_demand.c says what it is): its state, and what
 * each of them does for the others.
 */
#ifndef UM_DEMAND_H
#define UM_DEMAND_H

#include "driver.h"
#include "evict.h"

/* unit_advice.preferred: 0 is none, so that an allocation's advice starts as memory that is not
 * there. */
#define PREFERRED(device) ((uint8_t)((device) + 2))
#define PREFERRED_HOST	  PREFERRED(UM_HOST)

struct unit_advice {
	uint16_t accessed_by; /* bit n: device n */
	uint8_t preferred;    /* PREFERRED() or 0 */
	bool read_mostly;
};
_Static_assert(UM_DEVICES_MAX <= 16, "a bit of accessed_by for each device");

struct demand_allocation {
	uint32_t units;
	um_page pages;
	uint16_t accessed_by; /* of any unit: 0 spares looking */
	struct unit_advice *advice;
	bool *in_order; /* [device * units + unit]: of the device */
};

struct demand {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_machine *machine;
	uint32_t devices;
	um_page unit_pages;
	unsigned
		unit_shift; /* its logarithm: units are found by every page, and division is slow */
	um_ns fault_latency_ns;
	uint64_t served; /* faults */
	um_ns busy_until;
	bool service_is_due; /* an event of serve_waiting() is in the queue */
	struct um_evict_order *order[UM_DEVICES_MAX]; /* units that have memory there */
	struct demand_allocation **allocations;	      /* by id */
	size_t allocation_slots;
};

/* --- allocations and their units (demand_units.c) --- */

/* NULL if it is none of managed memory. */
struct demand_allocation *um_demand_find(const struct demand *, um_alloc_id);
void um_demand_free_allocation(struct demand_allocation *); /* NULL is legal */
/* The pages of `units` units from `unit` on. */
struct um_page_range um_demand_unit_range(const struct demand *, um_alloc_id, uint32_t unit,
					  uint32_t units);
/* Rounds outwards to whole units. */
void um_demand_units_of(const struct demand *, const struct um_page_range *, uint32_t *first,
			uint32_t *end);
int um_demand_on_alloc(struct um_driver *, const struct um_alloc *, um_ns *done_at);
int um_demand_on_free(struct um_driver *, um_alloc_id, um_ns *done_at);

/* --- the order in which units leave a device (demand_order.c) --- */

/* Those that have memory of the device and are not in the order come into it as new. */
int um_demand_put_in(struct demand *, const struct um_page_range *, um_device_id);
/* The units, or what of them is in the order, leave it: they are gone, or are not to be evicted. */
void um_demand_take_out(struct demand *, const struct um_page_range *, um_device_id);
/* Those that have no memory of the device any more leave the order. */
void um_demand_note_leaving(struct demand *, const struct um_page_range *, um_device_id);
void um_demand_on_touch(struct um_driver *, const struct um_page_range *, um_device_id, bool write);
void um_demand_on_touch_ahead(const struct um_driver *, um_alloc_id, um_page, um_device_id);

/* --- advice, and where units are (demand_advice.c) --- */

/* The host has the only copy from now on: maps it for whom advice says so. */
int um_demand_settle_on_host(struct demand *, const struct um_page_range *, const struct um_why *);
/* Memory of a device is for what is there. */
void um_demand_release_unfilled(struct demand *, const struct um_page_range *);
int um_demand_on_advice(struct um_driver *, const struct um_advice *, um_ns *done_at);
int um_demand_on_copied(struct um_driver *, const struct um_page_range *);

/* --- eviction (demand_evict.c) --- */

/*
 * Makes room; *end: when what leaves has left. False in *made, and as much room as there can be, if
 * what is in the order does not have that much.
 */
int um_demand_make_room(struct demand *, um_device_id, uint64_t bytes, uint32_t op, um_ns at,
			um_ns *end, bool *made);
int um_demand_on_pressure(struct um_driver *, const struct um_pressure *, um_ns *done_at);

/* --- coming to a device (demand_fault.c, demand_prefetch.c) --- */

struct arrival_plan {
	struct um_page_range range; /* whole units, advised alike */
	um_device_id device;
	bool duplicate;
	struct um_why why;
};

/* There is room. They are not in the order yet: um_demand_put_in() when all is there. */
int um_demand_bring(struct demand *, const struct arrival_plan *, um_ns at, um_ns *end);
int um_demand_on_faults(struct um_driver *, struct um_fault_buffer *);
int um_demand_on_prefetch(struct um_driver *, const struct um_prefetch *, um_ns *done_at);

static inline struct demand *demand_of(struct um_driver *driver)
{
	return (struct demand *)driver;
}

#endif
