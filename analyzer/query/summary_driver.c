/* What the driver did beside serving faults and moving pages, and the least that it could have. */
#include "query.h"
#include "summary_parts.h"
#include "trace/base/error.h"

#include <string.h>

static int add_event(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_event_summary *event =
		um_query_append(&summary->events, &summary->event_count, sizeof(*event));
	int error;

	if (!event)
		return UM_ENOMEM;
	*event = (struct um_event_summary){
		.kind = um_query_text(row, 0),
		.reason = um_query_text(row, 1),
		.count = um_query_integer(row, 2),
		.duration_ns = um_query_integer(row, 3),
		.pages = um_query_integer(row, 4),
	};
	error = um_summary_keep(summary, &event->kind, "driver_event", "kind");
	return error || !event->reason
		       ? error
		       : um_summary_keep(summary, &event->reason, "driver_event", "reason");
}

/* Explicit copies are the program's own, and not in a bound. */
static int64_t less(int64_t all, int64_t part)
{
	return all == UM_NULL || part == UM_NULL ? UM_NULL : all - part;
}

static int64_t bytes_to_device(const struct um_summary *summary)
{
	return less(summary->total.bytes_to_device,
		    summary->traffic[UM_TRAFFIC_COPY].bytes_to_device);
}

static int64_t bytes_to_host(const struct um_summary *summary)
{
	return less(summary->total.bytes_to_host, summary->traffic[UM_TRAFFIC_COPY].bytes_to_host);
}

static int64_t device_faults(const struct um_summary *summary)
{
	return summary->device_faults.faults;
}

static int64_t host_faults(const struct um_summary *summary)
{
	return summary->host_faults.faults;
}

static const struct {
	const char *quantity;
	int64_t (*of)(const struct um_summary *);
} quantities[] = {
	{UM_BOUND_BYTES_TO_DEVICE, bytes_to_device},
	{UM_BOUND_BYTES_TO_HOST, bytes_to_host},
	{UM_BOUND_DEVICE_FAULTS, device_faults},
	{UM_BOUND_HOST_FAULTS, host_faults},
};

/* UM_NULL where the bound is of something else than what was simulated. */
static int64_t simulated(const struct um_summary *summary, const struct um_bound_summary *bound)
{
	if (bound->page_bytes != UM_NULL && bound->page_bytes != summary->run.page_bytes)
		return UM_NULL;
	for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++)
		if (strcmp(bound->quantity, quantities[i].quantity) == 0)
			return quantities[i].of(summary);
	return UM_NULL;
}

static int add_bound(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_bound_summary *bound =
		um_query_append(&summary->bounds, &summary->bound_count, sizeof(*bound));
	int error;

	if (!bound)
		return UM_ENOMEM;
	*bound = (struct um_bound_summary){
		.quantity = um_query_text(row, 0),
		.page_bytes = um_query_integer(row, 1),
		.least = um_query_integer(row, 2),
	};
	error = um_summary_keep(summary, &bound->quantity, "bound", "quantity");
	if (!error)
		bound->simulated = simulated(summary, bound);
	return error;
}

int um_summary_load_driver(struct um_summary *summary, struct um_db *db)
{
	int error = um_query_each(db,
				  "SELECT kind, reason, SUM(count),"
				  " " UM_KNOWN_SUM(end_ns - start_ns) ", " UM_KNOWN_SUM(
					  pages) " FROM driver_event GROUP BY kind, reason"
						 " ORDER BY kind, 3 DESC, reason",
				  add_event, summary);

	return error ? error
		     : um_query_each(db,
				     "SELECT quantity, page_bytes, value FROM bound ORDER BY rowid",
				     add_bound, summary);
}
