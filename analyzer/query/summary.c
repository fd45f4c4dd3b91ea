#include "summary.h"

#include "query.h"
#include "summary_digest.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "user_frames.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* --- rows that are kept as they are --- */

/* Copies the strings of a row that has been copied itself. */
static int keep_texts(struct um_summary *summary, const struct um_table *table, void *row)
{
	int error = 0;

	for (const struct um_column *column = table->columns; column->name && !error; column++)
		if (column->type == UM_COLUMN_TEXT)
			error = um_text_pool_keep(summary->texts,
						  (const char **)((char *)row + column->offset));
	return error;
}

static int keep_run(const void *row, void *context)
{
	struct um_summary *summary = context;

	summary->run = *(const struct um_run_row *)row;
	return keep_texts(summary, &um_table_run, &summary->run);
}

static int keep_device(const void *row, void *context)
{
	struct um_summary *summary = context;
	struct um_device_row *kept =
		um_query_append(&summary->devices, &summary->device_count, sizeof(*kept));

	if (!kept)
		return UM_ENOMEM;
	*kept = *(const struct um_device_row *)row;
	return keep_texts(summary, &um_table_device, kept);
}

static int keep_origin(const void *row, void *context)
{
	struct um_summary *summary = context;
	struct um_origin_row *kept =
		um_query_append(&summary->origins, &summary->origin_count, sizeof(*kept));

	if (!kept)
		return UM_ENOMEM;
	*kept = *(const struct um_origin_row *)row;
	return keep_texts(summary, &um_table_origin, kept);
}

static int keep_loss(const void *row, void *context)
{
	struct um_summary *summary = context;
	struct um_loss_row *kept =
		um_query_append(&summary->losses, &summary->loss_count, sizeof(*kept));

	if (!kept)
		return UM_ENOMEM;
	*kept = *(const struct um_loss_row *)row;
	return keep_texts(summary, &um_table_loss, kept);
}

static int load_rows(struct um_summary *summary, struct um_db *db)
{
	static const struct {
		const struct um_table *table;
		int (*keep)(const void *, void *);
	} tables[] = {
		{&um_table_run, keep_run},
		{&um_table_device, keep_device},
		{&um_table_origin, keep_origin},
		{&um_table_loss, keep_loss},
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++)
		error = um_db_each(db, tables[i].table, NULL, 0, tables[i].keep, summary);
	if (!error && !summary->run.role)
		error = um_fail(UM_EFORMAT, "%s: there is no run in it: its recording never began",
				um_db_path(db));
	return error;
}

/* --- what is in it --- */

static bool is_of(const struct um_summary *summary, const char *record, const char *origin)
{
	const char *is = um_summary_origin(summary, record);

	return is && strcmp(is, origin) == 0;
}

const char *um_summary_origin(const struct um_summary *summary, const char *record)
{
	for (size_t i = 0; i < summary->origin_count; i++)
		if (strcmp(summary->origins[i].record, record) == 0)
			return summary->origins[i].origin;
	return NULL;
}

static int find_row(struct sqlite3_stmt *row, void *context)
{
	*(bool *)context = sqlite3_column_int64(row, 0) != 0;
	return 0;
}

/* A table without rows may mean that nothing happened, or that nobody looked: the origin says. */
static int load_presence(struct um_summary *summary, struct um_db *db)
{
	const struct {
		const char *record, *sql;
		bool *has;
	} records[] = {
		{"fault", "SELECT EXISTS (SELECT 1 FROM fault)", &summary->has_faults},
		{"migration", "SELECT EXISTS (SELECT 1 FROM migration)", &summary->has_migrations},
		{"remote_access", "SELECT EXISTS (SELECT 1 FROM remote_access)",
		 &summary->has_remote_accesses},
		{"copy_traffic", "SELECT EXISTS (SELECT 1 FROM copy_traffic)",
		 &summary->has_copies},
	};
	int error = 0;

	summary->is_imported = is_of(summary, "migration", "imported");
	summary->is_measured = summary->is_imported || is_of(summary, "migration", "measured");
	summary->is_unattributed =
		summary->is_measured && strcmp(summary->run.ended, "running") == 0;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]) && !error; i++) {
		const char *origin = um_summary_origin(summary, records[i].record);

		if (origin && strcmp(origin, "absent") != 0)
			*records[i].has = true;
		else
			error = um_query_each(db, records[i].sql, find_row, records[i].has);
	}
	summary->has_host_faults = summary->has_faults && !is_of(summary, "fault.host", "absent");
	return error;
}

/* --- totals --- */

/* Adds to a sum, which one that is not known leaves unknown. False: more than 64 bits. */
static bool add(int64_t *sum, int64_t value)
{
	if (*sum != UM_NULL && value != UM_NULL)
		return !__builtin_add_overflow(*sum, value, sum);
	*sum = UM_NULL;
	return true;
}

static int add_traffic(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	int cause = um_word_code(um_traffic_words, um_query_text(row, 0));

	if (cause >= 0)
		summary->traffic[cause] =
			(struct um_traffic){um_query_integer(row, 1), um_query_integer(row, 2),
					    um_query_integer(row, 3), um_query_integer(row, 4)};
	return 0;
}

bool um_summary_has_traffic(const struct um_summary *summary, unsigned cause)
{
	switch (cause) {
	case UM_TRAFFIC_CAUSES:
		return summary->has_migrations || summary->has_remote_accesses ||
		       summary->has_copies;
	case UM_TRAFFIC_REMOTE_ACCESS:
		return summary->has_remote_accesses;
	case UM_TRAFFIC_COPY:
		return summary->has_copies;
	default:
		return summary->has_migrations;
	}
}

/* What no table was there for is not known, and so is a total without it. */
static int total_traffic(struct um_summary *summary)
{
	static const struct um_traffic unknown = {UM_NULL, UM_NULL, UM_NULL, UM_NULL};
	struct um_traffic *total = &summary->total;

	for (size_t i = 0; i < UM_TRAFFIC_CAUSES; i++) {
		struct um_traffic *traffic = &summary->traffic[i];

		/* No GPU tells of them. */
		if (summary->is_measured && i == UM_TRAFFIC_REMOTE_ACCESS) {
			*traffic = unknown;
			continue;
		}

		if (!um_summary_has_traffic(summary, (unsigned)i))
			*traffic = unknown;
		if (!add(&total->bytes_to_device, traffic->bytes_to_device) ||
		    !add(&total->bytes_to_host, traffic->bytes_to_host) ||
		    !add(&total->transfers, traffic->transfers) ||
		    !add(&total->requests, traffic->requests))
			return um_fail(UM_EFORMAT, "%s: more bytes than can be", summary->path);
	}
	return 0;
}

static int add_faults(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_fault_totals *totals =
		sqlite3_column_int64(row, 0) ? &summary->device_faults : &summary->host_faults;

	totals->faults = um_query_integer(row, 1);
	totals->pages = um_query_integer(row, 2);
	return 0;
}

static int add_faults_by_access(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_fault_totals *totals =
		sqlite3_column_int64(row, 0) ? &summary->device_faults : &summary->host_faults;
	int access = um_word_code(um_access_words, um_query_text(row, 1));

	if (access >= 0)
		totals->by_access[access] = um_query_integer(row, 2);
	return 0;
}

static void forget_faults(struct um_summary *summary)
{
	static const struct um_fault_totals unknown = {
		UM_NULL, UM_NULL, UM_NULL, UM_NULL, {UM_NULL, UM_NULL, UM_NULL, UM_NULL}};

	if (!summary->has_faults)
		summary->device_faults = unknown;
	if (!summary->has_host_faults)
		summary->host_faults = unknown;
}

int um_summary_keep(struct um_summary *summary, const char **text, const char *table,
		    const char *column)
{
	if (!*text)
		return um_fail(UM_EFORMAT, "%s: damaged: '%s' lacks its %s in a row", summary->path,
			       table, column);
	return um_text_pool_keep(summary->texts, text);
}

static int add_call(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_count *call =
		um_query_append(&summary->calls, &summary->call_count, sizeof(*call));

	if (!call)
		return UM_ENOMEM;
	*call = (struct um_count){um_query_text(row, 0), sqlite3_column_int64(row, 1), UM_NULL};
	return um_summary_keep(summary, &call->name, "op", "kind");
}

static int add_peer(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;

	summary->peer_copied = sqlite3_column_int64(row, 0);
	summary->peer_remote = sqlite3_column_int64(row, 1);
	return 0;
}

static int add_memory(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_count *kind =
		um_query_append(&summary->memory, &summary->memory_count, sizeof(*kind));

	if (!kind)
		return UM_ENOMEM;
	*kind = (struct um_count){um_query_text(row, 0), sqlite3_column_int64(row, 1),
				  sqlite3_column_int64(row, 2)};
	return um_summary_keep(summary, &kind->name, "allocation", "kind");
}

static int load_totals(struct um_summary *summary, struct um_db *db)
{
	static const struct {
		const char *sql;
		int (*add)(struct sqlite3_stmt *, void *);
	} queries[] = {
		{"SELECT cause, " UM_KNOWN_SUM(bytes_to_device) ", " UM_KNOWN_SUM(bytes_to_host) ", " UM_KNOWN_SUM(
			 transfers) ", " UM_KNOWN_SUM(requests) " FROM (" UM_TRAFFIC_SQL
								") GROUP BY cause",
		 add_traffic},
		{"SELECT SUM(bytes) FILTER (WHERE cause = 'copy'),"
		 " SUM(bytes) FILTER (WHERE cause <> 'copy') FROM peer_traffic",
		 add_peer},
		{"SELECT device >= 0, " UM_KNOWN_SUM(faults) ", SUM(pages) FROM fault GROUP BY 1",
		 add_faults},
		{"SELECT device >= 0, access, " UM_KNOWN_SUM(faults) " FROM fault GROUP BY 1, 2",
		 add_faults_by_access},
		{"SELECT kind, COUNT(*) FROM op GROUP BY kind ORDER BY 2 DESC, 1", add_call},
		{"SELECT kind, COUNT(*), SUM(bytes) FROM allocation GROUP BY kind ORDER BY 3 DESC",
		 add_memory},
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) && !error; i++)
		error = um_query_each(db, queries[i].sql, queries[i].add, summary);
	return error ? error : total_traffic(summary);
}

static void take_singles(struct um_summary *summary, const struct um_summary_singles *singles)
{
	summary->host_faults.records = singles->faults[0].records;
	summary->host_faults.batches = singles->faults[0].batches;
	summary->device_faults.records = singles->faults[1].records;
	summary->device_faults.batches = singles->faults[1].batches;
	forget_faults(summary);
	if (summary->is_measured && !summary->is_brief)
		um_summary_take_transfers(summary, singles);
}

static int load_kernels(struct um_summary *summary, struct um_db *db)
{
	int error = um_summary_load_touched(summary, db), end_error;

	if (!error)
		error = um_summary_load_kernels(summary, db);
	end_error = um_summary_end_touched(db);
	return error ? error : end_error;
}

/* What takes sums of rows alone. */
static int load_sums(struct um_summary *summary, struct um_db *db)
{
	int error = load_totals(summary, db);

	if (!error && !summary->is_brief)
		error = um_summary_load_driver(summary, db);
	if (!error && !summary->is_brief)
		error = um_summary_load_ranges(summary, db);
	if (!error)
		error = um_summary_load_measured(summary, db);
	if (!error)
		error = um_summary_load_allocations(summary, db);
	if (!error)
		error = load_kernels(summary, db);
	return error ? error : um_summary_load_selection(summary, db);
}

static int load_digested(struct um_summary *summary, struct um_db *db)
{
	struct um_summary_singles singles;
	int error = um_summary_digest_begin(db, &singles), end_error;

	if (!error)
		error = load_sums(summary, db);
	if (!error)
		take_singles(summary, &singles);
	end_error = um_summary_digest_end(db);
	return error ? error : end_error;
}

/* --- life --- */

/* Of the whole run: whose a call is does not depend on what is shown of it. */
static int load_stacks(struct um_db *db, const char *const *skip)
{
	struct um_stacks *stacks;
	int error = um_stacks_load(&stacks, db, skip);

	if (!error)
		error = um_user_frames_create(db, stacks);
	um_stacks_destroy(stacks);
	return error;
}

static int load_all(struct um_summary *summary, struct um_db *db,
		    const struct um_summary_choice *choice)
{
	const char *range = choice ? choice->range : NULL;
	int error = um_text_pool_create(&summary->texts);

	summary->path = um_db_path(db);
	summary->is_brief = choice && choice->brief;
	if (!error)
		error = um_text_pool_keep(summary->texts, &summary->path);
	if (!error)
		error = load_stacks(db, choice ? choice->skip_frames : NULL);
	if (!error && range)
		error = um_summary_choose(summary, db, range);
	if (!error)
		error = load_rows(summary, db);
	if (!error)
		error = load_presence(summary, db);
	if (!error)
		error = load_digested(summary, db);
	if (!error)
		error = um_summary_load_host(summary, db);
	if (!error)
		error = um_summary_load_named(summary, db);
	return error;
}

int um_summary_load(struct um_summary **out, struct um_db *db,
		    const struct um_summary_choice *choice)
{
	struct um_summary *summary = calloc(1, sizeof(*summary));
	int error = summary ? load_all(summary, db, choice) : um_fail(UM_ENOMEM, "out of memory");

	if (error)
		um_summary_destroy(summary);
	else
		*out = summary;
	return error;
}

void um_summary_destroy(struct um_summary *summary)
{
	if (!summary)
		return;
	free(summary->devices);
	free(summary->origins);
	free(summary->losses);
	free(summary->calls);
	free(summary->memory);
	free(summary->lines);
	free(summary->host_lines);
	free(summary->ranges);
	free(summary->events);
	free(summary->bounds);
	free(summary->criteria);
	free(summary->kernels);
	free(summary->allocations);
	free(summary->parts);
	um_text_pool_destroy(summary->texts);
	free(summary);
}
