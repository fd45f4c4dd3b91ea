/*
 * Links: one server a direction and device, first come first served. A transfer takes it for
 * latency + bytes / bandwidth. So do links between devices, one for each of two and direction, where the
 * machine has them; they are taken to be alike. Pages that a driver moves go through the host's memory.
 */
#include "machine_internal.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define NS_PER_S 1e9

static um_ns data_ns(double bytes, double bytes_per_s)
{
	return (um_ns)ceil(bytes * NS_PER_S / bytes_per_s);
}

um_ns um_machine_latency_ns(const struct um_machine *machine, bool to_device)
{
	const struct um_link_spec *link = &machine->spec->link;

	return to_device ? link->to_device_latency_ns : link->to_host_latency_ns;
}

um_ns um_machine_recorded_latency_ns(const struct um_machine *machine, bool to_device)
{
	return um_machine_latency_ns(machine, to_device) +
	       (to_device ? machine->spec->tracing.to_device_record_ns : 0);
}

static um_ns book(struct um_machine *machine, um_device_id device, bool to_device, uint64_t bytes,
		  um_ns latency, um_ns at)
{
	const struct um_link_spec *spec = &machine->spec->link;
	struct link *link = &machine->link[device];

	if (!bytes)
		return at;
	*(to_device ? &link->bytes_to_device : &link->bytes_to_host) += bytes;
	return um_server_book(
		to_device ? &link->to_device : &link->to_host, at,
		latency + data_ns((double)bytes, to_device ? spec->to_device_bytes_per_s
							   : spec->to_host_bytes_per_s));
}

um_ns um_machine_transfer(struct um_machine *machine, um_device_id device, bool to_device,
			  uint64_t bytes, um_ns at)
{
	return book(machine, device, to_device, bytes, um_machine_latency_ns(machine, to_device),
		    at);
}

um_ns um_machine_remote(struct um_machine *machine, um_device_id device, uint64_t bytes_to_device,
			uint64_t bytes_to_host, uint64_t requests, um_ns at)
{
	um_ns in = um_machine_transfer(machine, device, true, bytes_to_device, at);
	um_ns out = um_machine_transfer(machine, device, false, bytes_to_host, at);
	um_ns paced = at;

	if (machine->spec->link.remote_requests_per_s > 0)
		paced += data_ns((double)requests, machine->spec->link.remote_requests_per_s);
	in = in > out ? in : out;
	return in > paced ? in : paced;
}

bool um_machine_has_peer_links(const struct um_machine *machine)
{
	return machine->spec->peer_link.bytes_per_s > 0;
}

um_ns um_machine_peer_transfer(struct um_machine *machine, um_device_id from, um_device_id to,
			       uint64_t bytes, um_ns at)
{
	const struct um_peer_link_spec *spec = &machine->spec->peer_link;

	assert(um_machine_has_peer_links(machine) && from != to);
	if (!bytes)
		return at;
	return um_server_book(&machine->peer_link[from][to], at,
			      spec->latency_ns + data_ns((double)bytes, spec->bytes_per_s));
}

um_ns um_machine_peer_remote(struct um_machine *machine, um_device_id device, um_device_id peer,
			     uint64_t bytes_read, uint64_t bytes_written, uint64_t requests,
			     um_ns at)
{
	double rate = machine->spec->peer_link.remote_requests_per_s;
	um_ns in = um_machine_peer_transfer(machine, peer, device, bytes_read, at);
	um_ns out = um_machine_peer_transfer(machine, device, peer, bytes_written, at);
	um_ns paced = at + (rate > 0 ? data_ns((double)requests, rate) : 0);

	in = in > out ? in : out;
	return in > paced ? in : paced;
}

um_ns um_machine_link_busy(const struct um_machine *machine, um_device_id device, bool to_device)
{
	const struct link *link = &machine->link[device];

	return to_device ? link->to_device.busy : link->to_host.busy;
}

/* --- pages on their way --- */

static void forget_arrived(struct um_machine *machine, um_ns now)
{
	size_t kept = 0;

	for (size_t i = 0; i < machine->arrival_count; i++)
		if (machine->arrivals[i].end > now)
			machine->arrivals[kept++] = machine->arrivals[i];
	machine->arrival_count = kept;
}

static int remember_arrival(struct um_machine *machine, const struct arrival *arrival)
{
	if (machine->arrival_count == machine->arrival_capacity)
		forget_arrived(machine, um_machine_now(machine));
	if (machine->arrival_count == machine->arrival_capacity) {
		size_t capacity = machine->arrival_capacity ? machine->arrival_capacity * 2 : 16;
		struct arrival *grown = realloc(machine->arrivals, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu transfers", capacity);
		machine->arrivals = grown;
		machine->arrival_capacity = capacity;
	}
	machine->arrivals[machine->arrival_count++] = *arrival;
	if (arrival->end > machine->last_arrival)
		machine->last_arrival = arrival->end;
	return 0;
}

static um_page smaller(um_page a, um_page b)
{
	return a < b ? a : b;
}

/* Where its bytes come to. */
static struct um_page_range carrier_of(const struct um_machine *machine,
				       const struct um_page_range *range)
{
	const struct allocation *allocation = find_allocation(machine, range->allocation);
	bool reaches_on;

	if (!allocation || !allocation->alias_of)
		return *range;
	reaches_on = allocation->alias_reaches_on &&
		     range->first_page + range->pages == allocation->pages;
	return (struct um_page_range){allocation->alias_of,
				      allocation->alias_first + range->first_page,
				      range->pages + reaches_on};
}

um_ns um_machine_ready_at(struct um_machine *machine, const struct um_page_range *pages,
			  um_device_id device)
{
	struct um_page_range carrier = carrier_of(machine, pages);
	const struct um_page_range *range = &carrier;
	um_ns now = um_machine_now(machine), ready = 0;
	um_page range_end = range->first_page + range->pages;

	if (machine->last_arrival <= now)
		return 0;
	forget_arrived(machine, now);
	for (size_t i = 0; i < machine->arrival_count; i++) {
		const struct arrival *arrival = &machine->arrivals[i];
		um_page end = smaller(range_end, arrival->end_page);
		um_ns at;

		if (arrival->allocation != range->allocation || arrival->to != device ||
		    range->first_page >= arrival->end_page || range_end <= arrival->first_page)
			continue;
		at = arrival->data_from +
		     (um_ns)ceil(arrival->ns_per_page * (double)(end - arrival->first_page));
		at = end == arrival->end_page || at > arrival->end ? arrival->end : at;
		ready = at > ready ? at : ready;
	}
	return ready > now ? ready : 0;
}

int um_machine_send_pages(struct um_machine *machine, const struct um_page_range *range,
			  um_device_id from, um_device_id to, um_ns latency, um_ns at,
			  struct transfer *transfer)
{
	bool to_device = from == UM_HOST;
	um_device_id device = to_device ? to : from;
	uint64_t bytes = (uint64_t)range->pages * UM_PAGE_BYTES;
	double rate = to_device ? machine->spec->link.to_device_bytes_per_s
				: machine->spec->link.to_host_bytes_per_s;
	um_ns duration = latency + data_ns((double)bytes, rate);

	assert((from == UM_HOST) != (to == UM_HOST));
	transfer->end = book(machine, device, to_device, bytes, latency, at);
	transfer->start = transfer->end - duration;

	struct arrival arrival = {
		.allocation = range->allocation,
		.to = to,
		.first_page = range->first_page,
		.end_page = range->first_page + range->pages,
		.data_from = transfer->start + latency,
		.ns_per_page = UM_PAGE_BYTES * NS_PER_S / rate,
		.end = transfer->end,
	};
	return remember_arrival(machine, &arrival);
}
