/* demand's allocations, cut into units. */
#include "demand.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

struct demand_allocation *um_demand_find(const struct demand *demand, um_alloc_id id)
{
	return id < demand->allocation_slots ? demand->allocations[id] : NULL;
}

void um_demand_free_allocation(struct demand_allocation *allocation)
{
	if (!allocation)
		return;
	free(allocation->advice);
	free(allocation->in_order);
	free(allocation);
}

static int make_slot(struct demand *demand, um_alloc_id id)
{
	size_t slots = demand->allocation_slots ? demand->allocation_slots : 64;
	struct demand_allocation **grown;

	if (id < demand->allocation_slots)
		return 0;
	while (slots <= id)
		slots *= 2;
	grown = realloc(demand->allocations, slots * sizeof(struct demand_allocation *));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", slots);
	memset(grown + demand->allocation_slots, 0,
	       (slots - demand->allocation_slots) * sizeof(struct demand_allocation *));
	demand->allocations = grown;
	demand->allocation_slots = slots;
	return 0;
}

int um_demand_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	struct demand_allocation *allocation;

	(void)done_at;
	if (alloc->kind != UM_ALLOCATION_MANAGED)
		return 0;
	if (make_slot(demand, alloc->allocation))
		return UM_ENOMEM;
	allocation = calloc(1, sizeof(*allocation));
	if (!allocation)
		return um_fail(UM_ENOMEM, "no memory for allocation %u", alloc->allocation);
	allocation->pages = um_machine_pages(demand->machine, alloc->allocation);
	allocation->units = allocation->pages / demand->unit_pages +
			    (allocation->pages % demand->unit_pages > 0);
	allocation->advice = calloc(allocation->units + 1, sizeof(*allocation->advice));
	allocation->in_order = calloc((size_t)allocation->units * demand->devices + 1,
				      sizeof(*allocation->in_order));
	if (!allocation->advice || !allocation->in_order) {
		um_demand_free_allocation(allocation);
		return um_fail(UM_ENOMEM, "no memory for the units of allocation %u",
			       alloc->allocation);
	}
	demand->allocations[alloc->allocation] = allocation;
	return 0;
}

int um_demand_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	struct demand_allocation *allocation = um_demand_find(demand, id);

	(void)done_at;
	if (!allocation)
		return 0;
	for (um_device_id device = 0; device < (um_device_id)demand->devices; device++) {
		struct um_page_range all = {id, 0, allocation->pages};

		um_demand_take_out(demand, &all, device);
	}
	um_demand_free_allocation(allocation);
	demand->allocations[id] = NULL;
	return 0;
}

/* --- units --- */

struct um_page_range um_demand_unit_range(const struct demand *demand, um_alloc_id id,
					  uint32_t unit, uint32_t units)
{
	um_page pages = um_demand_find(demand, id)->pages, first = unit * demand->unit_pages;
	uint64_t count = (uint64_t)units * demand->unit_pages;

	return (struct um_page_range){id, first,
				      count > pages - first ? pages - first : (uint32_t)count};
}

void um_demand_units_of(const struct demand *demand, const struct um_page_range *range,
			uint32_t *first, uint32_t *end)
{
	*first = range->first_page >> demand->unit_shift;
	*end = range->pages ? ((range->first_page + range->pages - 1) >> demand->unit_shift) + 1
			    : *first;
}
