/*
 * One page, whole: what most faults and evictions come to where a driver's unit is a page and there
 * is one device. The same as the verbs of machine_memory.c and machine_pages.c one after the other
 * (tests/unit/sim/machine_page_test.c holds them together), without walks over runs of pages: all that is
 * known of the page lies in one cache line.
 */
#include "machine_internal.h"

#include <assert.h>

/* Of a page of a machine with one device. */
struct page_bits {
	bool populated, on_host, on_device, reserved;
};

static struct page_bits bits_of(const struct allocation *allocation, um_page page)
{
	const struct place_pages *host = &allocation->place[0], *device = &allocation->place[1];

	return (struct page_bits){
		.populated = um_plane_get(allocation->populated, page),
		.on_host = um_plane_get(host->valid, page),
		.on_device = um_plane_get(device->valid, page),
		.reserved = um_plane_get(device->reserved, page),
	};
}

/* Whether rules of more places, or of what belongs together, have a say. */
static bool is_plain(const struct um_machine *machine, const struct allocation *allocation,
		     const struct um_page_range *page)
{
	return machine->places == 2 && page->pages == 1 && !machine->join_next &&
	       !allocation->alias_of;
}

static void put_memory(struct um_machine *machine, struct place_pages *device, um_page page,
		       bool reserved)
{
	um_plane_put(device->reserved, page, reserved);
	device->reserved_pages += reserved ? 1 : -UINT64_C(1);
	machine->memory[0].used_bytes += reserved ? UM_PAGE_BYTES : -(uint64_t)UM_PAGE_BYTES;
}

static void put_copy(struct place_pages *place, um_page page, bool valid)
{
	um_plane_put(place->valid, page, valid);
	um_plane_put(place->map_low, page, valid); /* UM_MAP_LOCAL or UM_MAP_NONE */
	um_plane_put(place->map_high, page, false);
	place->resident_pages += valid ? 1 : -UINT64_C(1);
}

/* The page's only copy goes from one place to the other, which has it mapped then. */
static int cross(struct um_machine *machine, struct allocation *allocation,
		 const struct um_page_range *page, um_device_id to, const struct um_why *why,
		 um_ns at, um_ns *end)
{
	um_device_id from = to == UM_HOST ? 0 : UM_HOST;
	um_ns latency = um_machine_recorded_latency_ns(machine, from == UM_HOST);
	struct transfer transfer;
	int error = um_machine_send_pages(machine, page, from, to, latency, at, &transfer);

	if (error)
		return error;
	um_machine_report_migration(machine, page, from, to, UM_PAGE_BYTES, why, false, &transfer);
	put_copy(&allocation->place[place_of(from)], page->first_page, false);
	put_copy(&allocation->place[place_of(to)], page->first_page, true);
	machine->ledger[place_of(from)][LEDGER_WENT]++;
	machine->ledger[place_of(to)][LEDGER_CAME]++;
	*end = transfer.end;
	return 0;
}

static void note_moved(struct um_machine *machine, const struct um_page_range *page,
		       um_device_id to)
{
	machine->moved = *page;
	machine->moved_to = to;
	machine->record_next = false;
}

int um_machine_bring_page(struct um_machine *machine, const struct um_page_range *page,
			  const struct um_why *why, um_ns at, um_ns *end, bool *done)
{
	struct allocation *allocation = um_machine_managed(machine, page);
	struct page_bits bits = bits_of(allocation, page->first_page);

	*done = is_plain(machine, allocation, page) && !bits.reserved && !bits.on_device &&
		bits.populated == bits.on_host &&
		um_machine_memory_free(machine, 0) >= UM_PAGE_BYTES;
	if (!*done)
		return 0;
	put_memory(machine, &allocation->place[1], page->first_page, true);
	note_moved(machine, page, 0);
	if (bits.populated)
		return cross(machine, allocation, page, 0, why, at, end);
	put_copy(&allocation->place[1], page->first_page, true);
	machine->ledger[1][LEDGER_BORN]++;
	*end = at;
	return 0;
}

int um_machine_send_page_home(struct um_machine *machine, const struct um_page_range *page,
			      const struct um_why *why, um_ns at, um_ns *end, bool *done)
{
	struct allocation *allocation = um_machine_managed(machine, page);
	struct page_bits bits = bits_of(allocation, page->first_page);
	int error;

	*done = is_plain(machine, allocation, page) && bits.populated && bits.on_device &&
		!bits.on_host;
	if (!*done)
		return 0;
	note_moved(machine, page, UM_HOST);
	error = cross(machine, allocation, page, UM_HOST, why, at, end);
	if (!error)
		put_memory(machine, &allocation->place[1], page->first_page, false);
	return error;
}
