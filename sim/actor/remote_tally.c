/*
 * Remote accesses are counted when a kernel ends, from the lines that the trace says the op touched
 * in each page: those of pages in host memory (pinned, registered, pageable), and those of managed
 * pages that were accessed over the link at least once during the op (a page that also was on the
 * device for part of it counts whole). 64 bytes a line: read ones to the device, written ones to
 * the host, each line once for the op, as a cache would have it that keeps them all; the requests
 * tell what it would be without one. They also bound the time; where they were not counted, lines
 * do.
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

static int64_t lines_of(const struct um_page_access_row *row, int64_t mask, int64_t touch)
{
	if (!(row->touch & touch))
		return 0;
	if (row->touch & UM_TOUCH_LINES_UNKNOWN)
		return UM_PAGE_LINES;
	return __builtin_popcountll((uint64_t)mask);
}

static void settle_run(struct um_simulation_state *state, const struct um_page_access_row *row,
		       um_device_id device, um_page first_page, um_page pages, struct sum *sum)
{
	int64_t read = lines_of(row, row->lines_read, UM_TOUCH_READ) * pages;
	int64_t written = lines_of(row, row->lines_written, UM_TOUCH_WRITTEN) * pages;
	struct um_remote_access_row remote = {
		.op = row->op,
		.device = device,
		.allocation = row->allocation,
		.first_page = first_page,
		.pages = pages,
		.lines_read = read,
		.lines_written = written,
		.requests = row->requests == UM_NULL ? UM_NULL : row->requests * pages,
		.bytes_to_device = read * UM_LINE_BYTES,
		.bytes_to_host = written * UM_LINE_BYTES,
	};

	sum->bytes_to_device += (uint64_t)remote.bytes_to_device;
	sum->bytes_to_host += (uint64_t)remote.bytes_to_host;
	sum->requests += (uint64_t)(remote.requests == UM_NULL ? read + written : remote.requests);
	um_probe_remote_access(state->probe, &remote);
}

/* The parts of the row's pages that are in the bitmap. */
static void settle_marked(struct um_simulation_state *state, const struct um_page_access_row *row,
			  const uint64_t *marked, um_device_id device, struct sum *sum)
{
	um_page end = (um_page)(row->first_page + row->pages);

	for (um_page page = (um_page)row->first_page; page < end;) {
		um_page first = page;

		while (page < end && um_bitmap_get(marked, page) == um_bitmap_get(marked, first))
			page++;
		if (um_bitmap_get(marked, first))
			settle_run(state, row, device, first, page - first, sum);
	}
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

int um_remote_tally_settle(struct um_remote_tally *tally, struct um_simulation_state *state,
			   const struct um_page_access_row *rows, long count, um_device_id device,
			   um_ns at, um_ns *end)
{
	struct sum sum = {0, 0, 0};

	for (long i = 0; i < count; i++) {
		const struct um_page_access_row *row = &rows[i];
		int error = check_row(state, row);
		const struct um_remote_pages *marked;

		if (error)
			return error;
		marked = find(tally, (um_alloc_id)row->allocation);
		if (um_machine_home(state->machine, (um_alloc_id)row->allocation) == UM_HOME_HOST)
			settle_run(state, row, device, (um_page)row->first_page,
				   (um_page)row->pages, &sum);
		else if (marked)
			settle_marked(state, row, marked->pages, device, &sum);
	}
	*end = um_machine_remote(state->machine, device, sum.bytes_to_device, sum.bytes_to_host,
				 sum.requests, at);
	return 0;
}
