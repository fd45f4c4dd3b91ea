/*
 * Links: one server a direction and device, first come first served. A transfer takes it for
 * latency + bytes / bandwidth. So do links between devices, one for each of two and direction, where the
 * machine has them all alike (peer_link). With a topology a transfer takes all links on its way at once, when
 * all are free, at the rate of the slowest: so do two devices share the link above their switch. Its latency is
 * that of `link` between host and device, and of the links on its way between devices. Pages that a driver
 * moves go through the host's memory.
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

/* --- ways through a topology --- */

struct way {
	struct um_server *servers[UM_ROUTE_MAX + 1];
	size_t count;
	double bytes_per_s; /* of the slowest */
	um_ns latency_ns;   /* of all */
};

/* `reversed`: from the route's end to its beginning. */
static void add_route(struct um_machine *machine, struct way *way, const struct um_route *route,
		      bool reversed)
{
	for (uint8_t i = 0; i < route->links; i++) {
		const struct um_hop *hop = &route->hop[i];
		const struct um_topology_link *link = &machine->spec->topology->link[hop->link];

		way->servers[way->count++] =
			&machine->topology_link[hop->link][hop->back != reversed];
		way->latency_ns += link->latency_ns;
		if (link->bytes_per_s < way->bytes_per_s)
			way->bytes_per_s = link->bytes_per_s;
	}
}

/* Between the host and a device: its own link, and what of the topology lies between. */
static struct way host_way(struct um_machine *machine, um_device_id device, bool to_device)
{
	const struct um_link_spec *spec = &machine->spec->link;
	struct link *link = &machine->link[device];
	struct way way = {
		.servers = {to_device ? &link->to_device : &link->to_host},
		.count = 1,
		.bytes_per_s = to_device ? spec->to_device_bytes_per_s : spec->to_host_bytes_per_s,
	};

	if (machine->spec->topology)
		add_route(machine, &way, &machine->spec->topology->to_host[device], to_device);
	return way;
}

static struct pace pace_of(struct um_machine *machine, um_device_id device, bool to_device)
{
	double bytes_per_s = host_way(machine, device, to_device).bytes_per_s;

	return (struct pace){
		.bytes_per_s = bytes_per_s,
		.ns_per_page = UM_PAGE_BYTES * NS_PER_S / bytes_per_s,
		.page_ns = data_ns(UM_PAGE_BYTES, bytes_per_s),
	};
}

void um_machine_init_links(struct um_machine *machine)
{
	for (um_device_id device = 0; device < (um_device_id)machine->spec->devices; device++) {
		machine->link[device].pace_to_device = pace_of(machine, device, true);
		machine->link[device].pace_to_host = pace_of(machine, device, false);
	}
}

/* `duration`: with latency. */
static um_ns book(struct um_machine *machine, um_device_id device, bool to_device, uint64_t bytes,
		  um_ns duration, um_ns at)
{
	struct link *link = &machine->link[device];
	struct way way;

	if (!bytes)
		return at;
	*(to_device ? &link->bytes_to_device : &link->bytes_to_host) += bytes;
	if (!machine->spec->topology)
		return um_server_book(to_device ? &link->to_device : &link->to_host, at, duration);
	way = host_way(machine, device, to_device);
	return um_servers_book(way.servers, way.count, at, duration);
}

um_ns um_machine_transfer(struct um_machine *machine, um_device_id device, bool to_device,
			  uint64_t bytes, um_ns at)
{
	const struct link *link = &machine->link[device];
	double bytes_per_s = (to_device ? &link->pace_to_device : &link->pace_to_host)->bytes_per_s;

	return book(machine, device, to_device, bytes,
		    um_machine_latency_ns(machine, to_device) + data_ns((double)bytes, bytes_per_s),
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

bool um_machine_are_peers(const struct um_machine *machine, um_device_id a, um_device_id b)
{
	const struct um_machine_spec *spec = machine->spec;

	if (a == b || a == UM_HOST || b == UM_HOST)
		return false;
	return spec->topology ? spec->topology->to_peer[a][b].links > 0
			      : spec->peer_link.bytes_per_s > 0;
}

bool um_machine_has_peer_links(const struct um_machine *machine)
{
	um_device_id devices = (um_device_id)machine->spec->devices;
	bool any = false;

	for (um_device_id device = 1; device < devices && !any; device++)
		for (um_device_id other = 0; other < device && !any; other++)
			any = um_machine_are_peers(machine, device, other);
	return any;
}

static struct way peer_way(struct um_machine *machine, um_device_id from, um_device_id to)
{
	const struct um_peer_link_spec *spec = &machine->spec->peer_link;
	struct way way = {.bytes_per_s = spec->bytes_per_s, .latency_ns = spec->latency_ns};

	if (machine->spec->topology) {
		way.bytes_per_s = HUGE_VAL;
		add_route(machine, &way, &machine->spec->topology->to_peer[from][to], false);
	} else {
		way.servers[way.count++] = &machine->peer_link[from][to];
	}
	return way;
}

um_ns um_machine_peer_transfer(struct um_machine *machine, um_device_id from, um_device_id to,
			       uint64_t bytes, um_ns at)
{
	struct way way;

	assert(um_machine_are_peers(machine, from, to));
	if (!bytes)
		return at;
	way = peer_way(machine, from, to);
	return um_servers_book(way.servers, way.count, at,
			       way.latency_ns + data_ns((double)bytes, way.bytes_per_s));
}

/* Of the slowest link on the way; 0: as the bytes allow. */
static double peer_requests_per_s(const struct um_machine *machine, um_device_id from,
				  um_device_id to)
{
	const struct um_topology *topology = machine->spec->topology;
	double slowest = 0;

	if (!topology)
		return machine->spec->peer_link.remote_requests_per_s;
	for (uint8_t i = 0; i < topology->to_peer[from][to].links; i++) {
		const struct um_topology_link *link =
			&topology->link[topology->to_peer[from][to].hop[i].link];
		double rate =
			link->remote_requests_per_s > 0
				? link->remote_requests_per_s
				: link->bytes_per_s / machine->spec->link.remote_request_bytes;

		slowest = slowest > 0 && slowest < rate ? slowest : rate;
	}
	return slowest;
}

um_ns um_machine_peer_remote(struct um_machine *machine, um_device_id device, um_device_id peer,
			     uint64_t bytes_read, uint64_t bytes_written, uint64_t requests,
			     um_ns at)
{
	double rate = peer_requests_per_s(machine, device, peer);
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
	const struct link *link = &machine->link[device];
	const struct pace *pace = to_device ? &link->pace_to_device : &link->pace_to_host;
	um_ns duration = latency + (range->pages == 1 ? pace->page_ns
						      : data_ns((double)bytes, pace->bytes_per_s));

	assert((from == UM_HOST) != (to == UM_HOST));
	transfer->end = book(machine, device, to_device, bytes, duration, at);
	transfer->start = transfer->end - duration;

	struct arrival arrival = {
		.allocation = range->allocation,
		.to = to,
		.first_page = range->first_page,
		.end_page = range->first_page + range->pages,
		.data_from = transfer->start + latency,
		.ns_per_page = pace->ns_per_page,
		.end = transfer->end,
	};
	return remember_arrival(machine, &arrival);
}

int um_machine_send_to_peer(struct um_machine *machine, const struct um_page_range *range,
			    um_device_id from, um_device_id to, um_ns at, struct transfer *transfer)
{
	uint64_t bytes = (uint64_t)range->pages * UM_PAGE_BYTES;
	struct way way = peer_way(machine, from, to);
	um_ns data = data_ns((double)bytes, way.bytes_per_s);

	transfer->end = um_machine_peer_transfer(machine, from, to, bytes, at);
	transfer->start = transfer->end - way.latency_ns - data;

	struct arrival arrival = {
		.allocation = range->allocation,
		.to = to,
		.first_page = range->first_page,
		.end_page = range->first_page + range->pages,
		.data_from = transfer->end - data,
		.ns_per_page = UM_PAGE_BYTES * NS_PER_S / way.bytes_per_s,
		.end = transfer->end,
	};
	return remember_arrival(machine, &arrival);
}
