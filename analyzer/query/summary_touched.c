/*
 * Which pages of each allocation were touched, and what was asked of them: one pass over page_access, which
 * may have millions of rows.
 */
#include "interval_set.h"
#include "query.h"
#include "summary_parts.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

#define PAGE_BYTES 4096

struct asked {
	int64_t op, requests;
};

struct touching {
	struct um_summary *summary;
	const char *path;
	struct um_interval_set *touched; /* pages of each allocation; NULL: nobody asks */
	struct asked *asked;		 /* by the op that the rows are of */
	size_t asked_count;
	int64_t *host_ops; /* ascending */
	size_t host_op_count;
	/* Of the row before, as rows that follow each other are mostly of one op and allocation: */
	int64_t op, allocation;
	bool is_host;
	struct um_allocation_summary *of;
};

/* --- one row --- */

enum { OP, ALLOCATION, FIRST_PAGE, PAGES, REQUESTS };
static const char columns[] = "op, allocation, first_page, pages, requests";

static int too_much(const struct touching *touching)
{
	return um_fail(UM_EFORMAT, "%s: integer overflow in a sum", touching->path);
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static void go_to(struct touching *touching, int64_t op, int64_t allocation)
{
	if (op != touching->op) {
		touching->op = op;
		touching->is_host = touching->host_op_count &&
				    bsearch(&op, touching->host_ops, touching->host_op_count,
					    sizeof(op), compare);
	}
	if (allocation != touching->allocation) {
		touching->allocation = allocation;
		touching->of = um_summary_find(touching->summary, allocation);
	}
}

static int add_requests(struct touching *touching, const int64_t *row)
{
	struct asked *asked =
		touching->asked_count ? &touching->asked[touching->asked_count - 1] : NULL;
	int64_t requests;

	if (row[REQUESTS] == UM_NULL)
		return 0;
	if (!asked || asked->op != row[OP]) {
		asked = um_query_append(&touching->asked, &touching->asked_count, sizeof(*asked));
		if (!asked)
			return UM_ENOMEM;
		asked->op = row[OP];
	}
	if (__builtin_mul_overflow(row[REQUESTS], row[PAGES], &requests) ||
	    __builtin_add_overflow(asked->requests, requests, &asked->requests))
		return too_much(touching);
	return 0;
}

static int64_t last_page(const struct um_allocation_summary *of)
{
	return of->bytes > 0 ? (of->bytes - 1) / PAGE_BYTES + 1 : 0;
}

static int add_touched(struct touching *touching, const int64_t *row)
{
	int64_t last = last_page(touching->of), end;
	size_t place = (size_t)(touching->of - touching->summary->allocations);

	if (row[FIRST_PAGE] < 0 || row[PAGES] < 1 ||
	    __builtin_add_overflow(row[FIRST_PAGE], row[PAGES], &end))
		return um_fail(UM_EFORMAT, "%s: damaged: a run of pages that cannot be",
			       touching->path);
	return um_interval_set_add(&touching->touched[place], row[FIRST_PAGE],
				   end < last ? end : last);
}

static int add_row(int64_t *row, void *context)
{
	struct touching *touching = context;
	int error = add_requests(touching, row);

	go_to(touching, row[OP], row[ALLOCATION]);
	if (error || !touching->of)
		return error;
	if (touching->is_host &&
	    __builtin_add_overflow(touching->of->host_touched_pages, row[PAGES],
				   &touching->of->host_touched_pages))
		return too_much(touching);
	return touching->touched ? add_touched(touching, row) : 0;
}

/* --- all of them --- */

/* The allocation's last page may be used in part. */
static void conclude(struct um_allocation_summary *of, struct um_interval_set *touched)
{
	int64_t last = last_page(of);

	of->touched_bytes = um_interval_set_total(touched) * PAGE_BYTES;
	if (touched->count && touched->items[touched->count - 1].end == last)
		of->touched_bytes -= last * PAGE_BYTES - of->bytes;
}

static int insert_asked(const struct touching *touching, struct um_db *db)
{
	sqlite3 *handle = um_db_handle(db);
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(handle, "INSERT INTO temp.asked VALUES (?, ?)", -1,
					&statement, NULL);

	for (size_t i = 0; i < touching->asked_count && result == SQLITE_OK; i++) {
		sqlite3_bind_int64(statement, 1, touching->asked[i].op);
		sqlite3_bind_int64(statement, 2, touching->asked[i].requests);
		sqlite3_step(statement);
		result = sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return result == SQLITE_OK
		       ? 0
		       : um_fail(UM_EIO, "%s: %s", touching->path, sqlite3_errmsg(handle));
}

static int keep_asked(const struct touching *touching, struct um_db *db)
{
	int error = um_db_exec(db, "SAVEPOINT asked;"
				   "CREATE TEMP TABLE asked (op INTEGER, requests INTEGER)");

	if (!error)
		error = insert_asked(touching, db);
	return error ? error : um_db_exec(db, "RELEASE asked");
}

static int add_host_op(struct sqlite3_stmt *row, void *context)
{
	struct touching *touching = context;
	int64_t *op = um_query_append(&touching->host_ops, &touching->host_op_count, sizeof(*op));

	if (!op)
		return UM_ENOMEM;
	*op = um_query_integer(row, 0);
	return 0;
}

static int read_rows(struct touching *touching, struct um_db *db)
{
	size_t count = touching->summary->allocation_count;
	int error = um_query_each(db, "SELECT op FROM op WHERE kind = 'host' ORDER BY op",
				  add_host_op, touching);

	if (!error && !touching->summary->is_brief) {
		touching->touched = calloc(count + 1, sizeof(*touching->touched));
		if (!touching->touched)
			error = um_fail(UM_ENOMEM, "out of memory");
	}
	if (!error)
		error = um_query_scan(db, columns, "page_access", add_row, touching);
	for (size_t i = 0; i < count && touching->touched; i++) {
		conclude(&touching->summary->allocations[i], &touching->touched[i]);
		um_interval_set_fini(&touching->touched[i]);
	}
	free(touching->touched);
	return error;
}

int um_summary_load_touched(struct um_summary *summary, struct um_db *db)
{
	struct touching touching = {
		.summary = summary, .path = summary->path, .op = UM_NULL, .allocation = UM_NULL};
	int error = read_rows(&touching, db);

	if (!error)
		error = keep_asked(&touching, db);
	free(touching.asked);
	free(touching.host_ops);
	return error;
}

int um_summary_end_touched(struct um_db *db)
{
	return um_db_exec(db, "DROP TABLE IF EXISTS temp.asked");
}
