/*
 * Remote accesses are counted when a kernel ends, from the lines that the trace says the op touched
 * in each page: those of pages in host memory (pinned, registered, pageable), and those of managed
 * pages that were accessed over the link at least once during the op (a page that also was on the
 * device for part of it counts whole). 64 bytes a line: read ones to the device, written ones to
 * the host, each line once for the op, as a cache would have it that keeps them all; the requests
 * tell what it would be without one. They also bound the time; where they were not counted, lines
 * do.
 *
 * Another device's memory is accessed over the link between the two, where the machine has one, and over the
 * accessing device's link to the host else: its allocations, and managed pages that are there when the kernel
 * ends. What the program enabled of peer access is not asked: a kernel that ran may.
 */
#include "simulation.h"

#include "sim/machine/page_bitmap.h"
#include "trace/base/error.h"

#include <stdlib.h>

static struct um_remote_pages *find(const struct um_remote_tally *tally, um_alloc_id allocation)
{
	for (size_t i = 0; i < tally->count; i++)
		if (tally->allocations[i].allocation == allocation)
			return &tally->allocations[i];
	return NULL;
}

static int add_allocation(struct um_remote_tally *tally, const struct um_machine *machine,
			  um_alloc_id allocation, struct um_remote_pages **out)
{
	size_t words = um_bitmap_words(um_machine_pages(machine, allocation));
	struct um_remote_pages *grown =
		realloc(tally->allocations, (tally->count + 1) * sizeof(*grown));
	uint64_t *pages = calloc(words, sizeof(*pages));

	if (grown)
		tally->allocations = grown;
	if (!grown || !pages) {
		free(pages);
		return um_fail(UM_ENOMEM, "no memory for remote pages of allocation %u",
			       allocation);
	}
	*out = &grown[tally->count++];
	**out = (struct um_remote_pages){allocation, pages};
	return 0;
}

int um_remote_tally_add(struct um_remote_tally *tally, const struct um_machine *machine,
			const struct um_page_range *range)
{
	struct um_remote_pages *remote = find(tally, range->allocation);
	int error = remote ? 0 : add_allocation(tally, machine, range->allocation, &remote);

	if (!error)
		um_bitmap_fill(remote->pages, range->first_page, range->pages, true);
	return error;
}

void um_remote_tally_fini(struct um_remote_tally *tally)
{
	for (size_t i = 0; i < tally->count; i++)
		free(tally->allocations[i].pages);
	free(tally->allocations);
}

/* --- rows --- */

struct sum {
	uint64_t bytes_to_device, bytes_to_host, requests;
};

/* Of one launch. */
struct settling {
	struct um_simulation_state *state;
	const struct um_remote_tally *tally;
	um_device_id device;
	struct sum host, peers[UM_DEVICES_MAX]; /* by whose memory it is */
};

static int64_t lines_of(const struct um_page_access_row *row, int64_t mask, int64_t touch)
{
	if (!(row->touch & touch))
		return 0;
	if (row->touch & UM_TOUCH_LINES_UNKNOWN)
		return UM_PAGE_LINES;
	return __builtin_popcountll((uint64_t)mask);
}

static void tell_peer(const struct settling *s, const struct um_page_access_row *row,
		      um_device_id from, um_device_id to, int64_t lines)
{
	if (lines)
		um_probe_peer_traffic(
			s->state->probe,
			&(struct um_peer_traffic_row){
				.op = row->op,
				.allocation = row->allocation,
				.source = from,
				.destination = to,
				.bytes = lines * UM_LINE_BYTES,
				.cause = um_word(um_traffic_words, UM_TRAFFIC_REMOTE_ACCESS),
			});
}

static void settle_run(struct settling *s, const struct um_page_access_row *row,
		       um_device_id holder, um_page first_page, um_page pages)
{
	bool peer = um_machine_are_peers(s->state->machine, s->device, holder);
	int64_t read = lines_of(row, row->lines_read, UM_TOUCH_READ) * pages;
	int64_t written = lines_of(row, row->lines_written, UM_TOUCH_WRITTEN) * pages;
	struct um_remote_access_row remote = {
		.op = row->op,
		.device = s->device,
		.allocation = row->allocation,
		.first_page = first_page,
		.pages = pages,
		.lines_read = read,
		.lines_written = written,
		.requests = row->requests == UM_NULL ? UM_NULL : row->requests * pages,
		.bytes_to_device = read * UM_LINE_BYTES,
		.bytes_to_host = written * UM_LINE_BYTES,
	};
	struct sum *sum = peer ? &s->peers[holder] : &s->host;

	sum->bytes_to_device += (uint64_t)remote.bytes_to_device;
	sum->bytes_to_host += (uint64_t)remote.bytes_to_host;
	sum->requests += (uint64_t)(remote.requests == UM_NULL ? read + written : remote.requests);
	if (!peer) {
		um_probe_remote_access(s->state->probe, &remote);
		return;
	}
	tell_peer(s, row, holder, s->device, read);
	tell_peer(s, row, s->device, holder, written);
}

/* Managed pages that were accessed from afar, by who holds them. */
static void settle_held(struct settling *s, const struct um_page_access_row *row, um_page first,
			um_page end)
{
	for (um_page page = first, next; page < end; page = next) {
		um_device_id holder;
		bool nowhere;

		next = um_machine_holder_end(s->state->machine, (um_alloc_id)row->allocation, page,
					     end, &holder, &nowhere);
		/* Those that have come to it since were the host's. */
		settle_run(s, row, holder == s->device ? UM_HOST : holder, page, next - page);
	}
}

/* The parts of the row's pages that are in the bitmap. */
static void settle_marked(struct settling *s, const struct um_page_access_row *row,
			  const uint64_t *marked)
{
	um_page end = (um_page)(row->first_page + row->pages);

	for (um_page page = (um_page)row->first_page; page < end;) {
		um_page first = page;

		while (page < end && um_bitmap_get(marked, page) == um_bitmap_get(marked, first))
			page++;
		if (um_bitmap_get(marked, first) && um_machine_has_peer_links(s->state->machine))
			settle_held(s, row, first, page);
		else if (um_bitmap_get(marked, first))
			settle_run(s, row, UM_HOST, first, page - first);
	}
}

static void settle_row(struct settling *s, const struct um_page_access_row *row)
{
	um_alloc_id id = (um_alloc_id)row->allocation;
	const struct um_remote_pages *marked = find(s->tally, id);
	enum um_home home = um_machine_home(s->state->machine, id);
	um_device_id holder = UM_HOST;

	if (home == UM_HOME_DEVICE)
		holder = um_machine_home_device(s->state->machine, id);
	if (home == UM_HOME_HOST || (home == UM_HOME_DEVICE && holder != s->device))
		settle_run(s, row, holder, (um_page)row->first_page, (um_page)row->pages);
	else if (marked)
		settle_marked(s, row, marked->pages);
}

static int check_row(struct um_simulation_state *state, const struct um_page_access_row *row)
{
	int error = um_simulation_ensure(state, row->allocation, row->op);
	int64_t pages;

	if (error)
		return error;
	pages = um_machine_pages(state->machine, (um_alloc_id)row->allocation);
	if (row->first_page < 0 || row->pages < 1 || row->first_page >= pages ||
	    row->pages > pages - row->first_page)
		return um_fail(UM_EFORMAT, "op %lld: a page access lies outside allocation %lld",
			       (long long)row->op, (long long)row->allocation);
	if (row->requests != UM_NULL &&
	    (row->requests < 0 || row->requests > INT64_MAX / row->pages))
		return um_fail(UM_EFORMAT,
			       "op %lld: requests for pages of allocation %lld that cannot be",
			       (long long)row->op, (long long)row->allocation);
	return 0;
}

/* When the last of it has crossed. */
static um_ns book(const struct settling *s, um_ns at)
{
	struct um_machine *machine = s->state->machine;
	um_ns end = um_machine_remote(machine, s->device, s->host.bytes_to_device,
				      s->host.bytes_to_host, s->host.requests, at);

	for (um_device_id peer = 0; peer < (um_device_id)um_machine_spec(machine)->devices;
	     peer++) {
		const struct sum *sum = &s->peers[peer];
		um_ns over;

		if (!sum->bytes_to_device && !sum->bytes_to_host)
			continue;
		over = um_machine_peer_remote(machine, s->device, peer, sum->bytes_to_device,
					      sum->bytes_to_host, sum->requests, at);
		end = over > end ? over : end;
	}
	return end;
}

int um_remote_tally_settle(struct um_remote_tally *tally, struct um_simulation_state *state,
			   const struct um_page_access_row *rows, long count, um_device_id device,
			   um_ns at, um_ns *end)
{
	struct settling settling = {.state = state, .tally = tally, .device = device};

	for (long i = 0; i < count; i++) {
		int error = check_row(state, &rows[i]);

		if (error)
			return error;
		settle_row(&settling, &rows[i]);
	}
	*end = book(&settling, at);
	return 0;
}
