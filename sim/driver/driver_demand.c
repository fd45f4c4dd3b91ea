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
 * - Under memory pressure the unit that came first leaves first (fault order), or as the policy's
 *   `evict` has it. It goes to the host, which can use it at once without a fault. Copies are clean
 *   or dirty only in that a copy which is not the last (the host's or another device's is as good)
 *   is dropped and moves nothing; the last one crosses the link, written or not, where it has data.
 *   What comes in starts when what leaves has left, a device allocation too. Neighbours that leave
 *   one after the other share a transfer.
 * - Device allocations come first and push all others out. One that then does not fit ends the
 *   simulation, as does a fault that finds no room: the program would have got an error, and what
 *   it does then its trace does not tell.
 * - Advice goes by whole units, rounded outwards.
 *   preferred_location host: a device fault maps the unit over the link; nothing migrates to the
 *     device (a unit that is there already stays). preferred_location of a device: faults move the
 *     unit as ever; the host cannot map device memory, so that its accesses bring the unit back.
 *   accessed_by: the device has the unit mapped over the link, without a fault, while the host has
 *     it. Where nobody has touched the unit there is nothing to map: the first touch decides.
 *     The host's is ignored: see above.
 *   read_mostly: a read fault copies the unit and leaves the other copy; a write by either side
 *     faults where there is or was a copy, and drops the other.
 *   coarse_grain changes no placement and is ignored.
 * - A prefetch moves whole units, without faults, in as few transfers as there are runs of data. It
 *   evicts others but not what it brought itself: what does not fit stays where it is.
 */
#include "demand.h"
#include "driver_list.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>

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
				"measured by us)",
		},
	{.name = NULL},
};
static const uint64_t demand_page_bytes[] = {4096, 65536, 2097152, 0};

static void demand_destroy(struct um_driver *driver)
{
	struct demand *demand = demand_of(driver);

	if (!driver)
		return;
	for (size_t id = 0; id < demand->allocation_slots; id++)
		um_demand_free_allocation(demand->allocations[id]);
	free(demand->allocations);
	for (size_t device = 0; device < UM_DEVICES_MAX; device++)
		um_evict_destroy(demand->order[device]);
	free(demand);
}

static int make_orders(struct demand *demand)
{
	int error = 0;

	for (um_device_id device = 0; device < (um_device_id)demand->devices && !error; device++)
		error = um_evict_create(&demand->order[device], demand->env->evict,
					um_driver_demand.evict, device);
	return error;
}

static int demand_create(struct um_driver **out, const struct um_driver_env *env)
{
	uint64_t page_bytes =
		env->page_bytes ? env->page_bytes : um_driver_demand.default_page_bytes;
	struct demand *demand = calloc(1, sizeof(*demand));
	int error;

	if (!demand)
		return um_fail(UM_ENOMEM, "no memory for the driver");
	demand->base.ops = &um_driver_demand;
	demand->env = env;
	demand->machine = env->machine;
	demand->devices = um_machine_spec(env->machine)->devices;
	demand->unit_pages = (um_page)(page_bytes / UM_PAGE_BYTES);
	demand->unit_shift = (unsigned)__builtin_ctz(demand->unit_pages);
	demand->fault_latency_ns = env->params[PARAM_FAULT_LATENCY].integer;
	error = make_orders(demand);
	if (error)
		demand_destroy(&demand->base);
	else
		*out = &demand->base;
	return error;
}

const struct um_driver_ops um_driver_demand = {
	.name = "demand",
	.summary = "textbook paging: one fault, one page, oldest out first",
	.validated = "textbook: not checked on hardware",
	.params = demand_params,
	.page_bytes = demand_page_bytes,
	.default_page_bytes = 4096,
	.evict = &um_evict_fifo,
	.create = demand_create,
	.on_alloc = um_demand_on_alloc,
	.on_free = um_demand_on_free,
	.on_advice = um_demand_on_advice,
	.on_prefetch = um_demand_on_prefetch,
	.on_pressure = um_demand_on_pressure,
	.on_faults = um_demand_on_faults,
	.on_touch = um_demand_on_touch,
	.on_touch_ahead = um_demand_on_touch_ahead,
	.on_copied = um_demand_on_copied,
	.destroy = demand_destroy,
};
