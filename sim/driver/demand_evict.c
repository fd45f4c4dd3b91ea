/* Making room: the order says who leaves. */
#include "demand.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

/* Takes the first victim and the neighbours that come next in order, as many as are needed. */
static bool take_victims(struct demand *demand, um_device_id device, uint64_t needed_pages,
			 struct um_page_range *victims)
{
	struct um_evict_order *order = demand->order[device];
	struct um_page_range unit;

	if (!um_evict_victim(order, victims, NULL, NULL))
		return false;
	um_demand_take_out(demand, victims, device);
	while (victims->pages < needed_pages && um_evict_victim(order, &unit, NULL, NULL) &&
	       unit.allocation == victims->allocation &&
	       unit.first_page == victims->first_page + victims->pages) {
		um_demand_take_out(demand, &unit, device);
		victims->pages += unit.pages;
	}
	return true;
}

static int evict(struct demand *demand, const struct um_page_range *victims, uint32_t op, um_ns at,
		 um_ns *end)
{
	struct um_why why = {UM_CAUSE_EVICTION, op, 0};
	int error = um_machine_migrate(demand->machine, victims, UM_HOST, &why, at, end);

	return error ? error : um_demand_settle_on_host(demand, victims, &why);
}

int um_demand_make_room(struct demand *demand, um_device_id device, uint64_t bytes, uint32_t op,
			um_ns at, um_ns *end, bool *made)
{
	struct um_page_range victims;
	uint64_t room;

	*end = at;
	while ((room = um_machine_memory_free(demand->machine, device)) < bytes) {
		uint64_t needed = (bytes - room + UM_PAGE_BYTES - 1) / UM_PAGE_BYTES;
		um_ns left;
		int error;

		if (!take_victims(demand, device, needed, &victims))
			break;
		error = evict(demand, &victims, op, at, &left);
		if (error)
			return error;
		*end = left > *end ? left : *end;
	}
	*made = room >= bytes;
	return 0;
}

int um_demand_on_pressure(struct um_driver *driver, um_device_id device, uint64_t bytes,
			  um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	um_ns now = um_machine_now(demand->machine);
	char text[3][32];
	bool made;
	int error = um_demand_make_room(demand, device, bytes, 0, now, done_at, &made);

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
