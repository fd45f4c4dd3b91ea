#include "spans.h"

#include "query.h"
#include "text_pool.h"
#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct walk {
	struct um_spans *out;
	const struct um_axis *axis;
	const struct um_stacks *stacks;
	const struct um_db *db;
};

enum { START, END, OP, KIND, STREAM, DEVICE, THREAD, KERNEL, TARGET, BYTES, DETAIL, SITE };

/* --- one row --- */

static int keep_site(struct walk *walk, struct um_span *span, int64_t site)
{
	const struct um_stack_frame *frame =
		site == UM_NULL ? NULL : um_stacks_user(walk->stacks, site, span->kind, NULL);
	char *text = frame ? um_stack_frame_text(frame) : NULL;
	int error;

	if (!frame)
		return 0;
	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	span->site = text;
	error = um_text_pool_keep(walk->out->texts, &span->site);
	free(text);
	return error;
}

/* Whether what lies between these times, and between them and the axis' start, can be told in ns. */
static bool are_times(const struct um_axis *axis, int64_t start, int64_t end)
{
	int64_t length;

	return start != UM_NULL && !__builtin_sub_overflow(end, start, &length) &&
	       !__builtin_sub_overflow(start, axis->start, &length) &&
	       !__builtin_sub_overflow(end, axis->start, &length);
}

static int refuse_times(const struct walk *walk)
{
	return um_fail(UM_EFORMAT, "%s: damaged: a row has times that cannot be",
		       um_db_path(walk->db));
}

static int add_span(struct sqlite3_stmt *row, void *context)
{
	struct walk *walk = context;
	struct um_span *span = um_query_append(&walk->out->items, &walk->out->count, sizeof(*span));
	int error;

	if (!span)
		return UM_ENOMEM;
	*span = (struct um_span){
		.start = um_query_integer(row, START),
		.end = um_query_integer(row, END),
		.op = um_query_integer(row, OP),
		.kind = um_query_text(row, KIND),
		.stream = um_query_integer(row, STREAM),
		.device = um_query_integer(row, DEVICE),
		.thread = um_query_integer(row, THREAD),
		.kernel = um_query_integer(row, KERNEL),
		.allocation = um_query_integer(row, TARGET),
		.bytes = um_query_integer(row, BYTES),
		.detail = um_query_text(row, DETAIL),
	};
	if (!span->kind)
		return um_fail(UM_EFORMAT, "%s: damaged: a row lacks its kind",
			       um_db_path(walk->db));
	if (span->end < span->start)
		span->end = span->start;
	if (!are_times(walk->axis, span->start, span->end))
		return refuse_times(walk);
	error = um_text_pool_keep(walk->out->texts, &span->kind);
	if (!error)
		error = um_text_pool_keep(walk->out->texts, &span->detail);
	return error ? error : keep_site(walk, span, um_query_integer(row, SITE));
}

/* --- all launches --- */

static int add_launch(struct sqlite3_stmt *row, void *context)
{
	struct walk *walk = context;
	int64_t start = um_query_integer(row, 0), end = um_query_integer(row, 1);
	double at;

	if (start == UM_NULL)
		return 0;
	end = end == UM_NULL || end < start ? start : end;
	if (!are_times(walk->axis, start, end))
		return refuse_times(walk);
	at = um_axis_position(walk->axis, start);
	um_bins_add(walk->out->launches, at, at, 1);
	um_bins_add(walk->out->busy, at, um_axis_position(walk->axis, end), end - start);
	return 0;
}

static int count_all(struct sqlite3_stmt *row, void *context)
{
	*(int64_t *)context += sqlite3_column_int64(row, 0);
	return 0;
}

/* --- the queries --- */

/* Of waits and calls that took no time nothing is to be seen; of the host what it touched. */
#define OPS                                                                                        \
	" FROM op LEFT JOIN kernel ON kernel.op = op.op LEFT JOIN named ON named.name = "          \
	"kernel.name WHERE op.start_ns IS NOT NULL AND op.kind "
#define LAUNCHES "= 'launch'"
#define OTHERS                                                                                     \
	"IN ('copy', 'memset', 'prefetch', 'advise', 'attach', 'sync_device', 'sync_stream',"      \
	" 'event_sync', 'host')"

static int load_ops(struct walk *walk, struct um_db *db, const char *which, size_t most)
{
	char sql[1024];
	const char *columns = um_axis_op_columns(walk->axis);

	snprintf(sql, sizeof(sql),
		 "WITH named AS (SELECT name, MIN(op) AS first FROM kernel GROUP BY name)"
		 " SELECT %s, op.op, op.kind, op.stream, op.device, op.thread, named.first,"
		 " op.allocation, op.bytes, op.advice, op.site" OPS "%s"
		 " ORDER BY op.end_ns - op.start_ns DESC, op.op LIMIT %zu",
		 columns, which, most);
	return um_query_each(db, sql, add_span, walk);
}

static int load_ranges(struct walk *walk, struct um_db *db, size_t most)
{
	bool by_calls = walk->axis->kind == UM_AXIS_CALLS;
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SELECT %s, op.op, 'range', NULL, NULL, op.thread, NULL, NULL, NULL,"
		 " user_range.name, op.site FROM user_range JOIN op USING (op)"
		 " ORDER BY op.end_ns - op.start_ns DESC, op.op LIMIT %zu",
		 by_calls ? "op.op, COALESCE(user_range.last_op, op.op) + 1"
			  : um_axis_op_columns(walk->axis),
		 most);
	return um_query_each(db, sql, add_span, walk);
}

static int load_driver(struct walk *walk, struct um_db *db, size_t most)
{
	bool by_calls = walk->axis->kind == UM_AXIS_CALLS;
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SELECT %s, op, kind, NULL, device, NULL, NULL, allocation, NULL, reason, NULL"
		 " FROM driver_event WHERE %s IS NOT NULL"
		 " ORDER BY COALESCE(end_ns, start_ns) - start_ns DESC, start_ns LIMIT %zu",
		 by_calls ? "op, op + 1" : "start_ns, COALESCE(end_ns, start_ns)",
		 by_calls ? "op" : "start_ns", most);
	return um_query_each(db, sql, add_span, walk);
}

static int load_launches(struct walk *walk, struct um_db *db)
{
	char sql[256];
	int error = um_bins_create(&walk->out->launches, walk->axis->bins);

	if (!error)
		error = um_bins_create(&walk->out->busy, walk->axis->bins);
	snprintf(sql, sizeof(sql), "SELECT %s FROM op WHERE kind = 'launch'",
		 um_axis_op_columns(walk->axis));
	if (!error)
		error = um_query_each(db, sql, add_launch, walk);
	if (!error)
		error = um_query_each(db,
				      "SELECT (SELECT COUNT(*) FROM op WHERE start_ns IS NOT NULL"
				      " AND kind " LAUNCHES " OR kind " OTHERS ") +"
				      " (SELECT COUNT(*) FROM user_range) +"
				      " (SELECT COUNT(*) FROM driver_event)",
				      count_all, &walk->out->all);
	return error;
}

static int by_start(const void *left, const void *right)
{
	const struct um_span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

int um_spans_load(struct um_spans *out, const struct um_axis *axis, struct um_db *db,
		  const struct um_stacks *stacks, size_t most)
{
	struct walk walk = {out, axis, stacks, db};
	int error;

	*out = (struct um_spans){0};
	error = um_text_pool_create(&out->texts);
	if (!error)
		error = load_ranges(&walk, db, most / 4);
	if (!error)
		error = load_ops(&walk, db, LAUNCHES, most);
	if (!error)
		error = load_ops(&walk, db, OTHERS, most / 2);
	if (!error)
		error = load_driver(&walk, db, most / 4);
	if (!error)
		error = load_launches(&walk, db);
	if (!error && out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_start);
	return error;
}

void um_spans_fini(struct um_spans *spans)
{
	free(spans->items);
	um_bins_destroy(spans->launches);
	um_bins_destroy(spans->busy);
	um_text_pool_destroy(spans->texts);
}
