/*
 * page_access rows through the ingest (records checked, rows bound by description), beside a bare
 * loop over a prepared INSERT into the same schema. CPU time. Limit: 0.7 of its speed.
 */
#include "bench_clock.h"

#include "trace/spool/spool_ring.h"
#include "trace/tool/ingest.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS	    (1u << 20)
#define RUNS	    1024u /* of a record */
#define TIMES	    3
#define COMMIT_ROWS 20000 /* about 50 ms, as the ingest commits */

struct bench {
	const char *path;
	struct um_record_pages *record; /* RUNS of them */
};

static void check(int error)
{
	if (error) {
		fprintf(stderr, "ingest_bench: error %d\n", error);
		exit(1);
	}
}

static struct um_db *create(const struct bench *bench)
{
	struct um_db *db;

	check(um_db_create(&db, bench->path, true));
	return db;
}

/* --- the floor --- */

static sqlite3_stmt *prepare(struct um_db *db)
{
	sqlite3_stmt *insert;

	check(sqlite3_prepare_v2(um_db_handle(db),
				 "INSERT INTO page_access VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
				 &insert, NULL));
	return insert;
}

static void insert_bare(void *context)
{
	struct um_db *db = create(context);
	sqlite3_stmt *insert = prepare(db);

	check(um_db_begin(db));
	for (uint32_t row = 0; row < ROWS; row++) {
		sqlite3_bind_int64(insert, 1, 2);
		sqlite3_bind_int64(insert, 2, 1);
		sqlite3_bind_int64(insert, 3, 2 * row);
		sqlite3_bind_int64(insert, 4, 1);
		sqlite3_bind_int64(insert, 5, UM_TOUCH_READ);
		sqlite3_bind_int64(insert, 6, 1 + row % 1000);
		sqlite3_bind_int64(insert, 7, 0);
		sqlite3_bind_int64(insert, 8, 3);
		sqlite3_bind_int64(insert, 9, 0);
		sqlite3_step(insert);
		check(sqlite3_reset(insert));
		if (row % COMMIT_ROWS == COMMIT_ROWS - 1) {
			check(um_db_commit(db));
			check(um_db_begin(db));
		}
	}
	sqlite3_finalize(insert);
	check(um_db_close(db));
}

/* --- the ingest --- */

static void put(struct um_ingest *ingest, uint16_t kind, void *record, size_t bytes)
{
	struct um_record *header = record;

	*header = (struct um_record){.bytes = (uint32_t)bytes, .kind = kind};
	check(um_ingest_record(ingest, header));
}

static void put_head(struct um_ingest *ingest)
{
	struct um_record_hello hello = {
		.spool_version = UM_SPOOL_VERSION, .backend = UM_BACKEND_EMULATED, .requests = 1};
	struct um_record_op op = {.op = 2, .kind = UM_OP_HOST};
	union {
		struct um_record_allocation record;
		char bytes[sizeof(struct um_record_allocation) + 8];
	} allocation = {.record = {.allocation = 1,
				   .kind = UM_ALLOCATION_MANAGED,
				   .bytes = 2ull * ROWS * UM_PAGE_BYTES}};

	put(ingest, UM_RECORD_HELLO, &hello, sizeof(hello));
	put(ingest, UM_RECORD_ALLOCATION, &allocation, sizeof(allocation));
	put(ingest, UM_RECORD_OP, &op, sizeof(op));
}

static void put_pages(struct um_ingest *ingest, struct um_record_pages *record, uint32_t first)
{
	for (uint32_t i = 0; i < RUNS; i++)
		record->run[i] = (struct um_page_run){
			.allocation = 1,
			.first_page = 2 * (first + i),
			.pages = 1,
			.touch = UM_TOUCH_READ,
			.lines_read = 1 + (first + i) % 1000,
			.requests = 3,
		};
	record->op = 2;
	record->runs = RUNS;
	put(ingest, UM_RECORD_PAGES, record, sizeof(*record) + RUNS * sizeof(record->run[0]));
}

static void ingest_records(void *context)
{
	static const struct um_run_row run = {.role = "trace",
					      .tool = "bench",
					      .command = "bench",
					      .clock = "none",
					      .ended = "running"};
	struct bench *bench = context;
	struct um_db *db = create(bench);
	struct um_ingest *ingest;

	check(um_ingest_create(&ingest, db, &run));
	put_head(ingest);
	for (uint32_t first = 0; first < ROWS; first += RUNS)
		put_pages(ingest, bench->record, first);
	if (um_ingest_totals(ingest)->invalid || um_ingest_totals(ingest)->invalid_rows)
		check(-1);
	um_ingest_destroy(ingest);
	check(um_db_close(db));
}

int main(void)
{
	char folder[] = "/tmp/umtrace-bench-XXXXXX", path[64];
	struct bench bench = {
		path, malloc(sizeof(struct um_record_pages) + RUNS * sizeof(struct um_page_run))};

	if (!bench.record || !mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/a.um.db", folder);
	double bare = bench_best_cpu_s(insert_bare, &bench, TIMES);
	double whole = bench_best_cpu_s(ingest_records, &bench, TIMES);
	printf("page_access rows: bare INSERT %.2f M/s, ingest %.2f M/s: %.2f of it (limit 0.70)\n",
	       ROWS / bare / 1e6, ROWS / whole / 1e6, bare / whole);
	unlink(path);
	rmdir(folder);
	free(bench.record);
	return 0;
}
