/* demand's prefetches: whole units, as many as fit. */
#include "demand.h"

#include "trace/spool/spool_record.h"

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

	for (um_demand_units_of(demand, range, &unit, &end); unit < end; unit++) {
		struct um_page_range next =
			um_demand_unit_range(demand, range->allocation, unit, 1);
		uint64_t missing = um_machine_unreserved(demand->machine, &next, device);

		if (missing > room)
			break;
		room -= missing;
		fits.pages += next.pages;
	}
	return fits;
}

/* Cuts the plan to what fits with what others can give up. */
static int fit(struct demand *demand, struct arrival_plan *plan, um_ns *at)
{
	uint64_t bytes =
		um_machine_unreserved(demand->machine, &plan->range, plan->device) * UM_PAGE_BYTES;
	bool made;
	int error = um_demand_make_room(demand, plan->device, bytes, plan->why.op, *at, at, &made);

	if (!error && !made)
		plan->range = fitting(demand, &plan->range, plan->device);
	return error;
}

static int prefetch_to_device(struct demand *demand, const struct um_prefetch *request,
			      um_ns *done_at)
{
	const struct demand_allocation *allocation =
		um_demand_find(demand, request->range.allocation);
	um_alloc_id id = request->range.allocation;
	uint32_t unit, end, next;
	int error = 0;

	um_demand_units_of(demand, &request->range, &unit, &end);

	struct um_page_range whole = um_demand_unit_range(demand, id, unit, end - unit);

	um_demand_take_out(demand, &whole, request->to); /* it does not evict itself */
	for (; unit < end && !error; unit = next) {
		um_ns at = um_machine_now(demand->machine), there;

		next = alike_end(allocation, unit, end);

		struct arrival_plan plan = {
			.range = um_demand_unit_range(demand, id, unit, next - unit),
			.device = request->to,
			.duplicate = allocation->advice[unit].read_mostly,
			.why = {UM_CAUSE_PREFETCH, request->op, 0},
		};

		error = fit(demand, &plan, &at);
		if (error || !plan.range.pages)
			break;
		error = um_demand_bring(demand, &plan, at, &there);
		*done_at = !error && there > *done_at ? there : *done_at;
	}
	return error ? error : um_demand_put_in(demand, &whole, request->to);
}

static int prefetch_to_host(struct demand *demand, const struct um_prefetch *request,
			    um_ns *done_at)
{
	struct um_why why = {UM_CAUSE_PREFETCH, request->op, 0};
	uint32_t unit, end;
	struct um_page_range range;
	int error;

	um_demand_units_of(demand, &request->range, &unit, &end);
	range = um_demand_unit_range(demand, request->range.allocation, unit, end - unit);
	error = um_machine_migrate(demand->machine, &range, UM_HOST, &why,
				   um_machine_now(demand->machine), done_at);
	return error ? error : um_demand_settle_on_host(demand, &range, &why);
}

int um_demand_on_prefetch(struct um_driver *driver, const struct um_prefetch *request,
			  um_ns *done_at)
{
	struct demand *demand = demand_of(driver);

	if (!um_demand_find(demand, request->range.allocation) || !request->range.pages)
		return 0;
	return request->to == UM_HOST ? prefetch_to_host(demand, request, done_at)
				      : prefetch_to_device(demand, request, done_at);
}
