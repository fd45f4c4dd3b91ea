/* Adds up what a table at the end shows. */
#include "probe.h"

#include <assert.h>
#include <string.h>

static void see_time(struct um_totals *totals, int64_t end_ns)
{
	if (end_ns > 0 && (uint64_t)end_ns > totals->end_ns)
		totals->end_ns = (uint64_t)end_ns;
}

static void add_op(void *context, const struct um_op_row *row)
{
	see_time(context, row->end_ns);
}

static void add_fault(void *context, const struct um_fault_row *row)
{
	struct um_totals *totals = context;

	*(row->device < 0 ? &totals->host_faults : &totals->device_faults) += (uint64_t)row->faults;
	see_time(totals, row->end_ns);
}

static void add_migration(void *context, const struct um_migration_row *row)
{
	struct um_totals *totals = context;
	uint64_t bytes = (uint64_t)row->bytes;
	int cause = um_word_code(um_cause_words, row->cause);

	assert(cause >= 0); /* what is simulated knows why */
	if (row->source < 0) {
		totals->migrated_to_device[cause] += bytes;
		totals->bytes_to_device += bytes;
	} else if (row->destination < 0) {
		totals->migrated_to_host[cause] += bytes;
		totals->bytes_to_host += bytes;
	} else {
		totals->moved_between += bytes;
	}
	see_time(totals, row->end_ns);
}

static void add_remote(void *context, const struct um_remote_access_row *row)
{
	struct um_totals *totals = context;

	totals->remote_to_device += (uint64_t)row->bytes_to_device;
	totals->remote_to_host += (uint64_t)row->bytes_to_host;
	totals->bytes_to_device += (uint64_t)row->bytes_to_device;
	totals->bytes_to_host += (uint64_t)row->bytes_to_host;
	totals->remote_lines_read += (uint64_t)row->lines_read;
	totals->remote_lines_written += (uint64_t)row->lines_written;
	if (row->requests == UM_NULL)
		totals->remote_lines_uncounted += (uint64_t)(row->lines_read + row->lines_written);
	else
		totals->remote_requests += (uint64_t)row->requests;
}

static void add_event(void *context, const struct um_driver_event_row *row)
{
	struct um_totals *totals = context;
	uint64_t duration_ns = row->end_ns == UM_NULL ? 0 : (uint64_t)(row->end_ns - row->start_ns);

	if (!strcmp(row->kind, UM_EVENT_QUEUE_EVICTION)) {
		totals->queue_evictions += (uint64_t)row->count;
		totals->queues_stopped_ns += duration_ns;
	} else if (!strcmp(row->kind, UM_EVENT_FAULT_DROPPED)) {
		totals->dropped_faults += (uint64_t)row->count;
		totals->dropped_waited_ns += (uint64_t)row->waited_ns;
		totals->dropped_ns += duration_ns;
	}
}

static void add_copy(void *context, const struct um_copy_traffic_row *row)
{
	struct um_totals *totals = context;

	totals->copied_to_device += (uint64_t)row->bytes_to_device;
	totals->copied_to_host += (uint64_t)row->bytes_to_host;
	totals->bytes_to_device += (uint64_t)row->bytes_to_device;
	totals->bytes_to_host += (uint64_t)row->bytes_to_host;
	see_time(totals, row->end_ns);
}

static void add_peer(void *context, const struct um_peer_traffic_row *row)
{
	struct um_totals *totals = context;
	bool copied = um_word_code(um_traffic_words, row->cause) == UM_TRAFFIC_COPY;

	*(copied ? &totals->peer_copied : &totals->peer_remote) += (uint64_t)row->bytes;
}

static void add_link_time(void *context, int64_t device, uint64_t to_device_ns, uint64_t to_host_ns)
{
	struct um_totals *totals = context;

	(void)device;
	totals->link_to_device_ns += to_device_ns;
	totals->link_to_host_ns += to_host_ns;
}

struct um_observer um_probe_totals(struct um_totals *totals)
{
	return (struct um_observer){
		.context = totals,
		.op = add_op,
		.fault = add_fault,
		.migration = add_migration,
		.remote_access = add_remote,
		.driver_event = add_event,
		.copy_traffic = add_copy,
		.peer_traffic = add_peer,
		.link_time = add_link_time,
	};
}
