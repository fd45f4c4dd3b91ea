/*
 * A summary of some ranges only: tables of the connection's own stand before the file's and hold what
 * belongs to them. Calls belong to a range of their thread by their place in the program's order,
 * whenever the GPU ran them. What the host did meanwhile, in whatever thread, belongs to it by its time where
 * that is measured, and else by its place too: its ops end where a range begins and ends.
 */
#include "query.h"
#include "range_spans.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many names are said when none matches. */
#define NAMES_SAID 8

struct choice {
	struct um_summary *summary;
	struct um_db *db;
	const char *pattern;
	FILE *names; /* that there are */
	size_t name_count;
	struct um_span *places;
	size_t place_count;
	int64_t until_ns; /* up to where the time that was chosen reaches */
};

static int add_place(struct choice *choice, int64_t op, int64_t last_op, int64_t thread)
{
	struct um_span *place =
		um_query_append(&choice->places, &choice->place_count, sizeof(*choice->places));

	if (!place)
		return UM_ENOMEM;
	*place = (struct um_span){thread, op, last_op == UM_NULL ? INT64_MAX : last_op};
	return 0;
}

static int choose_place(struct choice *choice, const struct um_span *place)
{
	char thread[32] = "NULL", sql[512];

	if (place->thread != UM_NULL)
		snprintf(thread, sizeof(thread), "%" PRId64, place->thread);
	snprintf(sql, sizeof(sql),
		 "INSERT OR IGNORE INTO chosen_op SELECT op FROM main.op WHERE op BETWEEN %" PRId64
		 " AND %" PRId64 " AND thread IS %s",
		 place->first, place->last, thread);
	int error = um_db_exec(choice->db, sql);

	if (error || choice->summary->is_measured)
		return error;
	snprintf(sql, sizeof(sql),
		 "INSERT OR IGNORE INTO chosen_host SELECT op FROM main.op WHERE op BETWEEN "
		 "%" PRId64 " AND %" PRId64 " AND kind = 'host'",
		 place->first, place->last);
	return um_db_exec(choice->db, sql);
}

static int choose_places(struct choice *choice)
{
	int error = 0;

	um_spans_merge(choice->places, &choice->place_count);
	for (size_t i = 0; i < choice->place_count && !error; i++)
		error = choose_place(choice, &choice->places[i]);
	return error;
}

/* Ranges come by their starts, so that the parts of time do not overlap. */
static int add_time(struct choice *choice, int64_t start_ns, int64_t end_ns)
{
	char sql[128];
	int64_t from_ns = start_ns > choice->until_ns ? start_ns : choice->until_ns;

	if (end_ns == UM_NULL)
		end_ns = INT64_MAX;
	if (end_ns < from_ns)
		return 0;
	choice->until_ns = end_ns;
	snprintf(sql, sizeof(sql),
		 "INSERT OR REPLACE INTO chosen_time VALUES (%" PRId64 ", %" PRId64 ")", from_ns,
		 end_ns);
	return um_db_exec(choice->db, sql);
}

static int look_at_range(struct sqlite3_stmt *row, void *context)
{
	struct choice *choice = context;
	const char *name = um_query_text(row, 2);
	int64_t start_ns = um_query_integer(row, 3), end_ns = um_query_integer(row, 4);

	if (!name || fnmatch(choice->pattern, name, 0) != 0)
		return 0;
	choice->summary->chosen_times++;
	if (end_ns != UM_NULL)
		choice->summary->chosen_ns = (int64_t)((uint64_t)choice->summary->chosen_ns +
						       (uint64_t)end_ns - (uint64_t)start_ns);
	int error = add_place(choice, um_query_integer(row, 0), um_query_integer(row, 1),
			      um_query_integer(row, 5));
	return error ? error : add_time(choice, start_ns, end_ns);
}

static int say_name(struct sqlite3_stmt *row, void *context)
{
	struct choice *choice = context;

	if (choice->name_count++ < NAMES_SAID)
		fprintf(choice->names, "%s'%s'", choice->name_count > 1 ? ", " : "",
			um_query_text(row, 0) ? um_query_text(row, 0) : "");
	return 0;
}

static int no_such_range(struct choice *choice)
{
	char *text = NULL;
	size_t bytes;

	choice->names = open_memstream(&text, &bytes);
	if (!choice->names)
		return um_fail(UM_ENOMEM, "out of memory");
	int error = um_query_each(choice->db,
				  "SELECT name FROM user_range GROUP BY name ORDER BY MIN(op)",
				  say_name, choice);
	fclose(choice->names);
	if (!error && choice->name_count == 0)
		error = um_fail(UM_ENOENT,
				"%s has no ranges: the program named none, or an older umsim made "
				"it, whose trace has them",
				choice->summary->path);
	else if (!error)
		error = um_fail(UM_ENOENT, "%s: no range is called '%s'; there are: %s%s",
				choice->summary->path, choice->pattern, text,
				choice->name_count > NAMES_SAID ? ", ..." : "");
	free(text);
	return error;
}

#define BY_OP "op IN (SELECT op FROM temp.chosen_op)"
#define BY_HOST(time)                                                                              \
	BY_OP " OR (op IN (SELECT op FROM temp.chosen_host) AND (SELECT end_ns FROM "              \
	      "temp.chosen_time WHERE start_ns <= told." time " ORDER BY start_ns DESC LIMIT 1) "  \
	      ">= told." time ")"

/* What is told of a driver and of the calls, and the allocations that any of it names. */
static const struct {
	const char *table, *where;
} tables[] = {
	{"fault", BY_HOST("start_ns")},
	{"migration", BY_HOST("start_ns")},
	{"mapping", BY_HOST("at_ns")},
	{"driver_event", BY_HOST("start_ns")},
	{"remote_access", BY_OP},
	{"copy_traffic", BY_OP},
	{"peer_traffic", BY_OP},
	{"page_access", BY_OP " OR op IN (SELECT op FROM temp.chosen_host)"},
	{"host_access", BY_OP " OR op IN (SELECT op FROM temp.chosen_host)"},
	{"kernel", BY_OP},
	{"user_range", BY_OP},
	{"op", BY_OP " OR op IN (SELECT op FROM temp.chosen_host)"},
	{"allocation", "allocation IN (SELECT allocation FROM fault UNION SELECT allocation FROM "
		       "migration UNION SELECT allocation FROM mapping UNION SELECT allocation "
		       "FROM driver_event UNION SELECT allocation FROM page_access UNION SELECT "
		       "allocation FROM op UNION SELECT source_allocation FROM op)"},
};

/* Before a table of an older file there is a view already, which is read and then makes way. */
static int hide_others_of(struct um_db *db, const char *table, const char *where)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "CREATE TEMP TABLE chosen_rows AS SELECT * FROM %s AS told WHERE %s;"
		 "DROP VIEW IF EXISTS temp.%s; ALTER TABLE temp.chosen_rows RENAME TO %s",
		 table, where, table, table);
	return um_db_exec(db, sql);
}

static int add_host_by_time(struct um_db *db)
{
	return um_db_exec(
		db, "INSERT INTO chosen_host SELECT op FROM op WHERE kind = 'host' AND EXISTS ("
		    "SELECT 1 FROM temp.chosen_time WHERE chosen_time.start_ns <= "
		    "COALESCE(op.end_ns, op.start_ns) AND chosen_time.end_ns >= op.start_ns)");
}

static int hide_others(struct um_db *db)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++)
		error = hide_others_of(db, tables[i].table, tables[i].where);
	return error;
}

int um_summary_choose(struct um_summary *summary, struct um_db *db, const char *pattern)
{
	struct choice choice = {
		.summary = summary, .db = db, .pattern = pattern, .until_ns = INT64_MIN};
	int error = um_db_exec(
		db, "CREATE TEMP TABLE chosen_op (op INTEGER PRIMARY KEY);"
		    "CREATE TEMP TABLE chosen_host (op INTEGER PRIMARY KEY);"
		    "CREATE TEMP TABLE chosen_time (start_ns INTEGER PRIMARY KEY, end_ns INTEGER)");

	summary->chosen = pattern;
	if (!error)
		error = um_text_pool_keep(summary->texts, &summary->chosen);
	if (!error)
		error = um_query_each(
			db,
			"SELECT user_range.op, user_range.last_op, user_range.name,"
			" op.start_ns, op.end_ns, op.thread FROM user_range JOIN op ON op.op = user_range.op"
			" ORDER BY op.start_ns",
			look_at_range, &choice);
	if (!error && summary->chosen_times == 0)
		error = no_such_range(&choice);
	if (!error)
		error = choose_places(&choice);
	free(choice.places);
	if (!error && summary->is_measured)
		error = add_host_by_time(db);
	return error ? error : hide_others(db);
}
