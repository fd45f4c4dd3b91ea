#include "export_sheets.h"

#include "query.h"
#include "user_frames.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Columns that come from another table's rows of the same op or allocation: 0 where it has none but the
 * file tells such records, empty where it does not, or where some row does not tell.
 */
#define FIGURE(from, value, key, record, name)                                                     \
	", CASE WHEN " from "." key " IS NOT NULL THEN " from "." value                            \
	" WHEN EXISTS (SELECT 1 FROM origin WHERE origin.record = '" record                        \
	"' AND origin.origin <> 'absent') THEN 0 END AS " name
#define FAULTS(value, key, name) FIGURE("served", value, key, "fault", name)
#define MOVED(value, key)	 FIGURE("moved", value, key, "migration", "moved_bytes_" value)
#define REMOTE(value, key)	 FIGURE("remote", value, key, "remote_access", "remote_bytes_" value)
#define COPIED(value, key)	 FIGURE("copied", value, key, "copy_traffic", "copied_bytes_" value)

#define IF_KNOWN(sum) "CASE WHEN COUNT(*) = COUNT(bytes) THEN SUM(" sum ") END"
#define TO_DEVICE     IF_KNOWN("CASE WHEN source = -1 THEN bytes ELSE 0 END")
#define TO_HOST	      IF_KNOWN("CASE WHEN destination = -1 THEN bytes ELSE 0 END")
#define EVICTED	      IF_KNOWN("CASE WHEN cause_code = 3 THEN bytes ELSE 0 END")
#define ACROSS	      IF_KNOWN("CASE WHEN source >= 0 AND destination >= 0 THEN bytes ELSE 0 END")

/* By `key`, a column of both tables that are joined. */
#define JOIN(select, table, name, key)                                                             \
	" LEFT JOIN (SELECT " key ", " select " FROM " table " GROUP BY " key ") AS " name         \
	" ON " name "." key " = " key "." key
#define JOIN_FAULTS(key)                                                                           \
	JOIN("SUM(CASE WHEN device >= 0 THEN COALESCE(faults, pages) ELSE 0 END) AS by_device,"    \
	     " SUM(CASE WHEN device < 0 THEN COALESCE(faults, pages) ELSE 0 END) AS by_host",      \
	     "fault", "served", key)
#define JOIN_MOVED(key)                                                                            \
	JOIN(TO_DEVICE " AS to_device, " TO_HOST " AS to_host, " EVICTED " AS evicted",            \
	     "migration", "moved", key)
#define SUMS		 "SUM(bytes_to_device) AS to_device, SUM(bytes_to_host) AS to_host"
#define JOIN_REMOTE(key) JOIN(SUMS, "remote_access", "remote", key)
#define JOIN_COPIED(key) JOIN(SUMS, "copy_traffic", "copied", key)

/* clang-format off */
const struct um_export_sheet um_export_sheets[] = {
	{"kernels", "launches with their shapes, times, accesses, faults and what moved meanwhile",
	 "SELECT op.op, kernel.name, kernel.symbol, op.thread, op.stream, op.device, op.start_ns,"
	 " op.end_ns, op.end_ns - op.start_ns AS duration_ns, kernel.grid_x, kernel.grid_y,"
	 " kernel.grid_z, kernel.block_x, kernel.block_y, kernel.block_z, kernel.lds_bytes,"
	 " kernel.reads, kernel.writes, kernel.atomics, kernel.bytes_read, kernel.bytes_written,"
	 " kernel.recorded"
	 FAULTS("by_device", "op", "device_faults") MOVED("to_device", "op") MOVED("to_host", "op")
	 REMOTE("to_device", "op") REMOTE("to_host", "op")
	 " FROM op JOIN kernel ON kernel.op = op.op"
	 JOIN_FAULTS("op") JOIN_MOVED("op") JOIN_REMOTE("op") " ORDER BY op.op"},
	{"allocations", "allocations with the lines that made them and what was moved of them",
	 "SELECT allocation.allocation, allocation.name, allocation.kind, allocation.bytes,"
	 " allocation.flags, allocation.device, allocation.op, allocation.freed_op, user.file,"
	 " user.line, user.function"
	 FAULTS("by_device", "allocation", "device_faults")
	 FAULTS("by_host", "allocation", "host_faults")
	 MOVED("to_device", "allocation") MOVED("to_host", "allocation")
	 FIGURE("moved", "evicted", "allocation", "migration", "evicted_bytes")
	 REMOTE("to_device", "allocation") REMOTE("to_host", "allocation")
	 COPIED("to_device", "allocation") COPIED("to_host", "allocation")
	 " FROM allocation LEFT JOIN temp.user_frame AS user"
	 "  ON user.site = allocation.site AND user.kind = 'alloc'"
	 JOIN_FAULTS("allocation") JOIN_MOVED("allocation") JOIN_REMOTE("allocation")
	 JOIN_COPIED("allocation") " ORDER BY allocation.allocation"},
	{"transfers", "migrations with their kernels and allocations",
	 "SELECT migration.op, kernel.name AS kernel, migration.allocation,"
	 " allocation.name AS allocation_name, migration.first_page, migration.pages,"
	 " migration.bytes, migration.source, migration.destination, migration.cause,"
	 " migration.transfers, migration.batch, migration.start_ns, migration.end_ns"
	 " FROM migration LEFT JOIN kernel ON kernel.op = migration.op"
	 " LEFT JOIN allocation ON allocation.allocation = migration.allocation"
	 " ORDER BY migration.start_ns, migration.rowid"},
	{"faults", "page faults with their kernels, allocations and, of the host, lines",
	 "SELECT fault.op, kernel.name AS kernel, fault.device, fault.allocation,"
	 " allocation.name AS allocation_name, fault.first_page, fault.pages, fault.faults,"
	 " fault.access, fault.batch, user.file, user.line, fault.start_ns, fault.end_ns"
	 " FROM fault LEFT JOIN kernel ON kernel.op = fault.op"
	 " LEFT JOIN allocation ON allocation.allocation = fault.allocation"
	 " LEFT JOIN temp.user_frame AS user ON user.site = fault.site AND user.kind = ''"
	 " ORDER BY fault.start_ns, fault.rowid"},
	{"ranges", "ranges that the program named",
	 "SELECT user_range.op, user_range.last_op, user_range.name, op.thread, op.start_ns,"
	 " op.end_ns FROM user_range JOIN op ON op.op = user_range.op ORDER BY user_range.op"},
	{"traffic", "bytes over the link by cause, in total",
	 "SELECT COALESCE(cause, 'unknown') AS cause, " TO_DEVICE " AS bytes_to_device, "
	 TO_HOST " AS bytes_to_host, " ACROSS " AS bytes_between_devices,"
	 " SUM(CASE WHEN bytes = 0 THEN 0 ELSE transfers END) AS transfers, NULL AS requests"
	 " FROM migration GROUP BY cause_code"
	 " UNION ALL SELECT 'remote_access', SUM(bytes_to_device), SUM(bytes_to_host), 0, NULL,"
	 " SUM(requests) FROM remote_access HAVING COUNT(*) > 0"
	 " UNION ALL SELECT 'copy', SUM(bytes_to_device), SUM(bytes_to_host), 0, COUNT(*), NULL"
	 " FROM copy_traffic HAVING COUNT(*) > 0"
	 " UNION ALL SELECT 'peer_' || cause, 0, 0, SUM(bytes), NULL, NULL"
	 " FROM peer_traffic GROUP BY cause"},
	{0},
};
/* clang-format on */

/* A column of ours is a word of letters and underscores: no quoting. */
static char *table_sql(const struct um_table *table)
{
	char *sql = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&sql, &bytes);
	const char *comma = "";

	if (!out)
		return NULL;
	fputs("SELECT ", out);
	for (const struct um_column *column = table->columns; column->name; column++) {
		if (column->type == UM_COLUMN_BLOB)
			continue;
		fprintf(out, "%s%s", comma, column->name);
		comma = ", ";
	}
	fprintf(out, " FROM %s%s%s", table->name, table->order_by ? " ORDER BY " : "",
		table->order_by ? table->order_by : "");
	if (fclose(out)) {
		free(sql);
		return NULL;
	}
	return sql;
}

#define NAMES_MAX 64

static void refuse(const char *name)
{
	const char *names[NAMES_MAX];
	size_t count = 0;
	const char *meant;

	for (size_t i = 0; um_export_sheets[i].name && count < NAMES_MAX; i++)
		names[count++] = um_export_sheets[i].name;
	for (size_t i = 0; um_tables[i] && count < NAMES_MAX; i++)
		names[count++] = um_tables[i]->name;
	meant = um_suggest(name, names, count, sizeof(*names));
	um_fail(UM_EINVAL, "no table \"%s\"%s%s%s", name,
		meant ? ": did you mean \"" : "; umanalyze export --help lists them",
		meant ? meant : "", meant ? "\"?" : "");
}

char *um_export_sheet_sql(const char *name)
{
	char *sql = NULL;

	for (size_t i = 0; um_export_sheets[i].name && !sql; i++)
		if (strcmp(um_export_sheets[i].name, name) == 0)
			sql = strdup(um_export_sheets[i].sql);
	for (size_t i = 0; um_tables[i] && !sql; i++)
		if (strcmp(um_tables[i]->name, name) == 0)
			sql = table_sql(um_tables[i]);
	if (!sql)
		refuse(name);
	return sql;
}

int um_export_prepare(struct um_db *db, const char *const *skip_frames)
{
	struct um_stacks *stacks;
	int error = um_query_check_run(db);

	if (!error)
		error = um_stacks_load(&stacks, db, skip_frames);

	if (error)
		return error;
	error = um_user_frames_create(db, stacks);
	um_stacks_destroy(stacks);
	return error;
}
