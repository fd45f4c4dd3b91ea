/* explicit_copy's transfers: over the link, from and to pinned or pageable memory (C6, C7). */
#include "explicit_copy.h"

#include "sim/probe/probe.h"
#include "trace/spool/spool_record.h"

#include <math.h>

#define MIB 1048576.0

static um_ns later(um_ns a, um_ns b)
{
	return a > b ? a : b;
}

static void tell(const struct explicit_copy *copy, const struct um_page_range *range,
		 bool to_device, uint32_t op, um_ns start, um_ns end)
{
	int64_t bytes = (int64_t)range->pages * UM_PAGE_BYTES;

	um_probe_copy_traffic(copy->env->probe, &(struct um_copy_traffic_row){
							.op = op ? op : UM_NULL,
							.allocation = range->allocation,
							.bytes_to_device = to_device ? bytes : 0,
							.bytes_to_host = to_device ? 0 : bytes,
							.start_ns = (int64_t)start,
							.end_ns = (int64_t)end,
						});
}

/* What the host takes to stage so many bytes. */
static um_ns staging_ns(const struct explicit_copy *copy, uint64_t bytes)
{
	return (um_ns)ceil((double)bytes * (double)copy->staging_ns / MIB);
}

static um_ns link_ns(const struct explicit_copy *copy, bool to_device, uint64_t bytes)
{
	const struct um_link_spec *link = &um_machine_spec(copy->machine)->link;

	return (um_ns)ceil((double)bytes * 1e9 /
			   (to_device ? link->to_device_bytes_per_s : link->to_host_bytes_per_s));
}

/*
 * In pieces: the host stages the first, then the link carries it while the host stages the second, and so on.
 * Whichever is slower decides, with one piece of the other at an end.
 */
static int send_staged_to_device(struct explicit_copy *copy, const struct um_page_range *range,
				 um_device_id to, um_ns at, um_ns *end)
{
	uint64_t bytes = (uint64_t)range->pages * UM_PAGE_BYTES;
	uint64_t first = bytes < copy->staging_bytes ? bytes : copy->staging_bytes;
	uint64_t last = (bytes - 1) % copy->staging_bytes + 1;
	um_ns all = staging_ns(copy, bytes);
	um_ns staged = um_server_book(&copy->staging, at, all), there;
	int error = um_machine_copy_pages(copy->machine, range, UM_HOST, to,
					  staged - all + staging_ns(copy, first), &there);

	*end = later(there, staged + link_ns(copy, true, last));
	return error;
}

static int send_staged_to_host(struct explicit_copy *copy, const struct um_page_range *range,
			       um_device_id from, um_ns at, um_ns *end)
{
	uint64_t bytes = (uint64_t)range->pages * UM_PAGE_BYTES;
	uint64_t first = bytes < copy->staging_bytes ? bytes : copy->staging_bytes;
	uint64_t last = (bytes - 1) % copy->staging_bytes + 1;
	um_ns there, first_there;
	int error = um_machine_copy_pages(copy->machine, range, from, UM_HOST, at, &there);

	first_there = there - link_ns(copy, false, bytes) + link_ns(copy, false, first);
	*end = later(um_server_book(&copy->staging, first_there, staging_ns(copy, bytes)),
		     there + staging_ns(copy, last));
	return error;
}

/* One of the two is the host. */
static int send_over_link(struct explicit_copy *copy, const struct um_page_range *range,
			  um_device_id from, um_device_id to, uint32_t op, um_ns at, um_ns *end)
{
	int error;

	if (!copy->pageable)
		error = um_machine_copy_pages(copy->machine, range, from, to, at, end);
	else if (from == UM_HOST)
		error = send_staged_to_device(copy, range, to, at, end);
	else
		error = send_staged_to_host(copy, range, from, at, end);
	tell(copy, range, from == UM_HOST, op, at, *end);
	return error;
}

int um_explicit_copy_send(struct explicit_copy *copy, const struct um_page_range *range,
			  um_device_id from, um_device_id to, uint32_t op, um_ns at, um_ns *end)
{
	int error = 0;

	if (from != UM_HOST && to != UM_HOST) {
		error = send_over_link(copy, range, from, UM_HOST, op, at, &at);
		from = UM_HOST;
	}
	return error ? error : send_over_link(copy, range, from, to, op, at, end);
}
