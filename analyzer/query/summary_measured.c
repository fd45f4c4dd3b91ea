/* What only a measured run has: single transfers, the host's faults by line, ranges by name. */
#include "query.h"
#include "summary_digest.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* --- transfers --- */

void um_summary_take_transfers(struct um_summary *summary, const struct um_summary_singles *singles)
{
	static const char *const directions[] = {"to_device", "to_host", "between_devices"};

	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		summary->transfers[i] = (struct um_transfer_summary){
			.direction = directions[i],
			.count = singles->transfers[i].count,
			.bytes = singles->transfers[i].bytes,
			.median_bytes = singles->transfers[i].median_bytes,
			.least_bytes = singles->transfers[i].least_bytes,
			.most_bytes = singles->transfers[i].most_bytes,
			.duration_ns = singles->transfers[i].duration_ns,
		};
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
	int error;

	if (!summary->is_measured)
		return 0;
	error = um_query_each(db,
			      "SELECT (SELECT COUNT(*) FROM mapping WHERE change = "
			      "'remote'), (SELECT COALESCE(SUM(bytes), 0) FROM migration "
			      "WHERE allocation IS NULL)",
			      add_mappings, summary);
	if (!error && summary->has_host_faults && !summary->is_brief)
		error = um_query_each(db, lines_sql, add_line, summary);
	return error;
}
