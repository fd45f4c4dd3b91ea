/*
 * nvidia_uvm: access counters bring what a device accesses from afar (R36). They count when an access
 * goes over the link, and are served by the thread that also serves the device's faults, in turns
 * with those.
 */
#include "uvm.h"

#include <assert.h>

#define REGION_PAGES 16u /* 64 KiB: a bit of a notification's mask */
#define BATCH_MOST   256 /* notifications (uvm_perf_access_counter_batch_count) */

static struct uvm_place *place_of(struct uvm_window *window, um_device_id device)
{
	return &window->place[uvm_place_of(device)];
}

/* --- notifications that wait --- */

static void append(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	struct uvm_counters *counters = &uvm->counters[device];
	struct uvm_place *place = place_of(window, device);

	place->is_notified = true;
	place->next_notified = NULL;
	if (counters->last)
		place_of(counters->last, device)->next_notified = window;
	else
		counters->first = window;
	counters->last = window;
}

/* Counts from 0 again. */
static void clear(struct uvm_place *place)
{
	place->is_notified = false;
	place->next_notified = NULL;
	place->remote_touches = 0;
	place->remote_touched = (struct uvm_mask){{0}};
}

static void unlink_window(struct uvm *uvm, struct uvm_window *window, um_device_id device)
{
	struct uvm_counters *counters = &uvm->counters[device];
	struct uvm_window *before = NULL;

	for (struct uvm_window *i = counters->first; i && i != window;
	     i = place_of(i, device)->next_notified)
		before = i;
	if (before)
		place_of(before, device)->next_notified = place_of(window, device)->next_notified;
	else
		counters->first = place_of(window, device)->next_notified;
	if (counters->last == window)
		counters->last = before;
	clear(place_of(window, device));
}

void um_uvm_counters_forget(struct uvm *uvm, struct uvm_window *window)
{
	for (um_device_id device = 0; device < uvm->devices; device++)
		if (place_of(window, device)->is_notified)
			unlink_window(uvm, window, device);
}

/* --- serving them --- */

static struct uvm_mask whole_regions(const struct uvm_mask *pages)
{
	struct uvm_mask regions = {{0}};

	for (uint32_t page = uvm_find(pages, 0, true); page < UVM_WINDOW_PAGES;
	     page = uvm_find(pages, page + 1, true)) {
		uint32_t first = page - page % REGION_PAGES;

		um_bitmap_fill(regions.word, first, REGION_PAGES, true);
		page = first + REGION_PAGES - 1;
	}
	return regions;
}

/* What the notification is about: pages that are not there, but somewhere, and mapped from afar. */
static struct uvm_mask pages_meant(const struct uvm *uvm, const struct uvm_block *block,
				   um_device_id device)
{
	struct uvm_window *window = block->window;
	struct uvm_place *place = place_of(window, device);
	struct uvm_mask all = uvm_mask_of(block->pages), somewhere = {{0}}, meant;

	for (um_device_id i = UM_HOST; i < uvm->devices; i++)
		uvm_add(&somewhere, &window->place[uvm_place_of(i)].resident);
	meant = whole_regions(&place->remote_touched);
	meant = uvm_and(uvm_and(meant, &all), &somewhere);
	return uvm_and_not(meant, &place->resident);
}

/* One batch of notifications. */
struct notice {
	struct uvm *uvm;
	um_device_id device;
	um_ns at, end;
	bool brings; /* anything, so far */
};

/* Pages that are where they are to be are no reason to serve the block. */
static void leave_what_is_there(struct uvm_service *service)
{
	const struct uvm_window *window = service->block->window;

	for (um_device_id to = UM_HOST; to < service->uvm->devices; to++) {
		uint32_t place = uvm_place_of(to);

		if (!(service->destinations & uvm_bit(to)))
			continue;
		uvm_remove(&service->pages[place], &window->place[place].resident);
		if (uvm_is_empty(&service->pages[place]))
			service->destinations &= ~uvm_bit(to);
	}
}

static int add_pages(struct uvm_service *service, const struct uvm_mask *pages)
{
	int error = 0;

	for (uint32_t page = uvm_find(pages, 0, true); page < UVM_WINDOW_PAGES && !error;) {
		uint32_t end = uvm_unit_at(service->uvm, service->block, page).end;

		error = um_uvm_service_add(service, page, false);
		page = end < UVM_WINDOW_PAGES ? uvm_find(pages, end, true) : end;
	}
	leave_what_is_there(service);
	return error;
}

static int serve_block(struct notice *notice, struct uvm_block *block)
{
	struct uvm *uvm = notice->uvm;
	struct uvm_mask pages = pages_meant(uvm, block, notice->device);
	struct uvm_service service;
	int error;

	um_uvm_service_init(&service, uvm, block, notice->device);
	service.cause = UM_CAUSE_ACCESS_COUNTER;
	service.op = uvm->counters[notice->device].op;
	service.at = notice->at;
	error = add_pages(&service, &pages);
	if (error || !service.destinations)
		return error;
	service.at += (notice->brings ? 0 : uvm->costs.batch_ns) + uvm->costs.block_ns +
		      service.fault_pages * uvm->costs.page_ns;
	notice->brings = true;
	error = um_uvm_service_run(&service);
	notice->at = service.at;
	notice->end = uvm_later(notice->end, service.end);
	return error;
}

/* Who was served a moment ago keeps it until its accesses went on (A11). */
static int serve_window(struct notice *notice, struct uvm_window *window)
{
	bool is_held = uvm_is_held(window, notice->device, um_machine_now(notice->uvm->machine));
	int error = 0;

	for (struct uvm_block *block = window->blocks; block && !error && !is_held;
	     block = block->next)
		error = serve_block(notice, block);
	unlink_window(notice->uvm, window, notice->device);
	return error;
}

static int serve(void *context, uint64_t argument)
{
	struct uvm *uvm = context;
	um_device_id device = (um_device_id)argument;
	struct uvm_counters *counters = &uvm->counters[device];
	struct uvm_server *server = &uvm->server[uvm_place_of(device)];
	um_ns now = um_machine_now(uvm->machine);
	struct notice notice = {.uvm = uvm, .device = device, .at = now, .end = now};
	int error = 0;

	counters->is_due = false;
	if (!counters->first)
		return 0;
	if (server->busy_until > now)
		return um_uvm_counters_schedule(uvm, device, server->busy_until);
	for (int n = 0; n < BATCH_MOST && counters->first && !error; n++)
		error = serve_window(&notice, counters->first);
	server->busy_until = uvm_later(notice.at, notice.end);
	return error || !counters->first
		       ? error
		       : um_uvm_counters_schedule(uvm, device, server->busy_until);
}

int um_uvm_counters_schedule(struct uvm *uvm, um_device_id device, um_ns at)
{
	if (uvm->counters[device].is_due)
		return 0;
	uvm->counters[device].is_due = true;
	return um_engine_schedule(uvm->env->engine, at, serve, uvm, (uint64_t)device);
}

/* --- counting --- */

struct count {
	struct uvm *uvm;
	um_device_id device;
};

static int count_block(void *context, struct uvm_block *block, struct uvm_region region)
{
	const struct count *count = context;
	struct uvm *uvm = count->uvm;
	struct uvm_place *place = place_of(block->window, count->device);
	struct uvm_mask pages = uvm_mask_of(region), remote = uvm_and(pages, &place->mapped);

	remote = uvm_and_not(remote, &place->resident);
	if (place->is_notified || uvm_is_empty(&remote))
		return 0;
	uvm_add(&place->remote_touched, &remote);
	place->remote_touches += uvm_count(&remote);
	if (place->remote_touches < uvm->counter_threshold)
		return 0;
	append(uvm, block->window, count->device);
	return um_uvm_counters_schedule(uvm, count->device, um_machine_now(uvm->machine));
}

void um_uvm_counters_touched(struct uvm *uvm, const struct um_page_range *pages,
			     um_device_id device)
{
	struct count count = {uvm, device};
	int error;

	if (!uvm->counts_accesses || device == UM_HOST || !um_uvm_find(uvm, pages->allocation))
		return;
	error = um_uvm_for_each_block(uvm, pages, count_block, &count);
	if (error)
		uvm->failed = error; /* told at the latest when the program ends */
}
