/* Making room: the order says who leaves. */
#include "demand.h"
#include "out_of_memory.h"

#include "trace/spool/spool_record.h"

/* Takes the first victim and the neighbours that come next in order, as many as are needed. */
static bool take_victims(struct demand *demand, um_device_id device, uint64_t needed_pages,
			 struct um_page_range *victims)
{
	struct um_evict_order *order = demand->order[device];
	struct um_page_range unit;

	if (!um_evict_victim(order, victims))
		return false;
	um_demand_take_out(demand, victims, device);
	while (victims->pages < needed_pages && um_evict_victim(order, &unit) &&
	       unit.allocation == victims->allocation &&
	       unit.first_page == victims->first_page + victims->pages) {
		um_demand_take_out(demand, &unit, device);
		victims->pages += unit.pages;
	}
	return true;
}

/* Whether another device has a copy of a page; *end: it is so as far as there. */
static bool is_elsewhere(const struct demand *demand, um_alloc_id id, um_page page,
			 um_device_id device, um_page *end)
{
	bool elsewhere = false;

	for (um_device_id i = 0; i < (um_device_id)demand->devices; i++) {
		enum um_mapping_state map;
		uint32_t place;

		if (i == device)
			continue;
		*end = um_machine_run_end(demand->machine, id, page, *end, i, &place, &map);
		elsewhere |= (place & UM_PAGE_DEVICE) != 0;
	}
	return elsewhere;
}

/* The first pages of the range that are elsewhere, or are not, all alike. */
static struct um_page_range alike(const struct demand *demand, const struct um_page_range *range,
				  um_device_id device, bool *elsewhere)
{
	um_page end = range->first_page + range->pages, next = end;

	*elsewhere = is_elsewhere(demand, range->allocation, range->first_page, device, &next);
	while (next < end) {
		um_page further = end;

		if (is_elsewhere(demand, range->allocation, next, device, &further) != *elsewhere)
			break;
		next = further;
	}
	return (struct um_page_range){range->allocation, range->first_page,
				      next - range->first_page};
}

static int to_host(struct demand *demand, const struct um_page_range *range,
		   const struct um_why *why, um_ns at, um_ns *end)
{
	int error = um_machine_migrate(demand->machine, range, UM_HOST, why, at, end);

	return error ? error : um_demand_settle_on_host(demand, range, why);
}

static int drop(struct demand *demand, const struct um_page_range *range, um_device_id device,
		const struct um_why *why)
{
	int error = um_machine_drop(demand->machine, range, device, why);

	um_demand_release_unfilled(demand, range);
	return error;
}

/* What another device has a copy of stays there; the rest goes to the host. */
static int evict(struct demand *demand, const struct um_page_range *victims, um_device_id device,
		 uint32_t op, um_ns at, um_ns *end)
{
	struct um_why why = {UM_CAUSE_EVICTION, op, 0};
	struct um_page_range rest = *victims;
	bool done = false;
	int error = 0;

	*end = at;
	if (victims->pages == 1 && !um_demand_find(demand, victims->allocation)->accessed_by)
		error = um_machine_send_page_home(demand->machine, victims, &why, at, end, &done);
	if (error || done)
		return error;
	while (rest.pages && !error) {
		bool elsewhere;
		struct um_page_range part = alike(demand, &rest, device, &elsewhere);
		um_ns left = at;

		error = elsewhere ? drop(demand, &part, device, &why)
				  : to_host(demand, &part, &why, at, &left);
		*end = left > *end ? left : *end;
		rest.first_page += part.pages;
		rest.pages -= part.pages;
	}
	return error;
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
		error = evict(demand, &victims, device, op, at, &left);
		if (error)
			return error;
		*end = left > *end ? left : *end;
	}
	*made = room >= bytes;
	return 0;
}

int um_demand_on_pressure(struct um_driver *driver, const struct um_pressure *pressure,
			  um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	um_device_id device = pressure->device;
	um_ns now = um_machine_now(demand->machine);
	bool made;
	int error = um_demand_make_room(demand, device, pressure->bytes, pressure->op, now, done_at,
					&made);

	return error || made ? error
			     : um_refuse_device_allocation(
				       demand->machine, device, pressure->bytes,
				       um_machine_memory_free(demand->machine, device));
}
