/*
 * The ranges that the program named: what was called within those of one name, which is known by place, and
 * what the host did meanwhile, which is known by time. The sums of all rows up to each stand beside it, so
 * that a range costs the same however many lie within each other.
 */
#include "query.h"
#include "range_spans.h"
#include "summary_parts.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const size_t fields[] = {
	offsetof(struct um_range_summary, launches),
	offsetof(struct um_range_summary, launch_ns),
	offsetof(struct um_range_summary, device_faults),
	offsetof(struct um_range_summary, host_faults),
	offsetof(struct um_range_summary, migrated_to_device_bytes),
	offsetof(struct um_range_summary, migrated_to_host_bytes),
};

#define FIELDS (sizeof(fields) / sizeof(*fields))

/* What happened at an op of a thread, or at a time, with all that came before. Sums wrap around. */
struct row {
	int64_t thread, at;
	uint64_t sum[FIELDS];
};

struct ranges {
	struct um_summary *summary;
	struct um_range_summary **by_name;
	struct row *rows;
	size_t row_count;
	/* Of the name whose rows come: */
	struct um_range_summary *range;
	struct um_span *spans;
	size_t span_count;
};

static const char ranges_sql[] =
	"SELECT user_range.name, COUNT(*), SUM(op.end_ns - op.start_ns), MIN(op.op)"
	" FROM user_range JOIN op ON op.op = user_range.op GROUP BY user_range.name ORDER BY 4";

/* Rows: thread, op or time, and what is added to `fields`. */
static const char calls_sql[] =
	"WITH served AS (SELECT op, SUM(CASE WHEN device >= 0 THEN faults ELSE 0 END) AS by_device,"
	"  SUM(CASE WHEN device < 0 THEN faults ELSE 0 END) AS by_host FROM fault GROUP BY op),"
	" moved AS (SELECT op, SUM(CASE WHEN source = -1 THEN bytes ELSE 0 END) AS to_device,"
	"  SUM(CASE WHEN destination = -1 THEN bytes ELSE 0 END) AS to_host"
	"  FROM migration GROUP BY op)"
	" SELECT op.thread, op.op, op.kind = 'launch',"
	"  CASE WHEN op.kind = 'launch' THEN op.end_ns - op.start_ns END,"
	"  served.by_device, served.by_host, moved.to_device, moved.to_host"
	" FROM op LEFT JOIN served ON served.op = op.op LEFT JOIN moved ON moved.op = op.op"
	" WHERE op.kind = 'launch' OR (op.kind <> 'host' AND (served.op IS NOT NULL"
	"  OR moved.op IS NOT NULL)) ORDER BY op.thread, op.op";
static const char host_sql[] =
	"SELECT 0, fault.start_ns, 0, 0, 0, fault.faults, 0, 0 FROM fault"
	" JOIN op ON op.op = fault.op WHERE op.kind = 'host' AND fault.device < 0"
	" UNION ALL SELECT 0, migration.start_ns, 0, 0, 0, 0,"
	"  CASE WHEN source = -1 THEN migration.bytes ELSE 0 END,"
	"  CASE WHEN destination = -1 THEN migration.bytes ELSE 0 END"
	" FROM migration JOIN op ON op.op = migration.op WHERE op.kind = 'host' ORDER BY 2";

/* Rows: name, thread, first, last. */
static const char places_sql[] =
	"SELECT user_range.name, op.thread, op.op, user_range.last_op FROM user_range"
	" JOIN op ON op.op = user_range.op ORDER BY user_range.name";
static const char times_sql[] = "SELECT user_range.name, 0, op.start_ns, op.end_ns FROM user_range"
				" JOIN op ON op.op = user_range.op ORDER BY user_range.name";

/* --- names --- */

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

static int compare_names(const void *left, const void *right)
{
	return strcmp((*(struct um_range_summary *const *)left)->name,
		      (*(struct um_range_summary *const *)right)->name);
}

static int sort_names(struct ranges *ranges)
{
	struct um_summary *summary = ranges->summary;

	ranges->by_name = calloc(summary->range_count + 1, sizeof(struct um_range_summary *));
	if (!ranges->by_name)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < summary->range_count; i++)
		ranges->by_name[i] = &summary->ranges[i];
	qsort(ranges->by_name, summary->range_count, sizeof(struct um_range_summary *),
	      compare_names);
	return 0;
}

static struct um_range_summary *find_range(const struct ranges *ranges, const char *name)
{
	const struct um_range_summary wanted = {.name = name}, *key = &wanted;
	struct um_range_summary **found =
		name ? bsearch(&key, ranges->by_name, ranges->summary->range_count,
			       sizeof(struct um_range_summary *), compare_names)
		     : NULL;

	return found ? *found : NULL;
}

/* --- sums --- */

static int add_row(struct sqlite3_stmt *stmt, void *context)
{
	struct ranges *ranges = context;
	struct row *row = um_query_append(&ranges->rows, &ranges->row_count, sizeof(*ranges->rows));

	if (!row)
		return UM_ENOMEM;
	row->thread = um_query_integer(stmt, 0);
	row->at = um_query_integer(stmt, 1);
	for (size_t i = 0; i < FIELDS; i++) {
		int64_t value = um_query_integer(stmt, (int)i + 2);

		row->sum[i] = (ranges->row_count > 1 ? row[-1].sum[i] : 0) +
			      (value == UM_NULL ? 0 : (uint64_t)value);
	}
	return 0;
}

/* How many rows come before that place of the thread, or `up_to` it. */
static size_t count_rows(const struct ranges *ranges, int64_t thread, int64_t at, bool up_to)
{
	size_t low = 0, high = ranges->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct row *row = &ranges->rows[middle];
		bool before = row->thread != thread ? row->thread < thread
						    : row->at < at || (up_to && row->at == at);

		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_span_sums(const struct ranges *ranges, const struct um_span *span)
{
	size_t before = count_rows(ranges, span->thread, span->first, false);
	size_t end = count_rows(ranges, span->thread, span->last, true);

	for (size_t i = 0; i < FIELDS && before < end; i++) {
		int64_t *to = (int64_t *)(void *)((char *)ranges->range + fields[i]);

		*to = (int64_t)((uint64_t)*to + ranges->rows[end - 1].sum[i] -
				(before ? ranges->rows[before - 1].sum[i] : 0));
	}
}

static void end_name(struct ranges *ranges)
{
	um_spans_merge(ranges->spans, &ranges->span_count);
	for (size_t i = 0; i < ranges->span_count && ranges->range; i++)
		add_span_sums(ranges, &ranges->spans[i]);
	ranges->span_count = 0;
}

static int add_span(struct sqlite3_stmt *row, void *context)
{
	struct ranges *ranges = context;
	const char *name = um_query_text(row, 0);

	if (!name || !ranges->range || strcmp(ranges->range->name, name) != 0) {
		end_name(ranges);
		ranges->range = find_range(ranges, name);
	}
	struct um_span *span =
		um_query_append(&ranges->spans, &ranges->span_count, sizeof(*ranges->spans));

	if (!span)
		return UM_ENOMEM;
	*span = (struct um_span){
		.thread = um_query_integer(row, 1),
		.first = um_query_integer(row, 2),
		.last = um_query_integer(row, 3),
	};
	if (span->last == UM_NULL)
		span->last = INT64_MAX;
	return 0;
}

static int add_sums(struct ranges *ranges, struct um_db *db, const char *rows_sql,
		    const char *spans_sql)
{
	ranges->row_count = ranges->span_count = 0;
	ranges->range = NULL;
	int error = um_query_each(db, rows_sql, add_row, ranges);

	if (!error)
		error = um_query_each(db, spans_sql, add_span, ranges);
	if (!error)
		end_name(ranges);
	return error;
}

/* --- all of it --- */

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

int um_summary_load_ranges(struct um_summary *summary, struct um_db *db)
{
	struct ranges ranges = {.summary = summary};
	int error = um_query_each(db, ranges_sql, add_range, summary);

	if (error || !summary->range_count)
		return error;
	error = sort_names(&ranges);
	if (!error)
		error = add_sums(&ranges, db, calls_sql, places_sql);
	if (!error)
		error = add_sums(&ranges, db, host_sql, times_sql);
	forget_absent(summary);
	free(ranges.by_name);
	free(ranges.rows);
	free(ranges.spans);
	return error;
}
