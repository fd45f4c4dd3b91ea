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
		.waited_ns = um_query_integer(row, 5),
	};
	error = um_summary_keep(summary, &event->kind, "driver_event", "kind");
	return error || !event->reason
		       ? error
		       : um_summary_keep(summary, &event->reason, "driver_event", "reason");
}

/*
 * What a bound is of: managed memory, without explicit copies, which are the program's own. Each
 * gives one integer, NULL where a row does not know.
 */
static const struct {
	const char *quantity, *sql;
} quantities[] = {
#define OF_MANAGED " JOIN allocation USING (allocation) WHERE allocation.kind = 'managed'"
#define BYTES(remote_column, end)                                                                  \
	"SELECT CASE WHEN COUNT(bytes) = COUNT(*) THEN COALESCE(SUM(bytes), 0) END +"              \
	" (SELECT COALESCE(SUM(" remote_column "), 0) FROM remote_access" OF_MANAGED ")"           \
	" FROM (SELECT migration.bytes FROM migration" OF_MANAGED " AND " end " = -1)"
#define FAULTS(device)                                                                             \
	"SELECT CASE WHEN COUNT(faults) = COUNT(*) THEN COALESCE(SUM(faults), 0) END"              \
	" FROM fault" OF_MANAGED " AND fault.device " device " 0"
	{UM_BOUND_BYTES_TO_DEVICE, BYTES("bytes_to_device", "source")},
	{UM_BOUND_BYTES_TO_HOST, BYTES("bytes_to_host", "destination")},
	{UM_BOUND_DEVICE_FAULTS, FAULTS(">=")},
	{UM_BOUND_HOST_FAULTS, FAULTS("<")},
};

static int read_integer(struct sqlite3_stmt *row, void *context)
{
	*(int64_t *)context = um_query_integer(row, 0);
	return 0;
}

/* UM_NULL stays where a bound is of something else than what was simulated. */
static void set_simulated(struct um_summary *summary, const char *quantity, int64_t value)
{
	for (size_t i = 0; i < summary->bound_count; i++) {
		struct um_bound_summary *bound = &summary->bounds[i];

		if (strcmp(bound->quantity, quantity) == 0 &&
		    (bound->page_bytes == UM_NULL || bound->page_bytes == summary->run.page_bytes))
			bound->simulated = value;
	}
}

static int find_simulated(struct um_summary *summary, struct um_db *db)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]) && !error; i++) {
		int64_t value = UM_NULL;

		error = um_query_each(db, quantities[i].sql, read_integer, &value);
		set_simulated(summary, quantities[i].quantity, value);
	}
	return error;
}

static int add_bound(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_bound_summary *bound =
		um_query_append(&summary->bounds, &summary->bound_count, sizeof(*bound));

	if (!bound)
		return UM_ENOMEM;
	*bound = (struct um_bound_summary){
		.quantity = um_query_text(row, 0),
		.page_bytes = um_query_integer(row, 1),
		.least = um_query_integer(row, 2),
		.simulated = UM_NULL,
	};
	return um_summary_keep(summary, &bound->quantity, "bound", "quantity");
}

int um_summary_load_driver(struct um_summary *summary, struct um_db *db)
{
	int error = um_query_each(
		db,
		"SELECT kind, reason, SUM(count),"
		" " UM_KNOWN_SUM(end_ns - start_ns) ", " UM_KNOWN_SUM(pages) ", " UM_KNOWN_SUM(
			waited_ns) " FROM driver_event GROUP BY kind, reason ORDER BY kind, 3 DESC, reason",
		add_event, summary);

	if (!error)
		error = um_query_each(
			db, "SELECT quantity, page_bytes, value FROM bound ORDER BY rowid",
			add_bound, summary);
	return error || !summary->bound_count ? error : find_simulated(summary, db);
}
