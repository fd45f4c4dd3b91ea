/* demand's faults: one after the other, the oldest of all first. */
#include "demand.h"
#include "page_walk.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

int um_demand_bring(struct demand *demand, const struct arrival_plan *plan, um_ns at, um_ns *end)
{
	struct um_why why = plan->why;
	bool done = false;
	int error = 0;

	if (plan->range.pages == 1 && !plan->duplicate)
		error = um_machine_bring_page(demand->machine, &plan->range, &why, at, end, &done);
	if (!error && !done)
		error = um_machine_reserve(demand->machine, &plan->range, plan->device);
	if (error || done)
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
	um_demand_release_unfilled(demand, &plan->range);
	return error;
}

static int serve_by_migration(struct demand *demand, const struct um_fault *fault,
			      const struct um_page_range *range, const struct unit_advice *advice,
			      um_ns at, um_ns *end)
{
	struct arrival_plan plan = {
		.range = *range,
		.device = fault->device,
		.duplicate = advice->read_mostly && !um_fault_writes(fault),
		.why = {UM_CAUSE_DEVICE_FAULT, fault->op, demand->served},
	};
	uint64_t bytes =
		um_machine_unreserved(demand->machine, range, fault->device) * UM_PAGE_BYTES;
	um_ns room_at;
	char text[2][32];
	bool made;
	int error;

	um_demand_take_out(demand, range, fault->device); /* what is coming does not leave */
	error = um_demand_make_room(demand, fault->device, bytes, fault->op, at, &room_at, &made);
	if (error)
		return error;
	if (!made)
		return um_fail(
			UM_ELIMIT,
			"device %d: no room for a unit of %s in its %s of memory, less what "
			"device allocations take",
			fault->device, um_format_bytes(text[0], sizeof(text[0]), bytes),
			um_format_bytes(text[1], sizeof(text[1]),
					um_machine_memory_total(demand->machine, fault->device)));
	error = um_demand_bring(demand, &plan, room_at, end);
	return error ? error : um_demand_put_in(demand, range, fault->device);
}

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
		error = um_demand_settle_on_host(demand, range, &why);
	return error ? error : um_map_over_link(demand->machine, range, fault->device, &why);
}

static int serve_host(struct demand *demand, const struct um_fault *fault,
		      const struct um_page_range *range, const struct unit_advice *advice, um_ns at,
		      um_ns *end)
{
	struct um_why why = {UM_CAUSE_HOST_FAULT, fault->op, demand->served};
	int error;

	if (advice->read_mostly && !um_fault_writes(fault)) {
		why.cause = UM_CAUSE_DUPLICATE;
		error = um_machine_duplicate(demand->machine, range, UM_HOST, &why, at, end);
		return error ? error
			     : um_machine_map(demand->machine, range, UM_HOST, UM_MAP_LOCAL_READ,
					      &why);
	}
	error = um_machine_migrate(demand->machine, range, UM_HOST, &why, at, end);
	return error ? error : um_demand_settle_on_host(demand, range, &why);
}

/* How far pages from the fault's on are nowhere, within what the access is about to touch. */
static uint32_t untouched_ahead(const struct demand *demand, const struct um_fault *fault)
{
	um_page pages = um_demand_find(demand, fault->allocation)->pages;
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
		error = um_demand_settle_on_host(demand, &range, &why);
	return error ? error
		     : um_fault_buffer_done(faults, &range, um_machine_now(demand->machine));
}

static int serve(struct demand *demand, struct um_fault_buffer *faults)
{
	const struct um_fault fault = *um_fault_buffer_oldest(faults);
	uint32_t unit = fault.page >> demand->unit_shift;
	struct um_page_range range = um_demand_unit_range(demand, fault.allocation, unit, 1);
	const struct unit_advice *advice = &um_demand_find(demand, fault.allocation)->advice[unit];
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

/* --- in order --- */

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

int um_demand_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct demand *demand = demand_of(driver);

	(void)faults; /* the oldest of all comes first */
	if (demand->service_is_due)
		return 0;
	return demand->busy_until > um_machine_now(demand->machine) ? serve_later(demand)
								    : serve_first(demand);
}
