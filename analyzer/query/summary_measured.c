/* What only a measured run has: single transfers, the host's faults by line. */
#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- transfers --- */

static const struct {
	const char *direction, *where;
} directions[] = {
	{"to_device", "source = -1"},
	{"to_host", "destination = -1"},
	{"between_devices", "source >= 0 AND destination >= 0"},
};

static int add_transfers(struct sqlite3_stmt *row, void *context)
{
	struct um_transfer_summary *transfers = context;

	transfers->count = um_query_integer(row, 0);
	transfers->bytes = um_query_integer(row, 1);
	transfers->least_bytes = um_query_integer(row, 2);
	transfers->most_bytes = um_query_integer(row, 3);
	transfers->duration_ns = um_query_integer(row, 4);
	return 0;
}

/* Of an even number the mean of the two in the middle. */
static int add_median(struct sqlite3_stmt *row, void *context)
{
	((struct um_transfer_summary *)context)->median_bytes = um_query_integer(row, 0);
	return 0;
}

static int load_direction(struct um_transfer_summary *transfers, struct um_db *db,
			  const char *where)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT COUNT(*), COALESCE(SUM(bytes), 0), MIN(bytes), MAX(bytes), "
		 "COALESCE(SUM(end_ns - start_ns), 0) FROM migration WHERE bytes > 0 AND %s",
		 where);
	int error = um_query_each(db, sql, add_transfers, transfers);
	transfers->median_bytes = UM_NULL;
	if (error || transfers->count <= 0)
		return error;
	snprintf(sql, sizeof(sql),
		 "SELECT CAST(AVG(bytes) AS INTEGER) FROM (SELECT bytes FROM migration WHERE "
		 "bytes > 0 AND %s ORDER BY bytes LIMIT %d OFFSET %lld)",
		 where, transfers->count % 2 ? 1 : 2, (long long)((transfers->count - 1) / 2));
	return um_query_each(db, sql, add_median, transfers);
}

static int load_transfers(struct um_summary *summary, struct um_db *db)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]) && !error; i++) {
		summary->transfers[i].direction = directions[i].direction;
		error = load_direction(&summary->transfers[i], db, directions[i].where);
	}
	return error;
}

static int add_mappings(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;

	summary->remote_mappings = um_query_integer(row, 0);
	summary->beside_bytes = um_query_integer(row, 1);
	return 0;
}

/* --- lines --- */

static const char lines_sql[] =
	"WITH faulted AS (SELECT site, SUM(faults) AS faults,"
	"  SUM(CASE WHEN access = 'read' THEN faults ELSE 0 END) AS reads,"
	"  SUM(CASE WHEN access = 'write' THEN faults ELSE 0 END) AS writes,"
	"  COUNT(DISTINCT allocation) AS allocations FROM fault WHERE device < 0 GROUP BY site)"
	" SELECT frame.file, frame.line, frame.function, frame.module, frame.offset_bytes,"
	"  SUM(faulted.faults), SUM(faulted.reads), SUM(faulted.writes), MAX(faulted.allocations)"
	" FROM faulted LEFT JOIN temp.user_frame AS frame ON frame.site = faulted.site"
	"  AND frame.kind = ''"
	/* Several instructions of a line are one; without a line each is its own. */
	" GROUP BY CASE WHEN frame.line IS NULL THEN faulted.site END, frame.file, frame.line,"
	"  frame.function"
	" ORDER BY 6 DESC, frame.file, frame.line";

static int add_line(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_line_summary *line =
		um_query_append(&summary->lines, &summary->line_count, sizeof(*line));

	if (!line)
		return UM_ENOMEM;
	line->faults = um_query_integer(row, 5);
	line->read_faults = um_query_integer(row, 6);
	line->write_faults = um_query_integer(row, 7);
	line->allocations = um_query_integer(row, 8);
	if (!um_query_text(row, 3))
		return 0;
	return um_summary_site(summary, row, 0, &line->site, &line->has_line, &line->function);
}

int um_summary_load_measured(struct um_summary *summary, struct um_db *db)
{
	int error = 0;

	if (!summary->is_measured)
		return 0;
	if (!summary->is_brief)
		error = load_transfers(summary, db);
	if (!error)
		error = um_query_each(db,
				      "SELECT (SELECT COUNT(*) FROM mapping WHERE change = "
				      "'remote'), (SELECT COALESCE(SUM(bytes), 0) FROM migration "
				      "WHERE allocation IS NULL)",
				      add_mappings, summary);
	if (!error && summary->has_host_faults && !summary->is_brief)
		error = um_query_each(db, lines_sql, add_line, summary);
	return error;
}
