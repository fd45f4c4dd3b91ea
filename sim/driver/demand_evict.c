/* Making room: the unit that came first leaves first. */
#include "demand.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

static bool is_covered(const struct um_page_range *range, um_alloc_id id, um_page page)
{
	return range && range->allocation == id && page >= range->first_page &&
	       page - range->first_page < range->pages;
}

static bool is_current(const struct demand *demand, const struct um_order_entry *entry,
		       um_device_id device)
{
	return um_demand_find(demand, entry->allocation) &&
	       *um_demand_arrival_of(demand, entry->allocation, entry->unit, device) ==
		       entry->arrival;
}

/* The oldest unit that is still there, NULL if none. */
static const struct um_order_entry *oldest(struct demand *demand, um_device_id device)
{
	const struct um_order_entry *entry;

	while ((entry = um_fault_order_oldest(&demand->order[device])) &&
	       !is_current(demand, entry, device))
		um_fault_order_pop(&demand->order[device]);
	return entry;
}

static void take(struct demand *demand, const struct um_order_entry *entry, um_device_id device)
{
	*um_demand_arrival_of(demand, entry->allocation, entry->unit, device) = 0;
	um_fault_order_pop(&demand->order[device]);
}

/* Takes the oldest unit and the neighbours that come next in order, as many as are needed. */
static struct um_page_range take_victims(struct demand *demand, um_device_id device,
					 uint64_t needed_pages, const struct um_page_range *keep)
{
	const struct um_order_entry *entry = oldest(demand, device);
	um_alloc_id id = entry->allocation;
	uint32_t first = entry->unit, units = 0;
	struct um_page_range range;

	do {
		take(demand, entry, device);
		range = um_demand_unit_range(demand, id, first, ++units);
		entry = oldest(demand, device);
	} while (range.pages < needed_pages && entry && entry->allocation == id &&
		 entry->unit == first + units &&
		 !is_covered(keep, id, entry->unit * demand->unit_pages));
	return range;
}

static int evict(struct demand *demand, const struct um_page_range *victims, uint32_t op, um_ns at,
		 um_ns *end)
{
	struct um_why why = {UM_CAUSE_EVICTION, op, 0};
	int error = um_machine_migrate(demand->machine, victims, UM_HOST, &why, at, end);

	return error ? error : um_demand_settle_on_host(demand, victims, &why);
}

int um_demand_make_room(struct demand *demand, um_device_id device, uint64_t bytes,
			const struct um_page_range *keep, uint32_t op, um_ns at, um_ns *end,
			bool *made)
{
	struct um_fault_order *order = &demand->order[device];
	size_t looked_at = 0, length = order->tail - order->head;
	uint64_t room;

	*end = at;
	while ((room = um_machine_memory_free(demand->machine, device)) < bytes &&
	       looked_at++ < length) {
		const struct um_order_entry *entry = oldest(demand, device);
		uint64_t needed = (bytes - room + UM_PAGE_BYTES - 1) / UM_PAGE_BYTES;
		struct um_page_range victims;
		um_ns left;
		int error;

		if (!entry)
			break;
		if (is_covered(keep, entry->allocation, entry->unit * demand->unit_pages)) {
			victims = um_demand_unit_range(demand, entry->allocation, entry->unit, 1);
			take(demand, entry, device);
			error = um_demand_note_arrival(demand, &victims, device);
		} else {
			victims = take_victims(demand, device, needed, keep);
			error = evict(demand, &victims, op, at, &left);
			*end = !error && left > *end ? left : *end;
		}
		if (error)
			return error;
	}
	*made = um_machine_memory_free(demand->machine, device) >= bytes;
	return 0;
}

int um_demand_on_pressure(struct um_driver *driver, um_device_id device, uint64_t bytes,
			  um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	um_ns now = um_machine_now(demand->machine);
	char text[3][32];
	bool made;
	int error = um_demand_make_room(demand, device, bytes, NULL, 0, now, done_at, &made);

	if (error || made)
		return error;
	return um_fail(UM_ELIMIT,
		       "device %d: %s do not fit: device allocations leave %s of its %s of memory",
		       device, um_format_bytes(text[0], sizeof(text[0]), bytes),
		       um_format_bytes(text[1], sizeof(text[1]),
				       um_machine_memory_free(demand->machine, device)),
		       um_format_bytes(text[2], sizeof(text[2]),
				       um_machine_memory_total(demand->machine, device)));
}
