#include "import_infer.h"

#include "trace/base/error.h"
#include "trace/spool/access_stream.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* va_block of nvidia-uvm, and the default granularity of amdkfd's SVM. */
#define APART_BYTES (UINT64_C(2) << 20)

static int failed(struct um_db *db)
{
	return um_fail(UM_EIO, "%s: %s", um_db_path(db), sqlite3_errmsg(um_db_handle(db)));
}

/* Calls `call` for each row of a query. */
static int each(struct um_db *db, const char *sql, int (*call)(sqlite3_stmt *, void *),
		void *context)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(um_db_handle(db), sql, -1, &statement, NULL), error = 0;

	if (result != SQLITE_OK)
		return failed(db);
	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW)
		error = call(statement, context);
	if (!error && result != SQLITE_DONE)
		error = failed(db);
	sqlite3_finalize(statement);
	return error;
}

/* --- allocations --- */

struct spanning {
	int (*call)(void *context, uint64_t address, uint64_t bytes);
	void *context;
	uint64_t start, end; /* equal: none yet */
};

static int end_span(struct spanning *spanning)
{
	if (spanning->start == spanning->end)
		return 0;
	return spanning->call(spanning->context, spanning->start, spanning->end - spanning->start);
}

static int take_place(sqlite3_stmt *row, void *context)
{
	struct spanning *spanning = context;
	uint64_t start = (uint64_t)sqlite3_column_int64(row, 0) & ~(uint64_t)(UM_PAGE_BYTES - 1);
	uint64_t end = start + (uint64_t)sqlite3_column_int64(row, 1) * UM_PAGE_BYTES;
	int error = 0;

	if (spanning->start == spanning->end || start >= spanning->end + APART_BYTES) {
		error = end_span(spanning);
		spanning->start = start;
		spanning->end = end;
	} else if (end > spanning->end) {
		spanning->end = end;
	}
	return error;
}

int um_infer_spans(struct um_db *db, int (*call)(void *context, uint64_t address, uint64_t bytes),
		   void *context)
{
	struct spanning spanning = {.call = call, .context = context};
	int error = each(db,
			 "SELECT address, pages FROM fault WHERE address > 0 "
			 "UNION ALL SELECT address, pages FROM migration WHERE address > 0 "
			 "UNION ALL SELECT address, pages FROM mapping WHERE address > 0 "
			 "UNION ALL SELECT address, COALESCE(pages, 1) FROM driver_event "
			 "WHERE address > 0 ORDER BY 1",
			 take_place, &spanning);

	return error ? error : end_span(&spanning);
}

/* --- accesses --- */

/*
 * Items are what was accessed: pages of an allocation, of a launch or of the host. A mapping made for a
 * fault was one too.
 */
static const char items_sql[] =
	"CREATE TEMP TABLE inferred (op, allocation, page, pages, written, at);"
	"INSERT INTO inferred SELECT fault.op, fault.allocation, fault.first_page, fault.pages, "
	"COALESCE(access_code IN (1, 2), 0), fault.start_ns FROM fault JOIN op ON op.op = fault.op "
	"WHERE op.kind IN ('launch', 'host') AND fault.allocation IS NOT NULL AND "
	"COALESCE(access_code, 0) != 3;"
	"INSERT INTO inferred SELECT m.op, m.allocation, m.first_page, "
	"CASE WHEN %d AND m.cause_code = 0 THEN m.pages ELSE 1 END, 0, m.start_ns "
	"FROM migration AS m JOIN op ON op.op = m.op WHERE m.allocation IS NOT NULL AND "
	"(op.kind = 'launch' AND m.source = -1 AND COALESCE(m.cause_code, 0) = 0 OR "
	"op.kind = 'host' AND m.destination = -1 AND COALESCE(m.cause_code, 1) = 1);"
	"INSERT INTO inferred SELECT m.op, m.allocation, m.first_page, m.pages, 0, m.at_ns "
	"FROM mapping AS m JOIN op ON op.op = m.op WHERE m.allocation IS NOT NULL AND "
	"op.kind = 'launch' AND m.change_code = 0 AND COALESCE(m.cause_code, 0) = 0;";

static const char edges_sql[] =
	"SELECT op, allocation, at, SUM(reads), SUM(writes), host FROM ("
	"SELECT op, allocation, page AS at, 1 - written AS reads, written AS writes, op & 1 AS host "
	"FROM inferred UNION ALL "
	"SELECT op, allocation, page + pages, written - 1, -written, op & 1 FROM inferred) "
	"GROUP BY op, allocation, at ORDER BY op, allocation, at";

struct sweeping {
	struct um_db *db;
	int64_t op, allocation, at, reads, writes;
	uint64_t rows;
};

static int take_edge(sqlite3_stmt *row, void *context)
{
	struct sweeping *sweep = context;
	int64_t at = sqlite3_column_int64(row, 2);
	int error = 0;

	if (sweep->reads > 0 || sweep->writes > 0) {
		const struct um_page_access_row access = {
			.op = sweep->op,
			.allocation = sweep->allocation,
			.first_page = sweep->at,
			.pages = at - sweep->at,
			.touch = UM_TOUCH_LINES_UNKNOWN | (sweep->reads > 0 ? UM_TOUCH_READ : 0) |
				 (sweep->writes > 0 ? UM_TOUCH_WRITTEN : 0),
			.requests = UM_NULL,
			.atomics = UM_NULL,
		};

		error = um_db_insert(sweep->db, &um_table_page_access, &access);
		sweep->rows++;
	}
	sweep->op = sqlite3_column_int64(row, 0);
	sweep->allocation = sqlite3_column_int64(row, 1);
	sweep->at = at;
	sweep->reads += sqlite3_column_int64(row, 3);
	sweep->writes += sqlite3_column_int64(row, 4);
	return error;
}

/* --- their order --- */

static const char order_sql[] =
	"SELECT op, allocation, page, pages, written FROM inferred WHERE op & 1 = 0 "
	"ORDER BY op, at, rowid";

struct ordering {
	struct um_db *db;
	int64_t op, chunk;
	struct um_stream_encoder encoder;
	unsigned char payload[UM_STREAM_PAYLOAD_MAX];
};

static int end_chunk(struct ordering *ordering)
{
	um_stream_finish(&ordering->encoder);
	struct um_access_chunk_row row = {
		.op = ordering->op,
		.chunk = ordering->chunk++,
		.first_group = (int64_t)ordering->encoder.first_group,
		.last_group = (int64_t)ordering->encoder.last_group,
		.touches = (int64_t)ordering->encoder.touches,
	};
	int error = 0;

	if (row.touches) {
		error = um_db_chunk_pack(&row, ordering->payload, ordering->encoder.used);
		if (!error)
			error = um_db_insert(ordering->db, &um_table_access_chunk, &row);
		free((void *)(uintptr_t)row.data.data);
	}
	um_stream_encoder_init(&ordering->encoder, ordering->payload);
	return error;
}

static int put_touch(struct ordering *ordering, uint32_t allocation, uint32_t page, bool written)
{
	if (um_stream_put(&ordering->encoder, 0, allocation, page, written))
		return 0;
	int error = end_chunk(ordering);

	um_stream_put(&ordering->encoder, 0, allocation, page, written);
	return error;
}

static int take_touch(sqlite3_stmt *row, void *context)
{
	struct ordering *ordering = context;
	int64_t op = sqlite3_column_int64(row, 0), page = sqlite3_column_int64(row, 2);
	int64_t pages = sqlite3_column_int64(row, 3);
	int error = 0;

	if (op != ordering->op) {
		error = end_chunk(ordering);
		ordering->op = op;
		ordering->chunk = 0;
	}
	for (int64_t i = 0; i < pages && !error; i++)
		error = put_touch(ordering, (uint32_t)sqlite3_column_int64(row, 1),
				  (uint32_t)(page + i), sqlite3_column_int(row, 4));
	return error;
}

static int put_order(struct um_db *db)
{
	struct ordering *ordering = calloc(1, sizeof(*ordering));

	if (!ordering)
		return um_fail(UM_ENOMEM, "out of memory");
	ordering->db = db;
	um_stream_encoder_init(&ordering->encoder, ordering->payload);
	int error = each(db, order_sql, take_touch, ordering);

	if (!error)
		error = end_chunk(ordering);
	free(ordering);
	return error;
}

int um_infer_accesses(struct um_db *db, bool transfers_faulted, uint64_t *rows)
{
	struct sweeping sweep = {.db = db};
	char sql[sizeof(items_sql) + 16];
	int error;

	snprintf(sql, sizeof(sql), items_sql, transfers_faulted);
	error = um_db_exec(db, sql);
	if (!error)
		error = each(db, edges_sql, take_edge, &sweep);
	if (!error)
		error = put_order(db);
	*rows = sweep.rows;
	return error ? error : um_db_exec(db, "DROP TABLE inferred");
}
