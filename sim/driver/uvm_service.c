/* nvidia_uvm: one block is served (R5, R12, R17, R18). */
#include "uvm.h"

/* --- what is to be done --- */

void um_uvm_service_init(struct uvm_service *service, struct uvm *uvm, struct uvm_block *block,
			 um_device_id by)
{
	service->uvm = uvm;
	service->block = block;
	service->by = by;
	service->cause = by == UM_HOST ? UM_CAUSE_HOST_FAULT : UM_CAUSE_DEVICE_FAULT;
	service->destinations = 0;
	service->fault_pages = 0;
	service->writes = service->duplicates = service->pinned = (struct uvm_mask){{0}};
	service->nap_end = UM_NEVER;
}

bool um_uvm_is_authorized(const struct uvm_window *window, um_device_id who, uint32_t page,
			  bool write)
{
	const struct uvm_place *place = &window->place[uvm_place_of(who)];

	return uvm_has(&place->mapped, page) && (!write || uvm_has(&place->writable, page));
}

/* Where the page is that is nearest to the processor; UVM_NOBODY: nowhere. */
static um_device_id nearest_holder(const struct uvm_service *service, uint32_t page)
{
	const struct uvm_window *window = service->block->window;

	if (uvm_has(&window->place[uvm_place_of(service->by)].resident, page))
		return service->by;
	for (um_device_id i = UM_HOST; i < service->uvm->devices; i++)
		if (uvm_has(&window->place[uvm_place_of(i)].resident, page))
			return i;
	return UVM_NOBODY;
}

/* R12, from (b) on. */
static um_device_id destination(const struct uvm_service *service, uint32_t page,
				const struct uvm_hint *hint)
{
	const struct uvm_policy *policy = &service->block->policy;
	const struct uvm *uvm = service->uvm;
	um_device_id by = service->by, holder = nearest_holder(service, page);
	bool reaches_preferred =
		policy->preferred != UVM_NOBODY && uvm_can_access(uvm, by, policy->preferred);

	if (by == policy->preferred)
		return by;
	if (hint->kind == UVM_HINT_PIN)
		return hint->residency;
	if (holder == UVM_NOBODY)
		return reaches_preferred ? policy->preferred : by;
	if (policy->accessed_by & uvm_bit(by) && uvm_can_access(uvm, by, holder) &&
	    service->cause != UM_CAUSE_ACCESS_COUNTER)
		return holder;
	if (holder != by && reaches_preferred)
		return policy->preferred;
	return by;
}

static void add_unit(struct uvm_service *service, const struct uvm_mask *unit, um_device_id to)
{
	uint32_t place = uvm_place_of(to);

	if (!(service->destinations >> place & 1))
		service->pages[place] = (struct uvm_mask){{0}};
	service->destinations |= 1u << place;
	uvm_add(&service->pages[place], unit);
	service->fault_pages++;
}

int um_uvm_service_add(struct uvm_service *service, uint32_t page, bool write)
{
	struct uvm_mask unit = uvm_mask_of(uvm_unit_at(service->uvm, service->block, page));
	bool read_mostly = uvm_is_read_mostly(service->block);
	struct uvm_hint hint;
	int error = um_uvm_thrash_hint(service->uvm, service->block, page, service->by, service->at,
				       &hint);

	if (error)
		return error;
	if (hint.kind == UVM_HINT_THROTTLE) {
		service->nap_end = hint.until < service->nap_end ? hint.until : service->nap_end;
		return 0;
	}
	if (hint.kind == UVM_HINT_PIN)
		uvm_add(&service->pinned, &unit);
	if (write)
		uvm_add(&service->writes, &unit);
	if (read_mostly && !write)
		uvm_add(&service->duplicates, &unit);
	add_unit(service, &unit, read_mostly ? service->by : destination(service, page, &hint));
	return 0;
}

/* --- doing it --- */

static int move_pages(struct uvm_service *service, um_device_id to, const struct uvm_mask *pages,
		      const struct uvm_mask *prefetched)
{
	struct uvm_mask copied = uvm_and(*pages, &service->duplicates);
	struct uvm_mask moved = uvm_and_not(*pages, &service->duplicates);
	struct uvm_move move = {.uvm = service->uvm,
				.block = service->block,
				.to = to,
				.cause = service->cause,
				.prefetched = prefetched,
				.op = service->op,
				.batch = service->batch,
				.at = service->at,
				.end = service->end};
	int error = 0;

	if (!uvm_is_empty(&copied))
		error = um_uvm_duplicate(&move, &copied);
	if (!error && !uvm_is_empty(&moved))
		error = um_uvm_make_resident(&move, &moved);
	service->at = move.at;
	service->end = uvm_later(move.end, move.at);
	return error;
}

/* Pages that may be written from now on: as asked for, and where nobody else has a copy (R17). */
static struct uvm_mask writable_pages(const struct uvm_service *service,
				      const struct uvm_mask *pages)
{
	if (uvm_is_read_mostly(service->block))
		return uvm_and(*pages, &service->writes);
	return uvm_and_not(*pages, &service->block->window->duplicated);
}

static int map_part(const struct uvm_service *service, const struct uvm_mask *part, bool writable,
		    enum um_cause cause)
{
	struct um_why why = {cause, service->op, service->batch};

	return um_uvm_map(service->uvm, service->block->window, service->by, part, writable, &why);
}

/* Those that are mapped well enough already stay. */
static int map_faulter(const struct uvm_service *service, const struct uvm_mask *pages)
{
	const struct uvm_place *place = &service->block->window->place[uvm_place_of(service->by)];
	struct uvm_mask writable = writable_pages(service, pages);
	struct uvm_mask readable = uvm_and_not(*pages, &writable);
	struct uvm_mask done = uvm_and(place->mapped, &place->writable), pinned, rest;
	int error;

	uvm_remove(&writable, &done);
	uvm_remove(&readable, &place->mapped);
	pinned = uvm_and(writable, &service->pinned);
	rest = uvm_and_not(writable, &service->pinned);
	error = map_part(service, &pinned, true, UM_CAUSE_THRASHING);
	if (!error)
		error = map_part(service, &rest, true, service->cause);
	return error ? error : map_part(service, &readable, false, service->cause);
}

static int map_fighters(const struct uvm_service *service, um_device_id to)
{
	struct um_why why = {UM_CAUSE_THRASHING, service->op, service->batch};
	int error = 0;

	for (uint32_t page = uvm_find(&service->pinned, 0, true); page < UVM_WINDOW_PAGES && !error;
	     page = uvm_find(&service->pinned, page + 1, true)) {
		struct uvm_mask one = {{0}};

		uvm_set(&one, page);
		if (uvm_has(&service->pages[uvm_place_of(to)], page))
			error = um_uvm_map_others(
				service->uvm, service->block, to, service->by, &one,
				um_uvm_thrash_fighters(service->block, page), &why);
	}
	return error;
}

/* Who accesses the pages from now on: who faulted, who fights, and accessed-by. */
static int map_pages(struct uvm_service *service, um_device_id to, const struct uvm_mask *pages)
{
	struct um_why why = {service->cause, service->op, service->batch};
	struct uvm_mask calm = uvm_and_not(*pages, &service->pinned);
	uint64_t runs_before = service->uvm->remote_runs;
	int error = map_faulter(service, pages);

	if (!error)
		error = map_fighters(service, to);
	if (!error)
		error = um_uvm_map_others(service->uvm, service->block, to, service->by, &calm, 0,
					  &why);
	service->at += (service->uvm->remote_runs - runs_before) * service->uvm->costs.map_ns;
	service->end = uvm_later(service->end, service->at);
	return error;
}

static int serve_destination(struct uvm_service *service, um_device_id to,
			     const struct uvm_mask *prefetched)
{
	struct uvm_mask pages = service->pages[uvm_place_of(to)];
	int error;

	uvm_add(&pages, prefetched);
	error = move_pages(service, to, &pages, prefetched);
	return error ? error : map_pages(service, to, &pages);
}

static um_device_id only_destination(const struct uvm_service *service)
{
	bool one = service->destinations && !(service->destinations & (service->destinations - 1));

	return one ? (um_device_id)__builtin_ctz(service->destinations) - 1 : UVM_NOBODY;
}

/* Of pages that are brought along; to the host, of those that faulted too. */
static void add_page_times(struct uvm_service *service, const struct uvm_mask *prefetched)
{
	const struct uvm_costs *costs = &service->uvm->costs;

	if (service->by == UM_HOST)
		service->at += (service->fault_pages + uvm_count(prefetched)) * costs->host_page_ns;
	else
		service->at += uvm_count(prefetched) * costs->prefetched_page_ns;
	service->end = service->at;
}

int um_uvm_service_run(struct uvm_service *service)
{
	um_device_id only = only_destination(service);
	struct uvm_mask prefetched = {{0}};
	int error = 0;

	if (only != UVM_NOBODY)
		prefetched = um_uvm_prefetch(service->uvm, service->block, only,
					     &service->pages[uvm_place_of(only)]);
	add_page_times(service, &prefetched);
	if (uvm_is_read_mostly(service->block))
		uvm_add(&service->duplicates, &prefetched);
	for (um_device_id to = UM_HOST; to < service->uvm->devices && !error; to++)
		if (service->destinations & uvm_bit(to))
			error = serve_destination(service, to, &prefetched);
	return error;
}
