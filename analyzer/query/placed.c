#include "placed.h"

#include "query.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdio.h>

struct walk {
	int (*call)(const struct um_placed *, void *);
	void *context;
	int64_t *unplaced;
};

/* Columns 0 to 4 of each query: start, end, allocation, first_page, pages. */
enum { OWN_COLUMN = 5 };

static int deliver(struct walk *walk, struct sqlite3_stmt *row, struct um_placed *event)
{
	event->start = um_query_integer(row, 0);
	event->end = um_query_integer(row, 1);
	event->allocation = um_query_integer(row, 2);
	event->first_page = um_query_integer(row, 3);
	event->pages = um_query_integer(row, 4);
	if (event->start == UM_NULL) {
		++*walk->unplaced;
		return 0;
	}
	if (event->end == UM_NULL || event->end < event->start)
		event->end = event->start;
	return walk->call(event, walk->context);
}

static int migration(struct sqlite3_stmt *row, void *context)
{
	int64_t bytes = um_query_integer(row, OWN_COLUMN);
	int64_t source = um_query_integer(row, OWN_COLUMN + 1);
	int64_t destination = um_query_integer(row, OWN_COLUMN + 2);
	int64_t cause = um_query_integer(row, OWN_COLUMN + 3);
	struct um_placed event = {
		.kind = UM_PLACED_TRANSFER,
		.bytes_to_device = source == -1 ? bytes : 0,
		.bytes_to_host = destination == -1 ? bytes : 0,
		.bytes_between = source >= 0 && destination >= 0 ? bytes : 0,
		.cause = cause >= 0 && cause < UM_CAUSES ? (unsigned)cause : UM_TRAFFIC_UNKNOWN,
	};

	return deliver(context, row, &event);
}

static int copy(struct sqlite3_stmt *row, void *context)
{
	struct um_placed event = {
		.kind = UM_PLACED_TRANSFER,
		.bytes_to_device = um_query_integer(row, OWN_COLUMN),
		.bytes_to_host = um_query_integer(row, OWN_COLUMN + 1),
		.cause = UM_TRAFFIC_COPY,
	};

	return deliver(context, row, &event);
}

static int remote(struct sqlite3_stmt *row, void *context)
{
	struct um_placed event = {
		.kind = UM_PLACED_TRANSFER,
		.bytes_to_device = um_query_integer(row, OWN_COLUMN),
		.bytes_to_host = um_query_integer(row, OWN_COLUMN + 1),
		.cause = UM_TRAFFIC_REMOTE_ACCESS,
	};

	return deliver(context, row, &event);
}

static int fault(struct sqlite3_stmt *row, void *context)
{
	int64_t faults = um_query_integer(row, OWN_COLUMN);
	struct um_placed event = {
		.kind = UM_PLACED_FAULT,
		.faults = faults == UM_NULL ? 1 : faults,
		.is_host = um_query_integer(row, OWN_COLUMN + 1) < 0,
	};

	return deliver(context, row, &event);
}

static int touch(struct sqlite3_stmt *row, void *context)
{
	struct um_placed event = {
		.kind = UM_PLACED_TOUCH,
		.is_host = um_query_integer(row, OWN_COLUMN) != 0,
	};

	return deliver(context, row, &event);
}

int um_placed_each(const struct um_axis *axis, struct um_db *db,
		   int (*call)(const struct um_placed *, void *context), void *context,
		   int64_t *unplaced)
{
	const char *own = um_axis_row_columns(axis), *of_op = um_axis_op_columns(axis);
	/* What has no times of its own stands where its op does. */
	const struct {
		const char *start_and_end, *rest;
		int (*row)(struct sqlite3_stmt *, void *);
	} queries[] = {
		{own,
		 "allocation, first_page, pages, bytes, source, destination, cause_code FROM migration",
		 migration},
		{axis->kind == UM_AXIS_CALLS ? "op, op + 1" : "start_ns, end_ns",
		 "allocation, NULL, 0, bytes_to_device, bytes_to_host FROM copy_traffic", copy},
		{of_op,
		 "remote_access.allocation, first_page, pages, bytes_to_device, bytes_to_host"
		 " FROM remote_access JOIN op USING (op)",
		 remote},
		{own, "allocation, first_page, pages, faults, device FROM fault", fault},
		{of_op,
		 "page_access.allocation, first_page, pages, op.kind = 'host'"
		 " FROM page_access JOIN op USING (op)",
		 touch},
	};
	struct walk walk = {call, context, unplaced};
	int error = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) && !error; i++) {
		char sql[512];

		snprintf(sql, sizeof(sql), "SELECT %s, %s", queries[i].start_and_end,
			 queries[i].rest);
		error = um_query_each(db, sql, queries[i].row, &walk);
	}
	return error;
}
