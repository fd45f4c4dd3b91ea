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

/* --- ranges --- */

static const char ranges_sql[] =
	"SELECT user_range.name, COUNT(*), SUM(op.end_ns - op.start_ns), MIN(op.op)"
	" FROM user_range JOIN op ON op.op = user_range.op GROUP BY user_range.name ORDER BY 4";

static const char in_ranges_sql[] =
	"WITH inside AS (SELECT DISTINCT user_range.name AS name, op.op AS op,"
	"  CASE WHEN op.kind = 'launch' THEN op.end_ns - op.start_ns END AS launch_ns,"
	"  op.kind = 'launch' AS launches"
	"  FROM user_range JOIN op AS marker ON marker.op = user_range.op"
	"  JOIN op ON op.op > marker.op AND op.op <= COALESCE(user_range.last_op, 9e18)"
	"  AND op.thread IS marker.thread),"
	" served AS (SELECT op, SUM(CASE WHEN device >= 0 THEN faults ELSE 0 END) AS by_device,"
	"  SUM(CASE WHEN device < 0 THEN faults ELSE 0 END) AS by_host FROM fault GROUP BY op),"
	" moved AS (SELECT op, SUM(CASE WHEN source = -1 THEN bytes ELSE 0 END) AS to_device,"
	"  SUM(CASE WHEN destination = -1 THEN bytes ELSE 0 END) AS to_host"
	"  FROM migration GROUP BY op)"
	" SELECT inside.name, SUM(inside.launches), SUM(inside.launch_ns), SUM(served.by_device),"
	"  SUM(served.by_host), SUM(moved.to_device), SUM(moved.to_host)"
	" FROM inside LEFT JOIN served ON served.op = inside.op"
	"  LEFT JOIN moved ON moved.op = inside.op GROUP BY inside.name";

static int add_range(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_range_summary *range =
		um_query_append(&summary->ranges, &summary->range_count, sizeof(*range));

	if (!range)
		return UM_ENOMEM;
	range->name = um_query_text(row, 0);
	range->times = um_query_integer(row, 1);
	range->duration_ns = um_query_integer(row, 2);
	return um_summary_keep(summary, &range->name, "user_range", "name");
}

/* There are few names; a file from anyone may have many, and is slow then. */
static struct um_range_summary *find_range(struct um_summary *summary, const char *name)
{
	for (size_t i = 0; name && i < summary->range_count; i++)
		if (strcmp(summary->ranges[i].name, name) == 0)
			return &summary->ranges[i];
	return NULL;
}

static int64_t or_zero(int64_t value)
{
	return value == UM_NULL ? 0 : value;
}

/* Of a file from anyone the sum may be more than there can be. */
static void add(int64_t *sum, int64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)or_zero(value));
}

static int add_in_range(struct sqlite3_stmt *row, void *context)
{
	struct um_range_summary *range = find_range(context, um_query_text(row, 0));

	if (!range)
		return 0;
	range->launches = or_zero(um_query_integer(row, 1));
	range->launch_ns = or_zero(um_query_integer(row, 2));
	range->device_faults = or_zero(um_query_integer(row, 3));
	range->host_faults = or_zero(um_query_integer(row, 4));
	range->migrated_to_device_bytes = or_zero(um_query_integer(row, 5));
	range->migrated_to_host_bytes = or_zero(um_query_integer(row, 6));
	return 0;
}

/* --- what the host did within ranges, which is known by time alone --- */

struct span {
	int64_t start_ns, end_ns;
	struct um_range_summary *range;
};

struct sweep {
	struct um_summary *summary;
	struct span *spans; /* by start */
	size_t span_count, next;
	struct span *open; /* those that have begun and not ended */
	size_t open_count;
};

static const char spans_sql[] = "SELECT user_range.name, op.start_ns, op.end_ns FROM user_range"
				" JOIN op ON op.op = user_range.op ORDER BY op.start_ns";

static const char host_sql[] =
	"SELECT fault.start_ns, fault.faults, 0, 0 FROM fault JOIN op ON op.op = fault.op"
	" WHERE op.kind = 'host' AND fault.device < 0"
	" UNION ALL SELECT migration.start_ns, 0,"
	"  CASE WHEN source = -1 THEN migration.bytes ELSE 0 END,"
	"  CASE WHEN destination = -1 THEN migration.bytes ELSE 0 END"
	" FROM migration JOIN op ON op.op = migration.op WHERE op.kind = 'host' ORDER BY 1";

static int add_span(struct sqlite3_stmt *row, void *context)
{
	struct sweep *sweep = context;
	struct span *span =
		um_query_append(&sweep->spans, &sweep->span_count, sizeof(*sweep->spans));

	if (!span)
		return UM_ENOMEM;
	span->range = find_range(sweep->summary, um_query_text(row, 0));
	span->start_ns = um_query_integer(row, 1);
	span->end_ns = um_query_integer(row, 2);
	if (span->end_ns == UM_NULL)
		span->end_ns = INT64_MAX;
	return 0;
}

static void go_to(struct sweep *sweep, int64_t at_ns)
{
	size_t kept = 0;

	while (sweep->next < sweep->span_count && sweep->spans[sweep->next].start_ns <= at_ns)
		sweep->open[sweep->open_count++] = sweep->spans[sweep->next++];
	for (size_t i = 0; i < sweep->open_count; i++)
		if (sweep->open[i].end_ns >= at_ns)
			sweep->open[kept++] = sweep->open[i];
	sweep->open_count = kept;
}

/* A range within one of its own name counts once. */
static bool is_repeated(const struct sweep *sweep, size_t open)
{
	for (size_t i = 0; i < open; i++)
		if (sweep->open[i].range == sweep->open[open].range)
			return true;
	return false;
}

static int add_host(struct sqlite3_stmt *row, void *context)
{
	struct sweep *sweep = context;

	go_to(sweep, um_query_integer(row, 0));
	for (size_t i = 0; i < sweep->open_count; i++) {
		struct um_range_summary *range = sweep->open[i].range;

		if (!range || is_repeated(sweep, i))
			continue;
		add(&range->host_faults, um_query_integer(row, 1));
		add(&range->migrated_to_device_bytes, um_query_integer(row, 2));
		add(&range->migrated_to_host_bytes, um_query_integer(row, 3));
	}
	return 0;
}

static int load_host(struct um_summary *summary, struct um_db *db)
{
	struct sweep sweep = {.summary = summary};
	int error = um_query_each(db, spans_sql, add_span, &sweep);

	if (!error) {
		sweep.open = calloc(sweep.span_count + 1, sizeof(*sweep.open));
		error = sweep.open ? um_query_each(db, host_sql, add_host, &sweep)
				   : um_fail(UM_ENOMEM, "out of memory");
	}
	free(sweep.spans);
	free(sweep.open);
	return error;
}

static void forget_absent(struct um_summary *summary)
{
	for (size_t i = 0; i < summary->range_count; i++) {
		struct um_range_summary *range = &summary->ranges[i];

		if (!summary->has_faults || summary->is_unattributed)
			range->device_faults = UM_NULL;
		if (!summary->has_host_faults || summary->is_unattributed)
			range->host_faults = UM_NULL;
		if (!summary->has_migrations || summary->is_unattributed)
			range->migrated_to_device_bytes = range->migrated_to_host_bytes = UM_NULL;
	}
}

static int load_ranges(struct um_summary *summary, struct um_db *db)
{
	int error = um_query_each(db, ranges_sql, add_range, summary);

	if (error || !summary->range_count)
		return error;
	error = um_query_each(db, in_ranges_sql, add_in_range, summary);
	if (!error)
		error = load_host(summary, db);
	forget_absent(summary);
	return error;
}

int um_summary_load_measured(struct um_summary *summary, struct um_db *db)
{
	int error = summary->is_brief ? 0 : load_ranges(summary, db);

	if (error || !summary->is_measured)
		return error;
	error = um_query_each(db,
			      "SELECT (SELECT COUNT(*) FROM mapping WHERE change = "
			      "'remote'), (SELECT COALESCE(SUM(bytes), 0) FROM migration "
			      "WHERE allocation IS NULL)",
			      add_mappings, summary);
	if (!error && summary->has_host_faults && !summary->is_brief)
		error = um_query_each(db, lines_sql, add_line, summary);
	return error;
}
