#include "axis.h"

#include "query.h"

#include <sqlite3.h>

static int is_other_clock(struct sqlite3_stmt *row, void *context)
{
	*(enum um_axis_kind *)context = sqlite3_column_int64(row, 0) ? UM_AXIS_CALLS : UM_AXIS_TIME;
	return 0;
}

/* Where the driver's records have no clock of their own, or there are none, the calls' does for all. */
int um_axis_find_kind(enum um_axis_kind *out, struct um_db *db)
{
	static const char sql[] =
		"SELECT EXISTS (SELECT 1 FROM origin AS driver JOIN origin AS calls"
		" ON calls.record = 'op.time' AND calls.clock <> driver.clock WHERE driver.record IN"
		" ('migration', 'fault', 'mapping', 'copy_traffic') AND driver.origin <> 'absent')";

	return um_query_each(db, sql, is_other_clock, out);
}

static int widen(struct sqlite3_stmt *row, void *context)
{
	struct um_axis *axis = context;
	int64_t start = um_query_integer(row, 0), end = um_query_integer(row, 1);

	if (start == UM_NULL || end == UM_NULL || end < start)
		return 0;
	if (axis->is_empty || start < axis->start)
		axis->start = start;
	if (axis->is_empty || end > axis->end)
		axis->end = end;
	axis->is_empty = false;
	return 0;
}

int um_axis_load(struct um_axis *out, enum um_axis_kind kind, struct um_db *db, size_t bins)
{
	static const char calls_sql[] = "SELECT MIN(op), MAX(op) + 1 FROM op";
	static const char *const time_sql[] = {
		"SELECT MIN(start_ns), MAX(COALESCE(end_ns, start_ns)) FROM op",
		"SELECT MIN(start_ns), MAX(start_ns + COALESCE(duration_ns, 0)) FROM migration",
		"SELECT MIN(start_ns), MAX(start_ns + COALESCE(duration_ns, 0)) FROM fault",
	};
	int error = 0;

	*out = (struct um_axis){.kind = kind, .bins = bins, .is_empty = true};
	if (out->kind == UM_AXIS_CALLS)
		error = um_query_each(db, calls_sql, widen, out);
	else
		for (size_t i = 0; i < sizeof(time_sql) / sizeof(time_sql[0]) && !error; i++)
			error = um_query_each(db, time_sql[i], widen, out);
	if (out->end <= out->start)
		out->end = out->start < INT64_MAX ? out->start + 1 : out->start;
	if (kind == UM_AXIS_CALLS)
		out->bins = um_axis_columns(out, bins);
	return error;
}

size_t um_axis_columns(const struct um_axis *axis, size_t most)
{
	uint64_t length = (uint64_t)axis->end - (uint64_t)axis->start;

	return axis->kind == UM_AXIS_CALLS && length && length < most ? (size_t)length : most;
}

double um_axis_position(const struct um_axis *axis, int64_t value)
{
	double width = (double)axis->end - (double)axis->start;

	if (width <= 0)
		return 0;
	return ((double)value - (double)axis->start) / width * (double)axis->bins;
}

const char *um_axis_row_columns(const struct um_axis *axis)
{
	return axis->kind == UM_AXIS_CALLS ? "op, op + 1"
					   : "start_ns, start_ns + COALESCE(duration_ns, 0)";
}

const char *um_axis_op_columns(const struct um_axis *axis)
{
	return axis->kind == UM_AXIS_CALLS ? "op.op, op.op + 1"
					   : "op.start_ns, COALESCE(op.end_ns, op.start_ns)";
}
