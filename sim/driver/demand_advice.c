/* What advice makes of demand's units, and who has them mapped. */
#include "demand.h"
#include "page_walk.h"

/* Every device that was advised to access these units has them mapped while the host has them. */
static int map_for_advised(struct demand *demand, const struct um_page_range *range,
			   const struct um_why *why)
{
	const struct demand_allocation *allocation = um_demand_find(demand, range->allocation);
	uint32_t unit, end;
	int error = 0;

	if (!allocation->accessed_by)
		return 0;
	for (um_demand_units_of(demand, range, &unit, &end); unit < end; unit++) {
		struct um_page_range pages =
			um_demand_unit_range(demand, range->allocation, unit, 1);
		uint16_t devices = allocation->advice[unit].accessed_by;

		for (; devices && !error; devices &= (uint16_t)(devices - 1))
			error = um_map_over_link(demand->machine, &pages, __builtin_ctz(devices),
						 why);
	}
	return error;
}

void um_demand_release_unfilled(struct demand *demand, const struct um_page_range *range)
{
	for (um_device_id device = 0; device < (um_device_id)demand->devices; device++) {
		um_machine_release(demand->machine, range, device);
		um_demand_note_leaving(demand, range, device);
	}
}

int um_demand_settle_on_host(struct demand *demand, const struct um_page_range *range,
			     const struct um_why *why)
{
	int error = um_machine_map(demand->machine, range, UM_HOST, UM_MAP_LOCAL, why);

	um_demand_release_unfilled(demand, range);
	return error ? error : map_for_advised(demand, range, why);
}

int um_demand_on_copied(struct um_driver *driver, const struct um_page_range *range)
{
	um_demand_release_unfilled(demand_of(driver), range);
	return 0;
}

/* --- advice --- */

static void set_advice(struct unit_advice *advice, enum um_advice_kind kind, um_device_id device)
{
	/* Only advice about a device names one that there is. */
	uint16_t bit = device >= 0 && device < UM_DEVICES_MAX ? (uint16_t)(1u << device) : 0;

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

/* Without the advice that made it, a mapping over the link goes, and the next access faults. */
static int unmap_unadvised(struct demand *demand, const struct um_page_range *range,
			   const struct um_why *why)
{
	const struct demand_allocation *allocation = um_demand_find(demand, range->allocation);
	uint32_t unit, end;
	int error = 0;

	for (um_demand_units_of(demand, range, &unit, &end); unit < end; unit++) {
		const struct unit_advice *advice = &allocation->advice[unit];
		struct um_page_range pages =
			um_demand_unit_range(demand, range->allocation, unit, 1);

		for (um_device_id i = 0; i < (um_device_id)demand->devices && !error; i++)
			if (advice->preferred != PREFERRED_HOST && !(advice->accessed_by >> i & 1))
				error = um_unmap_over_link(demand->machine, &pages, i, why);
	}
	return error;
}

/* Advice that changes nothing in this model is told. */
static bool honours(struct demand *demand, const struct um_advice *request)
{
	const struct um_driver_env *env = demand->env;

	switch (request->kind) {
	case UM_ADVICE_COARSE_GRAIN:
	case UM_ADVICE_UNSET_COARSE_GRAIN:
		env->ignored(env->ignored_context, "coarse_grain",
			     "demand keeps no caches: coherence changes no placement");
		return false;
	case UM_ADVICE_ACCESSED_BY:
	case UM_ADVICE_UNSET_ACCESSED_BY:
		if (request->device >= 0)
			return true;
		env->ignored(
			env->ignored_context, "accessed_by the host",
			"demand's host cannot map device memory: its accesses bring pages back");
		return false;
	default:
		return true;
	}
}

int um_demand_on_advice(struct um_driver *driver, const struct um_advice *request, um_ns *done_at)
{
	struct demand *demand = demand_of(driver);
	struct demand_allocation *allocation = um_demand_find(demand, request->range.allocation);
	struct um_why why = {UM_CAUSE_ADVICE, request->op, 0};
	uint32_t first, end;

	(void)done_at; /* maps and unmaps only */
	if (!allocation || !honours(demand, request))
		return 0;
	um_demand_units_of(demand, &request->range, &first, &end);
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
