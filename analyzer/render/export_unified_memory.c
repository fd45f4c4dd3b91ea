/*
 * Totals under the names that rocprof-sys has in its unified_memory.json (ROCm Systems Profiler 7.13 and
 * later, docs/how-to/unified-memory-profiling.rst): what reads "devices" and "summary" there reads them
 * here. What the figures are here:
 *   count   pieces on the link; a row of several counts with its mean in min and max
 *   total_time_ns   null, and so the throughput, where the rows have no times of their own: the
 *           modelled rows of a trace are merged by page
 *   migration_throughput_gbps   10^9 bytes a second, not of the bare link
 *   total_page_faults   of devices
 *   migration_triggers   pieces by what they moved for: gpu_page_fault and cpu_page_fault with what a
 *           driver brought along and duplicates, ttm_eviction every eviction, the rest unknown
 *   xnack_enabled   null: the machine has no such switch
 * A device without migrations is there too; where the file has no records of migrations there are no
 * devices, and where it has none of faults total_page_faults is null.
 */
#include "export.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

struct writing {
	FILE *out;
	struct um_db *db;
	bool has_times;
	size_t rows;
};

/* --- a direction --- */

static const char direction_sql[] =
	"SELECT TOTAL(transfers), MIN(bytes / MAX(transfers, 1)), MAX(bytes / MAX(transfers, 1)),"
	" TOTAL(bytes), CASE WHEN COUNT(*) = COUNT(duration_ns) THEN TOTAL(duration_ns) END"
	" FROM (SELECT bytes, duration_ns, COALESCE(transfers, 1) AS transfers FROM migration"
	"  WHERE %s AND bytes > 0)";

static double ratio(double of, double by)
{
	return by > 0 ? of / by : 0;
}

static int put_direction(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	double count = sqlite3_column_double(row, 0), bytes = sqlite3_column_double(row, 3);
	bool is_timed = writing->has_times && sqlite3_column_type(row, 4) != SQLITE_NULL;

	fprintf(writing->out,
		"\"count\": %.0f, \"avg_size_bytes\": %.2f, \"min_size_bytes\": %" PRId64
		", \"max_size_bytes\": %" PRId64 ", \"total_size_bytes\": %.0f",
		count, ratio(bytes, count), (int64_t)sqlite3_column_int64(row, 1),
		(int64_t)sqlite3_column_int64(row, 2), bytes);
	if (is_timed)
		fprintf(writing->out,
			", \"total_time_ns\": %.0f, \"migration_throughput_gbps\": %.2f",
			sqlite3_column_double(row, 4), ratio(bytes, sqlite3_column_double(row, 4)));
	else
		fputs(", \"total_time_ns\": null, \"migration_throughput_gbps\": null",
		      writing->out);
	return 0;
}

/* --- devices --- */

static int put_device(struct sqlite3_stmt *row, void *context)
{
	static const struct {
		const char *name, *where; /* %1$lld: the device */
	} directions[] = {
		{"host_to_device", "source = -1 AND destination = %lld"},
		{"device_to_host", "destination = -1 AND source = %lld"},
		{"device_to_device", "source >= 0 AND destination = %lld"},
	};
	struct writing *writing = context;
	int64_t device = um_query_integer(row, 0);
	const char *name = um_query_text(row, 1);
	int error;

	fprintf(writing->out,
		"%s\n  {\"device_id\": %" PRId64 ", \"device_name\": ", writing->rows++ ? "," : "",
		device);
	error = um_export_string(writing->out, name ? name : "");
	fputs(", \"migrations\": {", writing->out);
	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions) && !error; i++) {
		char where[128], sql[512];

		snprintf(where, sizeof(where), directions[i].where, (long long)device);
		snprintf(sql, sizeof(sql), direction_sql, where);
		fprintf(writing->out, "%s\n    \"%s\": {", i ? "," : "", directions[i].name);
		error = um_query_each(writing->db, sql, put_direction, writing);
		fputc('}', writing->out);
	}
	fputs("}}", writing->out);
	return error;
}

/* --- summary --- */

static const char triggers_sql[] =
	"SELECT TOTAL(pieces * (CASE WHEN cause_code IN (0, 5, 6, 7, 8) THEN destination >= 0 END)),"
	" TOTAL(pieces * (cause_code = 1 OR (cause_code IN (0, 5, 6, 7, 8) AND destination < 0))),"
	" TOTAL(pieces * (cause_code = 2)), TOTAL(pieces * (cause_code = 3)),"
	" TOTAL(pieces * (cause_code IS NULL OR cause_code IN (4, 9, 10)))"
	" FROM (SELECT cause_code, destination, COALESCE(transfers, 1) AS pieces FROM migration"
	"  WHERE bytes IS NOT 0)";

static int put_triggers(struct sqlite3_stmt *row, void *context)
{
	static const char *const names[] = {"gpu_page_fault", "cpu_page_fault", "prefetch",
					    "ttm_eviction", "unknown"};
	struct writing *writing = context;

	for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++)
		fprintf(writing->out, "%s\"%s\": %.0f", i ? ", " : "", names[i],
			sqlite3_column_double(row, i));
	return 0;
}

static int take_xnack(const void *row, void *context)
{
	const char *xnack = ((const struct um_run_row *)row)->xnack;

	*(const char **)context = !xnack ? "null" : strcmp(xnack, "on") == 0 ? "true" : "false";
	return 0;
}

static int put_summary(struct writing *writing)
{
	const char *xnack = "null";
	int64_t faults;
	int error =
		um_db_integer(writing->db,
			      "SELECT CASE WHEN EXISTS (SELECT 1 FROM origin WHERE record = 'fault'"
			      " AND origin <> 'absent') THEN TOTAL(COALESCE(faults, pages)) END"
			      " FROM fault WHERE device >= 0",
			      0, &faults);

	if (!error)
		error = um_db_run(writing->db, take_xnack, &xnack);
	if (error)
		return error;
	fputs("\"summary\": {\"total_page_faults\": ", writing->out);
	if (faults == UM_NULL)
		fputs("null", writing->out);
	else
		fprintf(writing->out, "%" PRId64, faults);
	fprintf(writing->out, ", \"xnack_enabled\": %s,\n  \"migration_triggers\": {", xnack);
	error = um_query_each(writing->db, triggers_sql, put_triggers, writing);
	fputs("}}", writing->out);
	return error;
}

int um_export_unified_memory(FILE *out, struct um_db *db)
{
	struct writing writing = {.out = out, .db = db};
	int64_t merged;
	int error = um_db_integer(db,
				  "SELECT COUNT(*) FROM run, origin WHERE run.role = 'trace' AND"
				  " origin.record = 'migration' AND origin.origin = 'modelled'",
				  0, &merged);

	if (error)
		return error;
	writing.has_times = merged == 0;
	fputs("\"devices\": [", out);
	error = um_query_each(db,
			      "SELECT device, name FROM device WHERE EXISTS (SELECT 1 FROM origin"
			      " WHERE record = 'migration' AND origin <> 'absent') ORDER BY device",
			      put_device, &writing);
	fputs("],\n", out);
	return error ? error : put_summary(&writing);
}
