/* demand's units in the orders of the devices: what has memory there is in them, nothing else. */
#include "demand.h"

#include <string.h>

/* Of the device, a mark for each unit. */
static bool *marks(const struct demand_allocation *allocation, um_device_id device)
{
	return allocation->in_order + (size_t)device * allocation->units;
}

/* The first unit of [from, end) that is in the order; `end` if none is. */
static uint32_t next_in_order(const bool *in_order, uint32_t from, uint32_t end)
{
	const bool *found;

	if (from == end || in_order[from])
		return from;
	if (from + 1 == end) /* a fault's unit, by far the most frequent */
		return end;
	found = memchr(in_order + from, true, end - from);
	return found ? (uint32_t)(found - in_order) : end;
}

static void take_unit_out(struct demand *demand, bool *in_order, um_alloc_id id, uint32_t unit,
			  um_device_id device)
{
	in_order[unit] = false;
	um_evict_left(demand->order[device], id, unit << demand->unit_shift);
}

void um_demand_take_out(struct demand *demand, const struct um_page_range *range,
			um_device_id device)
{
	bool *in_order = marks(um_demand_find(demand, range->allocation), device);
	uint32_t unit, end;

	um_demand_units_of(demand, range, &unit, &end);
	for (; (unit = next_in_order(in_order, unit, end)) < end; unit++)
		take_unit_out(demand, in_order, range->allocation, unit, device);
}

void um_demand_note_leaving(struct demand *demand, const struct um_page_range *range,
			    um_device_id device)
{
	bool *in_order = marks(um_demand_find(demand, range->allocation), device);
	uint32_t unit, end;

	um_demand_units_of(demand, range, &unit, &end);
	for (; (unit = next_in_order(in_order, unit, end)) < end; unit++) {
		struct um_page_range pages =
			um_demand_unit_range(demand, range->allocation, unit, 1);

		if (um_machine_unreserved(demand->machine, &pages, device) == pages.pages)
			take_unit_out(demand, in_order, range->allocation, unit, device);
	}
}

int um_demand_put_in(struct demand *demand, const struct um_page_range *range, um_device_id device)
{
	bool *in_order = marks(um_demand_find(demand, range->allocation), device);
	uint32_t unit, end;
	int error = 0;

	for (um_demand_units_of(demand, range, &unit, &end); unit < end && !error; unit++) {
		struct um_page_range pages =
			um_demand_unit_range(demand, range->allocation, unit, 1);

		if (in_order[unit] ||
		    um_machine_unreserved(demand->machine, &pages, device) == pages.pages)
			continue;
		error = um_evict_arrived(demand->order[device], &pages);
		in_order[unit] = !error;
	}
	return error;
}

void um_demand_on_touch(struct um_driver *driver, const struct um_page_range *range,
			um_device_id device, bool write)
{
	(void)write;
	if (device != UM_HOST)
		um_evict_touched(demand_of(driver)->order[device], range);
}

void um_demand_on_touch_ahead(const struct um_driver *driver, um_alloc_id id, um_page page,
			      um_device_id device)
{
	const struct demand *demand = (const struct demand *)driver;
	const struct demand_allocation *allocation = um_demand_find(demand, id);
	uint32_t unit = page >> demand->unit_shift;

	if (!allocation || unit >= allocation->units)
		return;
	__builtin_prefetch(&allocation->advice[unit]);
	__builtin_prefetch(&marks(allocation, device)[unit]);
	um_evict_ahead(demand->order[device], id, unit << demand->unit_shift);
}
