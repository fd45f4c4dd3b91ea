#include "ideal_state.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

/* --- life --- */

int um_ideal_core_create(struct um_ideal_core **out, const struct um_ideal_terms *terms)
{
	struct um_ideal_core *core = calloc(1, sizeof(*core));

	if (core)
		core->device = calloc(terms->devices, sizeof(*core->device));
	if (!core || !core->device) {
		free(core);
		return um_fail(UM_ENOMEM, "no memory for the bounds");
	}
	core->terms = *terms;
	for (uint32_t i = 0; i < terms->devices; i++) {
		core->device[i].moments.limited = terms->limited[i];
		core->limited |= terms->limited[i];
	}
	*out = core;
	return 0;
}

static void fini_allocation(const struct um_ideal_core *core, struct allocation_books *allocation)
{
	for (uint32_t i = 0; allocation->pages && i < core->terms.devices; i++) {
		um_page_map_fini(&allocation->page[i]);
		um_page_map_fini(&allocation->unit[i]);
	}
	um_page_map_fini(&allocation->host_unit);
	free(allocation->page);
	free(allocation->unit);
	memset(allocation, 0, sizeof(*allocation));
}

void um_ideal_core_destroy(struct um_ideal_core *core)
{
	if (!core)
		return;
	for (uint32_t i = 0; i < core->allocation_slots; i++)
		fini_allocation(core, &core->allocations[i]);
	for (uint32_t i = 0; i < core->terms.devices; i++) {
		um_savings_fini(&core->device[i].in);
		um_savings_fini(&core->device[i].out);
		um_fault_savings_fini(&core->device[i].faults);
		free(core->device[i].moments.all);
	}
	free(core->device);
	free(core->allocations);
	free(core->moments_up_to);
	free(core);
}

/* --- allocations --- */

static int make_slot(struct um_ideal_core *core, uint32_t place)
{
	uint32_t slots = core->allocation_slots ? core->allocation_slots : 8;
	struct allocation_books *grown;

	if (place < core->allocation_slots)
		return 0;
	while (slots <= place)
		slots *= 2;
	grown = realloc(core->allocations, slots * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %u allocations", slots);
	memset(grown + core->allocation_slots, 0,
	       (slots - core->allocation_slots) * sizeof(*grown));
	core->allocations = grown;
	core->allocation_slots = slots;
	return 0;
}

int um_ideal_core_add(struct um_ideal_core *core, uint32_t place, uint64_t pages,
		      unsigned first_lines, unsigned last_lines)
{
	uint64_t units = (pages + core->terms.unit_pages - 1) / core->terms.unit_pages;
	struct allocation_books *allocation;
	int error = make_slot(core, place);

	if (error || !pages)
		return error;
	allocation = &core->allocations[place];
	fini_allocation(core, allocation);
	allocation->page = calloc(core->terms.devices, sizeof(*allocation->page));
	allocation->unit = calloc(core->terms.devices, sizeof(*allocation->unit));
	if (!allocation->page || !allocation->unit)
		return um_fail(UM_ENOMEM, "no memory for the pages of an allocation");
	allocation->pages = pages;
	allocation->first_lines = least_of(first_lines, UM_PAGE_LINES);
	allocation->last_lines = least_of(last_lines, UM_PAGE_LINES);
	allocation->host_unit = (struct um_page_map){units, sizeof(struct unit_state), NULL};
	for (uint32_t i = 0; i < core->terms.devices; i++) {
		allocation->page[i] = (struct um_page_map){pages, sizeof(struct page_state), NULL};
		allocation->unit[i] = (struct um_page_map){units, sizeof(struct unit_state), NULL};
	}
	return 0;
}

/* NULL: it is not there. */
static struct allocation_books *find(const struct um_ideal_core *core, uint32_t place)
{
	return place < core->allocation_slots && core->allocations[place].pages
		       ? &core->allocations[place]
		       : NULL;
}

/* How many pages from `first` on, up to `end`, have as many lines of their own: *lines. */
static uint64_t alike_pages(const struct allocation_books *allocation, uint64_t first, uint64_t end,
			    uint8_t *lines)
{
	uint64_t last = allocation->pages - 1;

	*lines = UM_PAGE_LINES;
	if (first == 0)
		*lines = allocation->first_lines;
	if (first == last)
		*lines = least_of(*lines, allocation->last_lines);
	if (first == 0 || first == last)
		return 1;
	return (end > last ? last : end) - first;
}

/* Walks pages [first, end) of one device; the touch is made for each that are alike. */
static int walk_pages(struct allocation_books *allocation, uint32_t device, uint64_t first,
		      uint64_t end, um_page_map_fn call, const struct touch *asked)
{
	int error = 0;

	while (first < end && !error) {
		struct touch touch = *asked;
		uint64_t pages = alike_pages(allocation, first, end, &touch.own);

		touch.read = least_of(touch.read, touch.own);
		touch.written = least_of(touch.written, touch.own);
		error = um_page_map_walk(&allocation->page[device], first, pages, call, &touch);
		first += pages;
	}
	return error;
}

static int end_pages(void *context, void *value, uint64_t first, uint64_t pages)
{
	(void)first;
	return um_ideal_bytes_last(context, value, pages);
}

/* What its pages hold may stay where it is from now on. */
static int end_allocation(struct um_ideal_core *core, uint32_t place)
{
	struct allocation_books *allocation = &core->allocations[place];
	int error = 0;

	for (uint32_t i = 0; i < core->terms.devices && !error; i++) {
		struct touch touch = {.core = core, .books = &core->device[i], .allocation = place};

		if (allocation->page[i].blocks && core->terms.limited[i])
			error = walk_pages(allocation, i, 0, allocation->pages, end_pages, &touch);
	}
	return error;
}

/* --- operations --- */

void um_ideal_core_room(struct um_ideal_core *core, um_device_id device, uint64_t pages)
{
	core->device[device].moments.room_pages = pages;
}

static int note_op(struct um_ideal_core *core)
{
	if (!core->limited)
		return 0;
	if (core->op >= core->op_capacity) {
		uint32_t capacity = core->op_capacity ? core->op_capacity * 2 : 16;
		uint32_t *grown = realloc(core->moments_up_to, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u operations", capacity);
		core->moments_up_to = grown;
		core->op_capacity = capacity;
	}
	core->moments_up_to[core->op] = core->device[0].moments.count;
	return 0;
}

static int begin_moment(struct um_ideal_core *core, um_device_id device)
{
	struct device_books *books = &core->device[device];
	int error = um_moments_add(&books->moments, device == core->by);

	if (!error)
		error = um_savings_moment(&books->in, &books->moments);
	if (!error)
		error = um_savings_moment(&books->out, &books->moments);
	if (!error)
		error = um_fault_savings_begin(&books->faults, &books->moments);
	return error;
}

/* Everything is over. */
static int quiet_moment(struct um_ideal_core *core)
{
	int error = 0;

	core->by = UM_HOST;
	for (um_device_id i = 0; i < (um_device_id)core->terms.devices && !error; i++) {
		error = begin_moment(core, i);
		if (!error)
			error = um_fault_savings_within(&core->device[i].faults,
							&core->device[i].moments);
	}
	return error;
}

int um_ideal_core_remove(struct um_ideal_core *core, uint32_t place)
{
	struct allocation_books *allocation = find(core, place);
	int error;

	if (!allocation)
		return 0;
	error = quiet_moment(core);
	if (!error)
		error = end_allocation(core, place);
	fini_allocation(core, allocation);
	return error;
}

int um_ideal_core_device_op(struct um_ideal_core *core, um_device_id device, bool alone)
{
	int error = 0;

	core->op++;
	core->by = device;
	core->alone = alone;
	for (um_device_id i = 0; alone && i < (um_device_id)core->terms.devices && !error; i++)
		error = begin_moment(core, i);
	return error ? error : note_op(core);
}

int um_ideal_core_host_op(struct um_ideal_core *core, uint32_t over)
{
	core->by = UM_HOST;
	core->alone = false;
	core->over = over;
	return 0;
}

static int own_pages(void *context, void *value, uint64_t first, uint64_t pages)
{
	const struct touch *touch = context;
	struct page_state *page = value;
	uint32_t lost = page->by_device && !touch->core->alone ? 0 : page->lost;
	int error = um_ideal_bytes_own(touch, page, pages);

	return error ? error : um_ideal_faults_touch(touch, first, pages, lost);
}

static int other_pages(void *context, void *value, uint64_t first, uint64_t pages)
{
	(void)first;
	um_ideal_bytes_other(context, value, pages);
	return 0;
}

/*
 * Whether what a device holds comes to the host by the host's faults only: what has left a device
 * for want of room, or on its way to another one, is there without.
 */
static bool host_must_fault(const struct touch *touch)
{
	uint32_t devices = touch->core->allocations[touch->allocation].devices;

	return !touch->core->terms.coherent && !touch->books->moments.limited &&
	       !(devices & (devices - 1));
}

static int host_pages(void *context, void *value, uint64_t first, uint64_t pages)
{
	const struct touch *touch = context;
	struct page_state *page = value;
	uint32_t wrote = page->wrote <= touch->core->over ? page->wrote : 0;

	um_ideal_bytes_host(touch, page, pages);
	return host_must_fault(touch) ? um_ideal_faults_touch(touch, first, pages, wrote) : 0;
}

static um_page_map_fn call_for(const struct um_ideal_core *core, um_device_id device)
{
	if (core->by == UM_HOST)
		return host_pages;
	return core->by == device ? own_pages : other_pages;
}

int um_ideal_core_touch(struct um_ideal_core *core, uint32_t place, uint64_t first_page,
			uint64_t pages, unsigned lines_read, unsigned lines_written)
{
	struct allocation_books *allocation = find(core, place);
	int error = 0;

	if (!allocation || first_page >= allocation->pages)
		return 0;
	if (pages > allocation->pages - first_page)
		pages = allocation->pages - first_page;
	if (core->by != UM_HOST)
		allocation->devices |= 1u << core->by;
	for (um_device_id i = 0; i < (um_device_id)core->terms.devices && !error; i++) {
		struct touch touch = {core,
				      &core->device[i],
				      place,
				      least_of(lines_read, UM_PAGE_LINES),
				      least_of(lines_written, UM_PAGE_LINES),
				      UM_PAGE_LINES};

		error = walk_pages(allocation, i, first_page, first_page + pages, call_for(core, i),
				   &touch);
	}
	return error;
}

int um_ideal_core_op_end(struct um_ideal_core *core)
{
	int error = 0;

	for (uint32_t i = 0; i < core->terms.devices && !error; i++) {
		struct device_books *books = &core->device[i];

		error = um_ideal_faults_flush(core, books);
		if (!error && core->alone)
			error = um_fault_savings_within(&books->faults, &books->moments);
	}
	return error;
}

/* --- the end --- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int um_ideal_core_finish(struct um_ideal_core *core, struct um_ideal *out)
{
	int error = quiet_moment(core);

	for (uint32_t i = 0; i < core->allocation_slots && !error; i++)
		if (core->allocations[i].pages)
			error = end_allocation(core, i);
	*out = (struct um_ideal){.host_faults = core->host_faults};
	for (uint32_t i = 0; i < core->terms.devices; i++) {
		const struct device_books *books = &core->device[i];
		uint64_t lost_in = um_savings_lost_lines(&books->in, &books->moments);
		uint64_t lost_out = um_savings_lost_lines(&books->out, &books->moments);

		out->bytes_to_device += UM_LINE_BYTES * larger(books->epoch_lines_in,
							       books->certain_lines_in + lost_in);
		out->bytes_to_host += UM_LINE_BYTES * larger(books->epoch_lines_out,
							     books->certain_lines_out + lost_out);
		out->device_faults +=
			books->certain_faults + books->faults.asked - books->faults.kept;
	}
	return error;
}
