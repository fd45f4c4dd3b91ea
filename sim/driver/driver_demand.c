/*
 * demand: textbook paging at one page size, for teaching and for tests whose answers can be worked
 * out by hand. It is no model of a driver that exists.
 *
 * Assumptions
 * - A unit is page_bytes of an allocation, counted from its start (allocations begin 2 MiB
 *   aligned). The last unit has only the pages that there are.
 * - Device memory is reserved for what is there, no more.
 * - A device fault moves its whole unit to the device; a host fault moves it back. Only pages that
 *   hold data cross the link; the others change their home for nothing.
 * - Faults are served one at a time, in the order in which they were raised, the host's among them.
 *   Each takes fault_latency, then the link's time.
 * - First touch by the host is the operating system's: page by page, free, not counted as a fault.
 *   First touch by a device is a device fault without bytes.
 * - Under memory pressure the unit that came first leaves first (fault order). It goes to the host,
 *   which can use it at once without a fault; a copy that the host has as well is just dropped.
 *   What comes in starts when what leaves has left, a device allocation too. Neighbours that leave
 *   together share a transfer.
 * - Advice goes by whole units, rounded outwards.
 *   preferred_location host: a device fault maps the unit over the link; nothing migrates to the
 *     device (a unit that is there already stays). preferred_location of a device: faults move the
 *     unit as ever; the host cannot map device memory, so that its accesses bring the unit back.
 *   accessed_by: the device has the unit mapped over the link, without a fault, while the host has
 *     it. Where nobody has touched the unit there is nothing to map: the first touch decides.
 *   read_mostly: a read fault copies the unit and leaves the other copy; a write by either side
 *     faults where there is or was a copy, and drops the other.
 *   coarse_grain changes no placement and is ignored.
 * - A prefetch moves whole units, without faults, in as few transfers as there are runs of data. It
 *   evicts others but not what it brought itself: what does not fit stays where it is.
 */
#include "driver_list.h"
#include "fault_order.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

/* unit_advice.preferred: 0 is none, so that an allocation's advice starts as memory that is not
 * there. */
#define PREFERRED(device) ((uint8_t)((device) + 2))
#define PREFERRED_HOST	  PREFERRED(UM_HOST)

enum demand_param { PARAM_FAULT_LATENCY };
static const struct um_param demand_params[] = {
	[PARAM_FAULT_LATENCY] =
		{
			.name = "fault_latency",
			.type = UM_PARAM_DURATION,
			.minimum = 0,
			.maximum = 1e9,
			.default_text = "45us",
			.help = "time to serve a fault, without the transfer (default: what "
				"gpgpu-sim_UVMSmart assumes of a far fault of a GTX 1080 Ti; not "
				"measured "
				"by us)",
		},
	{.name = NULL},
};
static const uint64_t demand_page_bytes[] = {4096, 65536, 2097152, 0};

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
	uint64_t *arrival; /* [device * units + unit]: in the fault order of the device; 0 not there
			    */
};

struct demand {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_machine *machine;
	uint32_t devices;
	um_page unit_pages;
	um_ns fault_latency_ns;
	uint64_t served; /* faults */
	um_ns busy_until;
	bool service_is_due; /* an event of serve_waiting() is in the queue */
	struct um_fault_order order[UM_DEVICES_MAX];
	struct demand_allocation **allocations; /* by id */
	size_t allocation_slots;
};

static struct demand *demand_of(struct um_driver *driver)
{
	return (struct demand *)driver;
}

static struct demand_allocation *find(const struct demand *demand, um_alloc_id id)
{
	return id < demand->allocation_slots ? demand->allocations[id] : NULL;
}

/* --- life --- */

static int demand_create(struct um_driver **out, const struct um_driver_env *env)
{
	uint64_t page_bytes =
		env->page_bytes ? env->page_bytes : um_driver_demand.default_page_bytes;
	struct demand *demand = calloc(1, sizeof(*demand));

	if (!demand)
		return um_fail(UM_ENOMEM, "no memory for the driver");
	demand->base.ops = &um_driver_demand;
	demand->env = env;
	demand->machine = env->machine;
	demand->devices = um_machine_spec(env->machine)->devices;
	demand->unit_pages = (um_page)(page_bytes / UM_PAGE_BYTES);
	demand->fault_latency_ns = env->params[PARAM_FAULT_LATENCY].integer;
	*out = &demand->base;
	return 0;
}

static void free_allocation(struct demand_allocation *allocation)
{
	if (!allocation)
		return;
	free(allocation->advice);
	free(allocation->arrival);
	free(allocation);
}

static void demand_destroy(struct um_driver *driver)
{
	struct demand *demand = demand_of(driver);

	if (!driver)
		return;
	for (size_t id = 0; id < demand->allocation_slots; id++)
		free_allocation(demand->allocations[id]);
	free(demand->allocations);
	for (size_t device = 0; device < UM_DEVICES_MAX; device++)
		um_fault_order_fini(&demand->order[device]);
	free(demand);
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

static int demand_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
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
	allocation->arrival = calloc((size_t)allocation->units * demand->devices + 1,
				     sizeof(*allocation->arrival));
	if (!allocation->advice || !allocation->arrival) {
		free_allocation(allocation);
		return um_fail(UM_ENOMEM, "no memory for the units of allocation %u",
			       alloc->allocation);
	}
	demand->allocations[alloc->allocation] = allocation;
	return 0;
}

static int demand_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	struct demand *demand = demand_of(driver);

	(void)done_at;
	free_allocation(find(demand, id));
	if (id < demand->allocation_slots)
		demand->allocations[id] = NULL;
	return 0;
}

/* --- units --- */

static struct um_page_range unit_range(const struct demand *demand, um_alloc_id id, uint32_t unit,
				       uint32_t units)
{
	um_page pages = find(demand, id)->pages, first = unit * demand->unit_pages;
	uint64_t count = (uint64_t)units * demand->unit_pages;

	return (struct um_page_range){id, first,
				      count > pages - first ? pages - first : (uint32_t)count};
}

/* Rounds outwards to whole units. */
static void units_of(const struct demand *demand, const struct um_page_range *range,
		     uint32_t *first, uint32_t *end)
{
	*first = range->first_page / demand->unit_pages;
	*end = range->pages ? (range->first_page + range->pages - 1) / demand->unit_pages + 1
			    : *first;
}

static bool is_covered(const struct um_page_range *range, um_alloc_id id, um_page page)
{
	return range && range->allocation == id && page >= range->first_page &&
	       page - range->first_page < range->pages;
}

static uint64_t *arrival_of(const struct demand *demand, um_alloc_id id, uint32_t unit,
			    um_device_id device)
{
	struct demand_allocation *allocation = find(demand, id);

	return &allocation->arrival[(size_t)device * allocation->units + unit];
}

static int note_arrival(struct demand *demand, const struct um_page_range *range,
			um_device_id device)
{
	uint32_t unit, end;
	int error = 0;

	for (units_of(demand, range, &unit, &end); unit < end && !error; unit++)
		error = um_fault_order_add(&demand->order[device], range->allocation, unit,
					   arrival_of(demand, range->allocation, unit, device));
	return error;
}

/* --- mappings --- */

/* Maps for the device what the host alone has of the range. */
static int map_over_link(struct demand *demand, const struct um_page_range *range,
			 um_device_id device, const struct um_why *why)
{
	um_page page = range->first_page, end = range->first_page + range->pages;
	int error = 0;

	while (page < end && !error) {
		enum um_mapping_state map;
		uint32_t place;
		um_page next = um_machine_run_end(demand->machine, range->allocation, page, end,
						  device, &place, &map);
		struct um_page_range run = {range->allocation, page, next - page};

		page = next;
		if (place & UM_PAGE_HOST && !(place & UM_PAGE_DEVICE) && map == UM_MAP_NONE)
			error = um_machine_map(demand->machine, &run, device, UM_MAP_REMOTE, why);
	}
	return error;
}

/* Every device that was advised to access these units has them mapped while the host has them. */
static int map_for_advised(struct demand *demand, const struct um_page_range *range,
			   const struct um_why *why)
{
	const struct demand_allocation *allocation = find(demand, range->allocation);
	uint32_t unit, end;
	int error = 0;

	if (!allocation->accessed_by)
		return 0;
	for (units_of(demand, range, &unit, &end); unit < end; unit++) {
		struct um_page_range pages = unit_range(demand, range->allocation, unit, 1);
		uint16_t devices = allocation->advice[unit].accessed_by;

		for (; devices && !error; devices &= (uint16_t)(devices - 1))
			error = map_over_link(demand, &pages, __builtin_ctz(devices), why);
	}
	return error;
}

/* Memory of a device is for what is there. */
static void release_unfilled(struct demand *demand, const struct um_page_range *range)
{
	for (um_device_id device = 0; device < (um_device_id)demand->devices; device++)
		um_machine_release(demand->machine, range, device);
}

/* The host has the only copy from now on. */
static int settle_on_host(struct demand *demand, const struct um_page_range *range,
			  const struct um_why *why)
{
	int error = um_machine_map(demand->machine, range, UM_HOST, UM_MAP_LOCAL, why);

	release_unfilled(demand, range);
	return error ? error : map_for_advised(demand, range, why);
}

/* --- eviction --- */

static bool is_current(const struct demand *demand, const struct um_order_entry *entry,
		       um_device_id device)
{
	return find(demand, entry->allocation) &&
	       *arrival_of(demand, entry->allocation, entry->unit, device) == entry->arrival;
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
	*arrival_of(demand, entry->allocation, entry->unit, device) = 0;
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
		range = unit_range(demand, id, first, ++units);
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

	return error ? error : settle_on_host(demand, victims, &why);
}

/*
 * Makes room, sparing `keep`; *end: when what leaves has left. False in *made, and as much room as
 * there can be, if others do not have that much.
 */
static int make_room(struct demand *demand, um_device_id device, uint64_t bytes,
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
			victims = unit_range(demand, entry->allocation, entry->unit, 1);
			take(demand, entry, device);
			error = note_arrival(demand, &victims, device);
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

static int demand_on_pressure(struct um_driver *driver, um_device_id device, uint64_t bytes,
			      um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	um_ns now = um_machine_now(demand->machine);
	char text[3][32];
	bool made;
	int error = make_room(demand, device, bytes, NULL, 0, now, done_at, &made);

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

/* --- bringing units to a device --- */

struct arrival_plan {
	struct um_page_range range; /* whole units, advised alike */
	um_device_id device;
	bool duplicate;
	struct um_why why;
};

static int bring_to_device(struct demand *demand, const struct arrival_plan *plan, um_ns at,
			   um_ns *end)
{
	struct um_why why = plan->why;
	int error = um_machine_reserve(demand->machine, &plan->range, plan->device);

	if (error)
		return error;
	if (plan->duplicate) {
		why.cause = UM_CAUSE_DUPLICATE;
		error = um_machine_duplicate(demand->machine, &plan->range, plan->device, &why, at,
					     end);
	} else {
		error = um_machine_migrate(demand->machine, &plan->range, plan->device, &why, at,
					   end);
	}
	if (!error)
		error = um_machine_map(demand->machine, &plan->range, plan->device,
				       plan->duplicate ? UM_MAP_LOCAL_READ : UM_MAP_LOCAL, &why);
	release_unfilled(demand, &plan->range);
	return error ? error : note_arrival(demand, &plan->range, plan->device);
}

static int serve_by_migration(struct demand *demand, const struct um_fault *fault,
			      const struct um_page_range *range, const struct unit_advice *advice,
			      um_ns at, um_ns *end)
{
	struct arrival_plan plan = {
		.range = *range,
		.device = fault->device,
		.duplicate = advice->read_mostly && fault->access < UM_ACCESS_WRITE,
		.why = {UM_CAUSE_DEVICE_FAULT, fault->op, demand->served},
	};
	uint64_t bytes =
		um_machine_unreserved(demand->machine, range, fault->device) * UM_PAGE_BYTES;
	um_ns room_at;
	char text[2][32];
	bool made;
	int error = make_room(demand, fault->device, bytes, range, fault->op, at, &room_at, &made);

	if (error)
		return error;
	if (!made)
		return um_fail(
			UM_ELIMIT,
			"device %d: no room for a unit of %s: device allocations take the "
			"rest of its %s of memory",
			fault->device, um_format_bytes(text[0], sizeof(text[0]), bytes),
			um_format_bytes(text[1], sizeof(text[1]),
					um_machine_memory_total(demand->machine, fault->device)));
	return bring_to_device(demand, &plan, room_at, end);
}

/* --- faults --- */

static int serve_device(struct demand *demand, const struct um_fault *fault,
			const struct um_page_range *range, const struct unit_advice *advice,
			um_ns at, um_ns *end)
{
	struct um_why why = {UM_CAUSE_DEVICE_FAULT, fault->op, demand->served};
	int error;

	if (advice->preferred != PREFERRED_HOST)
		return serve_by_migration(demand, fault, range, advice, at, end);
	error = um_machine_migrate(demand->machine, range, UM_HOST, &why, at, end);
	if (!error)
		error = settle_on_host(demand, range, &why);
	return error ? error : map_over_link(demand, range, fault->device, &why);
}

static int serve_host(struct demand *demand, const struct um_fault *fault,
		      const struct um_page_range *range, const struct unit_advice *advice, um_ns at,
		      um_ns *end)
{
	struct um_why why = {UM_CAUSE_HOST_FAULT, fault->op, demand->served};
	int error;

	if (advice->read_mostly && fault->access < UM_ACCESS_WRITE) {
		why.cause = UM_CAUSE_DUPLICATE;
		error = um_machine_duplicate(demand->machine, range, UM_HOST, &why, at, end);
		return error ? error
			     : um_machine_map(demand->machine, range, UM_HOST, UM_MAP_LOCAL_READ,
					      &why);
	}
	error = um_machine_migrate(demand->machine, range, UM_HOST, &why, at, end);
	return error ? error : settle_on_host(demand, range, &why);
}

/* How far pages from the fault's on are nowhere, within what the access is about to touch. */
static uint32_t untouched_ahead(const struct demand *demand, const struct um_fault *fault)
{
	um_page pages = find(demand, fault->allocation)->pages;
	um_page left = pages - fault->page;
	um_page limit = fault->page + (fault->pages_ahead < left ? fault->pages_ahead : left);
	enum um_mapping_state map;
	uint32_t place;
	um_page end = um_machine_run_end(demand->machine, fault->allocation, fault->page, limit,
					 UM_HOST, &place, &map);

	return place & (UM_PAGE_HOST | UM_PAGE_DEVICE) ? 0 : end - fault->page;
}

static int serve_first_touch(struct demand *demand, struct um_fault_buffer *faults,
			     const struct um_fault *fault, uint32_t pages)
{
	struct um_page_range range = {fault->allocation, fault->page, pages};
	struct um_why why = {UM_CAUSE_HOST_FAULT, fault->op, 0};
	int error = um_machine_populate(demand->machine, &range, UM_HOST, &why);

	if (!error)
		error = settle_on_host(demand, &range, &why);
	return error ? error
		     : um_fault_buffer_done(faults, &range, um_machine_now(demand->machine));
}

static int serve(struct demand *demand, struct um_fault_buffer *faults)
{
	const struct um_fault fault = *um_fault_buffer_oldest(faults);
	uint32_t unit = fault.page / demand->unit_pages;
	struct um_page_range range = unit_range(demand, fault.allocation, unit, 1);
	const struct unit_advice *advice = &find(demand, fault.allocation)->advice[unit];
	um_ns at = um_machine_now(demand->machine) + demand->fault_latency_ns, end = at;
	uint32_t untouched = fault.device == UM_HOST ? untouched_ahead(demand, &fault) : 0;
	int error;

	if (untouched)
		return serve_first_touch(demand, faults, &fault, untouched);
	demand->served++;
	error = fault.device == UM_HOST ? serve_host(demand, &fault, &range, advice, at, &end)
					: serve_device(demand, &fault, &range, advice, at, &end);
	if (error)
		return error;
	demand->busy_until = end;
	um_fault_buffer_report(faults, &fault, 1, demand->served, end);
	return um_fault_buffer_done(faults, &range, end);
}

/* The buffer with the fault that was raised first, NULL if none waits. */
static struct um_fault_buffer *first_buffer(const struct demand *demand)
{
	struct um_fault_buffer *first = NULL;
	uint64_t number = UINT64_MAX;

	for (um_device_id i = UM_HOST; i < (um_device_id)demand->devices; i++) {
		struct um_fault_buffer *buffer = um_fault_buffer_of(demand->env->faults, i);
		const struct um_fault *oldest = um_fault_buffer_oldest(buffer);

		if (oldest && oldest->number < number) {
			number = oldest->number;
			first = buffer;
		}
	}
	return first;
}

static int serve_waiting(void *context, uint64_t argument);

static int serve_later(struct demand *demand)
{
	demand->service_is_due = true;
	return um_engine_schedule(demand->env->engine, demand->busy_until, serve_waiting, demand,
				  0);
}

static int serve_first(struct demand *demand)
{
	struct um_fault_buffer *buffer = first_buffer(demand);
	int error;

	if (demand->busy_until < um_machine_now(demand->machine))
		demand->busy_until = um_machine_now(demand->machine);
	error = buffer ? serve(demand, buffer) : 0;
	return error || !first_buffer(demand) ? error : serve_later(demand);
}

static int serve_waiting(void *context, uint64_t argument)
{
	struct demand *demand = context;

	(void)argument;
	demand->service_is_due = false;
	return serve_first(demand);
}

static int demand_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct demand *demand = demand_of(driver);

	(void)faults; /* the oldest of all comes first */
	if (demand->service_is_due)
		return 0;
	return demand->busy_until > um_machine_now(demand->machine) ? serve_later(demand)
								    : serve_first(demand);
}

static int demand_on_copied(struct um_driver *driver, const struct um_page_range *range)
{
	release_unfilled(demand_of(driver), range);
	return 0;
}

/* --- advice --- */

static void set_advice(struct unit_advice *advice, enum um_advice_kind kind, um_device_id device)
{
	uint16_t bit = device >= 0 ? (uint16_t)(1u << device) : 0;

	switch (kind) {
	case UM_ADVICE_READ_MOSTLY:
		advice->read_mostly = true;
		break;
	case UM_ADVICE_UNSET_READ_MOSTLY:
		advice->read_mostly = false;
		break;
	case UM_ADVICE_PREFERRED_LOCATION:
		advice->preferred = PREFERRED(device);
		break;
	case UM_ADVICE_UNSET_PREFERRED_LOCATION:
		advice->preferred = 0;
		break;
	case UM_ADVICE_ACCESSED_BY:
		advice->accessed_by |= bit;
		break;
	case UM_ADVICE_UNSET_ACCESSED_BY:
		advice->accessed_by &= (uint16_t)~bit;
		break;
	case UM_ADVICE_COARSE_GRAIN:
	case UM_ADVICE_UNSET_COARSE_GRAIN:
		break;
	}
}

static int unmap_over_link(struct demand *demand, const struct um_page_range *range,
			   um_device_id device, const struct um_why *why)
{
	um_page page = range->first_page, end = range->first_page + range->pages;
	int error = 0;

	while (page < end && !error) {
		enum um_mapping_state map;
		uint32_t place;
		um_page next = um_machine_run_end(demand->machine, range->allocation, page, end,
						  device, &place, &map);
		struct um_page_range run = {range->allocation, page, next - page};

		page = next;
		if (map == UM_MAP_REMOTE)
			error = um_machine_map(demand->machine, &run, device, UM_MAP_NONE, why);
	}
	return error;
}

/* Without the advice that made it, a mapping over the link goes, and the next access faults. */
static int unmap_unadvised(struct demand *demand, const struct um_page_range *range,
			   const struct um_why *why)
{
	const struct demand_allocation *allocation = find(demand, range->allocation);
	uint32_t unit, end;
	int error = 0;

	for (units_of(demand, range, &unit, &end); unit < end; unit++) {
		const struct unit_advice *advice = &allocation->advice[unit];
		struct um_page_range pages = unit_range(demand, range->allocation, unit, 1);

		for (um_device_id i = 0; i < (um_device_id)demand->devices && !error; i++)
			if (advice->preferred != PREFERRED_HOST && !(advice->accessed_by >> i & 1))
				error = unmap_over_link(demand, &pages, i, why);
	}
	return error;
}

static int demand_on_advice(struct um_driver *driver, const struct um_advice *request,
			    um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	struct demand_allocation *allocation = find(demand, request->range.allocation);
	struct um_why why = {UM_CAUSE_ADVICE, request->op, 0};
	uint32_t first, end;

	(void)done_at; /* maps and unmaps only */
	if (!allocation)
		return 0;
	if (request->kind == UM_ADVICE_COARSE_GRAIN ||
	    request->kind == UM_ADVICE_UNSET_COARSE_GRAIN) {
		demand->env->ignored(demand->env->ignored_context, "coarse_grain",
				     "demand keeps no caches: coherence changes no placement");
		return 0;
	}
	units_of(demand, &request->range, &first, &end);
	for (uint32_t unit = first; unit < end; unit++) {
		set_advice(&allocation->advice[unit], request->kind, request->device);
		allocation->accessed_by |= allocation->advice[unit].accessed_by;
	}
	switch (request->kind) {
	case UM_ADVICE_ACCESSED_BY:
		return map_for_advised(demand, &request->range, &why);
	case UM_ADVICE_UNSET_ACCESSED_BY:
	case UM_ADVICE_UNSET_PREFERRED_LOCATION:
	case UM_ADVICE_PREFERRED_LOCATION:
		return unmap_unadvised(demand, &request->range, &why);
	default:
		return 0;
	}
}

/* --- prefetch --- */

/* Units from `first` on that are read-mostly or not as that one is. */
static uint32_t alike_end(const struct demand_allocation *allocation, uint32_t first, uint32_t end)
{
	uint32_t unit = first + 1;

	while (unit < end &&
	       allocation->advice[unit].read_mostly == allocation->advice[first].read_mostly)
		unit++;
	return unit;
}

/* The first units of a range that fit into the memory that is free; 0 pages if none does. */
static struct um_page_range fitting(const struct demand *demand, const struct um_page_range *range,
				    um_device_id device)
{
	uint64_t room = um_machine_memory_free(demand->machine, device) / UM_PAGE_BYTES;
	struct um_page_range fits = {range->allocation, range->first_page, 0};
	uint32_t unit, end;

	for (units_of(demand, range, &unit, &end); unit < end; unit++) {
		struct um_page_range next = unit_range(demand, range->allocation, unit, 1);
		uint64_t missing = um_machine_unreserved(demand->machine, &next, device);

		if (missing > room)
			break;
		room -= missing;
		fits.pages += next.pages;
	}
	return fits;
}

/* Cuts the plan to what fits with what others can give up. */
static int fit(struct demand *demand, struct arrival_plan *plan, const struct um_page_range *keep,
	       um_ns *at)
{
	uint64_t bytes =
		um_machine_unreserved(demand->machine, &plan->range, plan->device) * UM_PAGE_BYTES;
	bool made;
	int error = make_room(demand, plan->device, bytes, keep, plan->why.op, *at, at, &made);

	if (!error && !made)
		plan->range = fitting(demand, &plan->range, plan->device);
	return error;
}

static int prefetch_to_device(struct demand *demand, const struct um_prefetch *request,
			      um_ns *done_at)
{
	const struct demand_allocation *allocation = find(demand, request->range.allocation);
	um_alloc_id id = request->range.allocation;
	uint32_t unit, end, next;
	int error = 0;

	units_of(demand, &request->range, &unit, &end);

	struct um_page_range whole = unit_range(demand, id, unit, end - unit);

	for (; unit < end && !error; unit = next) {
		um_ns at = um_machine_now(demand->machine), there;

		next = alike_end(allocation, unit, end);

		struct arrival_plan plan = {
			.range = unit_range(demand, id, unit, next - unit),
			.device = request->to,
			.duplicate = allocation->advice[unit].read_mostly,
			.why = {UM_CAUSE_PREFETCH, request->op, 0},
		};

		error = fit(demand, &plan, &whole, &at);
		if (error || !plan.range.pages)
			break;
		error = bring_to_device(demand, &plan, at, &there);
		*done_at = !error && there > *done_at ? there : *done_at;
	}
	return error;
}

static int prefetch_to_host(struct demand *demand, const struct um_prefetch *request,
			    um_ns *done_at)
{
	struct um_why why = {UM_CAUSE_PREFETCH, request->op, 0};
	uint32_t unit, end;
	struct um_page_range range;
	int error;

	units_of(demand, &request->range, &unit, &end);
	range = unit_range(demand, request->range.allocation, unit, end - unit);
	error = um_machine_migrate(demand->machine, &range, UM_HOST, &why,
				   um_machine_now(demand->machine), done_at);
	return error ? error : settle_on_host(demand, &range, &why);
}

static int demand_on_prefetch(struct um_driver *driver, const struct um_prefetch *request,
			      um_ns *done_at)
{
	struct demand *demand = demand_of(driver);

	if (!find(demand, request->range.allocation) || !request->range.pages)
		return 0;
	return request->to == UM_HOST ? prefetch_to_host(demand, request, done_at)
				      : prefetch_to_device(demand, request, done_at);
}

const struct um_driver_ops um_driver_demand = {
	.name = "demand",
	.summary = "textbook paging: one fault, one page, oldest out first",
	.validated = "textbook: not checked on hardware",
	.params = demand_params,
	.page_bytes = demand_page_bytes,
	.default_page_bytes = 4096,
	.create = demand_create,
	.on_alloc = demand_on_alloc,
	.on_free = demand_on_free,
	.on_advice = demand_on_advice,
	.on_prefetch = demand_on_prefetch,
	.on_pressure = demand_on_pressure,
	.on_faults = demand_on_faults,
	.on_copied = demand_on_copied,
	.destroy = demand_destroy,
};
