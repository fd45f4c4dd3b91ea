/*
 * The host's own accesses, page run by page run: they fault as a device's do. Where the trace says
 * only that a page was written, it may have been read before: here it is written and no more.
 *
 * Where the driver has device memory mapped for the host (a coherent link), the lines that it
 * touches cross the link, 64 bytes each, once for the op: read ones to the host, written ones to the
 * device. The host waits for them.
 */
#include "host.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static bool reads_first(const struct um_page_access_row *row)
{
	return row->touch & UM_TOUCH_READ && !(row->touch & UM_TOUCH_WRITTEN_FIRST);
}

static uint64_t passes(const struct um_page_access_row *row)
{
	return reads_first(row) && row->touch & UM_TOUCH_WRITTEN ? 2 : 1;
}

/* Where the driver asks for it before. */
static int tell_accesses(struct um_host *host)
{
	struct um_accesses accesses = {
		.device = UM_HOST,
		.op = (uint32_t)host->op.op,
		.rows = host->rows,
		.count = host->row_count,
	};
	um_ns done_at = um_engine_now(host->state->engine);
	int error;

	if (!um_accesses_are_told(host->state))
		return 0;
	error = um_accesses_tell(host->state, &accesses, &done_at);
	return error ? error : um_host_wait_until(host, done_at);
}

int um_host_load_rows(struct um_host *host)
{
	const struct um_page_access_row *rows;
	long count = um_source_pages(host->state->source, host->op.op, &rows);
	struct um_page_access_row *copy;

	if (count < 0)
		return (int)count;
	copy = realloc(host->rows, ((size_t)count + 1) * sizeof(*copy));
	if (!copy)
		return um_fail(UM_ENOMEM, "no memory for %ld page accesses", count);
	if (count)
		memcpy(copy, rows, (size_t)count * sizeof(*copy));
	host->rows = copy;
	host->row_count = (size_t)count;
	host->row = 0;
	host->page = 0;
	host->writes = false;
	for (size_t i = 0; i < host->row_count; i++)
		host->pages += passes(&host->rows[i]) * (uint64_t)host->rows[i].pages;
	return tell_accesses(host);
}

static int host_fault(struct um_host *host, const struct um_page_range *ahead)
{
	struct um_fault fault = {
		.device = UM_HOST,
		.allocation = ahead->allocation,
		.page = ahead->first_page,
		.pages_ahead = ahead->pages,
		.access = host->writes ? UM_FAULT_WRITE : UM_FAULT_READ,
		.op = (uint32_t)host->op.op,
	};

	return um_fault_buffers_raise(host->state->faults, &fault, um_host_step, host, 0);
}

static int64_t lines_of(const struct um_page_access_row *row, int64_t mask)
{
	return row->touch & UM_TOUCH_LINES_UNKNOWN ? UM_PAGE_LINES
						   : __builtin_popcountll((uint64_t)mask);
}

/* The pass that the row is in: its reads, and its writes; what it read after it wrote it, with the
 * writes. */
static struct um_remote_access_row remote_row(const struct um_host *host,
					      const struct um_page_access_row *row,
					      const struct um_page_range *run)
{
	bool reads = row->touch & UM_TOUCH_READ && host->writes != reads_first(row);
	int64_t read = reads ? lines_of(row, row->lines_read) * run->pages : 0;
	int64_t written = host->writes ? lines_of(row, row->lines_written) * run->pages : 0;

	return (struct um_remote_access_row){
		.op = row->op,
		.device = UM_HOST,
		.allocation = run->allocation,
		.first_page = run->first_page,
		.pages = run->pages,
		.lines_read = read,
		.lines_written = written,
		.requests = UM_NULL,
		.bytes_to_device = written * UM_LINE_BYTES,
		.bytes_to_host = read * UM_LINE_BYTES,
	};
}

/* Accesses the run, which is on devices; returns when the last line has crossed. */
static um_ns access_remotely(struct um_host *host, const struct um_page_access_row *row,
			     const struct um_page_range *run)
{
	struct um_simulation_state *state = host->state;
	um_page page = run->first_page, run_end = page + run->pages;
	um_ns now = um_engine_now(state->engine), end = now;

	while (page < run_end) {
		um_device_id holder;
		bool nowhere;
		um_page next = um_machine_holder_end(state->machine, run->allocation, page, run_end,
						     &holder, &nowhere);
		struct um_page_range part = {run->allocation, page, next - page};
		struct um_remote_access_row remote = remote_row(host, row, &part);
		um_ns there =
			um_machine_remote(state->machine, holder, (uint64_t)remote.bytes_to_device,
					  (uint64_t)remote.bytes_to_host, 0, now);

		um_probe_remote_access(state->probe, &remote);
		end = there > end ? there : end;
		page = next;
	}
	return end > now ? end : 0;
}

/* As much as can be touched of what is left of the row; *waits: um_host_step() will run again. */
static int touch_some(struct um_host *host, const struct um_page_access_row *row, bool *waits)
{
	struct um_simulation_state *state = host->state;
	um_alloc_id id = (um_alloc_id)row->allocation;
	um_page page = (um_page)row->first_page + host->page;
	um_page limit = (um_page)(row->first_page + row->pages);
	enum um_mapping_state map;
	uint32_t place;
	um_page end = um_machine_run_end(state->machine, id, page, limit, UM_HOST, &place, &map);
	struct um_page_range run = {id, page, end - page}, ahead = {id, page, limit - page};
	um_ns ready;

	if (map == UM_MAP_NONE || (map == UM_MAP_LOCAL_READ && host->writes)) {
		*waits = true;
		return host_fault(host, &ahead);
	}
	ready = map == UM_MAP_REMOTE ? access_remotely(host, row, &run)
				     : um_machine_ready_at(state->machine, &run, UM_HOST);
	if (!(place & UM_PAGE_POPULATED))
		um_machine_touch(state->machine, &run, UM_HOST, host->writes,
				 (uint32_t)host->op.op);
	if (state->driver->ops->on_touch)
		state->driver->ops->on_touch(state->driver, &run, UM_HOST, host->writes);
	host->page += run.pages;
	host->touched += run.pages;
	*waits = ready > 0;
	return ready ? um_engine_schedule(state->engine, ready, um_host_step, host, 0) : 0;
}

/* The row's reads, then its writes, since what it read first it may have read before it wrote. */
static void next_pass(struct um_host *host, const struct um_page_access_row *row)
{
	bool more = !host->writes && row->touch & UM_TOUCH_WRITTEN;

	host->page = 0;
	host->writes = more;
	host->row += !more;
}

static int check_host_row(struct um_host *host, const struct um_page_access_row *row)
{
	int error = um_simulation_ensure(host->state, row->allocation, row->op);
	int64_t pages;

	if (error)
		return error;
	pages = um_machine_pages(host->state->machine, (um_alloc_id)row->allocation);
	if (row->first_page < 0 || row->pages < 1 || row->first_page >= pages ||
	    row->pages > pages - row->first_page)
		return um_fail(UM_EFORMAT,
			       "op %lld: the host touches pages outside allocation %lld",
			       (long long)row->op, (long long)row->allocation);
	if (um_machine_home(host->state->machine, (um_alloc_id)row->allocation) != UM_HOME_DEVICE)
		return 0;
	return um_fail(UM_EINVAL,
		       "op %lld: the host touches allocation %lld, which the policy makes device "
		       "memory; a host cannot",
		       (long long)row->op, (long long)row->allocation);
}

int um_host_touch_rows(struct um_host *host, bool *waits)
{
	struct um_machine *machine = host->state->machine;
	int error = 0;

	while (host->row < host->row_count && !*waits && !error) {
		const struct um_page_access_row *row = &host->rows[host->row];

		if (host->page == 0 && !host->writes) {
			error = check_host_row(host, row);
			if (error)
				break;
			if (um_machine_home(machine, (um_alloc_id)row->allocation) !=
			    UM_HOME_MANAGED) {
				host->touched += passes(row) * (uint64_t)row->pages;
				host->row++;
				continue;
			}
			if (!reads_first(row))
				host->writes = row->touch & UM_TOUCH_WRITTEN;
		}
		if (host->page >= row->pages) {
			next_pass(host, row);
			continue;
		}
		error = um_host_work(host, waits);
		if (!error && !*waits)
			error = touch_some(host, row, waits);
	}
	return error || *waits ? error : um_host_work(host, waits);
}
