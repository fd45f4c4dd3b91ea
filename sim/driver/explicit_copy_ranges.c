/* explicit_copy's copies: which pages an operation needs, in as few transfers as they make ranges. */
#include "explicit_copy.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

/* --- buffers --- */

static int refuse_buffer(const struct explicit_copy *copy, um_alloc_id id, um_device_id device)
{
	uint64_t bytes = (uint64_t)um_machine_pages(copy->machine, id) * UM_PAGE_BYTES;
	char text[3][32];

	return um_fail(
		UM_ELIMIT,
		"device %d: explicit copies need a buffer of %s for allocation %u, and %s of %s are "
		"free: such a program has to work on its data in parts, which its trace does not tell",
		device, um_format_bytes(text[0], sizeof(text[0]), bytes), id,
		um_format_bytes(text[1], sizeof(text[1]),
				um_machine_memory_free(copy->machine, device)),
		um_format_bytes(text[2], sizeof(text[2]),
				um_machine_memory_total(copy->machine, device)));
}

static int need_buffer(struct explicit_copy *copy, um_alloc_id id, um_device_id device)
{
	struct um_page_range all = {id, 0, um_machine_pages(copy->machine, id)};

	if (device == UM_HOST || copy->buffers[id] >> device & 1)
		return 0;
	if ((uint64_t)all.pages * UM_PAGE_BYTES > um_machine_memory_free(copy->machine, device))
		return refuse_buffer(copy, id, device);
	copy->buffers[id] |= (uint16_t)(1u << device);
	return um_machine_reserve(copy->machine, &all, device);
}

/* --- what is needed (C2, C3) --- */

static bool writes(const struct um_page_access_row *row)
{
	return row->touch & UM_TOUCH_WRITTEN || row->atomics > 0;
}

static bool needs_data(const struct um_page_access_row *row, um_device_id device)
{
	return device == UM_HOST || row->touch & (UM_TOUCH_READ | UM_TOUCH_LINES_UNKNOWN) ||
	       row->atomics > 0 || (uint64_t)row->lines_written != UINT64_MAX;
}

static bool is_managed(const struct explicit_copy *copy, const struct um_page_access_row *row)
{
	return um_machine_home(copy->machine, (um_alloc_id)row->allocation) == UM_HOME_MANAGED;
}

static struct um_page_range range_of(const struct um_page_access_row *row)
{
	return (struct um_page_range){(um_alloc_id)row->allocation, (um_page)row->first_page,
				      (uint32_t)row->pages};
}

/* --- gathering (C4) --- */

struct gathering {
	struct explicit_copy *copy;
	const struct um_accesses *accesses;
	struct um_page_range range; /* 0 pages: none yet */
	um_device_id from;
	um_ns at, end;
};

static int flush(struct gathering *gathering)
{
	um_ns there = gathering->at;
	int error;

	if (!gathering->range.pages)
		return 0;
	error = um_explicit_copy_send(gathering->copy, &gathering->range, gathering->from,
				      gathering->accesses->device, gathering->accesses->op,
				      gathering->at, &there);
	gathering->end = there > gathering->end ? there : gathering->end;
	gathering->range.pages = 0;
	return error;
}

/* Whether the page has data that the device lacks, up to *end; *from: who has it. */
static bool is_elsewhere(const struct explicit_copy *copy, um_alloc_id id, um_page page,
			 um_page limit, um_device_id device, um_device_id *from, um_page *end)
{
	enum um_mapping_state map;
	uint32_t place, here = device == UM_HOST ? UM_PAGE_HOST : UM_PAGE_DEVICE;
	bool nowhere;

	*end = um_machine_run_end(copy->machine, id, page, limit, device, &place, &map);
	*end = um_machine_holder_end(copy->machine, id, page, *end, from, &nowhere);
	return place & UM_PAGE_POPULATED && !(place & here);
}

/* Pages whose bytes take as long as a transfer's latency. */
static um_page gap_most(const struct gathering *gathering)
{
	const struct um_link_spec *link = &um_machine_spec(gathering->copy->machine)->link;
	bool to_device = gathering->from == UM_HOST;
	double bytes = (double)(to_device ? link->to_device_latency_ns : link->to_host_latency_ns) *
		       (to_device ? link->to_device_bytes_per_s : link->to_host_bytes_per_s) / 1e9;

	return bytes < (double)UINT32_MAX ? (um_page)(bytes / UM_PAGE_BYTES) : UINT32_MAX;
}

/* Whether the gap between what is gathered and `next` goes along. */
static bool bridges(const struct gathering *gathering, um_alloc_id id, um_page next,
		    um_device_id from)
{
	um_page page = gathering->range.first_page + gathering->range.pages, end;

	if (!gathering->range.pages || id != gathering->range.allocation ||
	    from != gathering->from || next < page || next - page > gap_most(gathering))
		return false;
	for (; page < next; page = end) {
		um_device_id holder;

		if (!is_elsewhere(gathering->copy, id, page, next, gathering->accesses->device,
				  &holder, &end) ||
		    holder != from)
			return false;
	}
	return true;
}

static int gather(struct gathering *gathering, const struct um_page_range *run, um_device_id from)
{
	int error = 0;

	if (bridges(gathering, run->allocation, run->first_page, from)) {
		gathering->range.pages = run->first_page + run->pages - gathering->range.first_page;
		return 0;
	}
	error = flush(gathering);
	gathering->range = *run;
	gathering->from = from;
	return error;
}

static int gather_row(struct gathering *gathering, const struct um_page_access_row *row)
{
	struct um_page_range range = range_of(row);
	um_page page = range.first_page, limit = page + range.pages, end;
	int error = 0;

	for (; page < limit && !error; page = end) {
		um_device_id from;

		if (is_elsewhere(gathering->copy, range.allocation, page, limit,
				 gathering->accesses->device, &from, &end)) {
			struct um_page_range run = {range.allocation, page, end - page};

			error = gather(gathering, &run, from);
		}
	}
	return error;
}

/* --- mapped as they are accessed --- */

static int map_run(struct explicit_copy *copy, const struct um_page_range *run, um_device_id device,
		   bool only)
{
	struct um_why why = {UM_CAUSE_PREFETCH, 0, 0}; /* no row: what has just come */

	return um_machine_map(copy->machine, run, device, only ? UM_MAP_LOCAL : UM_MAP_LOCAL_READ,
			      &why);
}

static int map_written(struct explicit_copy *copy, const struct um_page_range *range,
		       um_device_id device)
{
	um_machine_keep_only(copy->machine, range, device);
	return map_run(copy, range, device, true);
}

/* Pages without data, which nobody copies, are from now on where they are accessed. */
static int map_read(struct explicit_copy *copy, const struct um_page_range *range,
		    um_device_id device)
{
	um_page page = range->first_page, limit = page + range->pages, end;
	uint32_t here = device == UM_HOST ? UM_PAGE_HOST : UM_PAGE_DEVICE;
	int error = 0;

	for (; page < limit && !error; page = end) {
		enum um_mapping_state map;
		uint32_t place;

		end = um_machine_run_end(copy->machine, range->allocation, page, limit, device,
					 &place, &map);

		struct um_page_range run = {range->allocation, page, end - page};

		if (!(place & here) || !(place & UM_PAGE_POPULATED))
			error = map_written(copy, &run, device);
		else if (map == UM_MAP_NONE)
			error = map_run(copy, &run, device, false);
	}
	return error;
}

int um_explicit_copy_provide(struct explicit_copy *copy, const struct um_accesses *accesses,
			     um_ns at, um_ns *end)
{
	struct gathering gathering = {.copy = copy, .accesses = accesses, .at = at, .end = at};
	int error = 0;

	for (size_t i = 0; i < accesses->count && !error; i++) {
		const struct um_page_access_row *row = &accesses->rows[i];

		if (!is_managed(copy, row))
			continue;
		error = need_buffer(copy, (um_alloc_id)row->allocation, accesses->device);
		if (!error && needs_data(row, accesses->device))
			error = gather_row(&gathering, row);
	}
	if (!error)
		error = flush(&gathering);
	for (size_t i = 0; i < accesses->count && !error; i++) {
		const struct um_page_access_row *row = &accesses->rows[i];
		struct um_page_range range = range_of(row);

		if (is_managed(copy, row))
			error = writes(row) ? map_written(copy, &range, accesses->device)
					    : map_read(copy, &range, accesses->device);
	}
	*end = gathering.end;
	return error;
}
