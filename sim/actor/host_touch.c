/*
 * The host's own accesses, page run by page run: they fault as a device's do. Where the trace says
 * only that a page was written, it may have been read before: here it is written and no more.
 */
#include "host.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

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
	return 0;
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
	ready = um_machine_ready_at(state->machine, &run, UM_HOST);
	if (!(place & UM_PAGE_POPULATED))
		um_machine_touch(state->machine, &run, UM_HOST, host->writes,
				 (uint32_t)host->op.op);
	if (state->driver->ops->on_touch)
		state->driver->ops->on_touch(state->driver, &run, UM_HOST, host->writes);
	host->page += run.pages;
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

static bool reads_first(const struct um_page_access_row *row)
{
	return row->touch & UM_TOUCH_READ && !(row->touch & UM_TOUCH_WRITTEN_FIRST);
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
				host->row++;
				continue;
			}
			if (!reads_first(row))
				host->writes = row->touch & UM_TOUCH_WRITTEN;
		}
		if (host->page < row->pages)
			error = touch_some(host, row, waits);
		else
			next_pass(host, row);
	}
	return error;
}
