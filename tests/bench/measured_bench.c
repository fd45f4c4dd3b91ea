/*
 * A million records of a GPU's driver through the ingest, and their attribution at the end of the run,
 * beside a bare loop over a prepared INSERT of as many rows. CPU time. Limit: 8 times that.
 */
#include "bench_clock.h"

#include "trace/spool/spool_ring.h"
#include "trace/tool/ingest.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS	    (1u << 20)
#define LAUNCHES    20000u
#define PER_LAUNCH  (RECORDS / LAUNCHES)
#define ALLOCATIONS 1000u
#define BYTES	    (64ull << 20) /* of an allocation */
#define BASE	    0x7f0000000000ull
#define LAUNCH_NS   1000000ull
#define TIMES	    3
#define COMMIT_ROWS 20000

static const char *path;

static void check(int error)
{
	if (error) {
		fprintf(stderr, "measured_bench: error %d\n", error);
		exit(1);
	}
}

/* --- the floor --- */

static void insert_bare(void *context)
{
	struct um_db *db;
	sqlite3_stmt *insert;

	(void)context;
	check(um_db_create(&db, path, true));
	check(sqlite3_prepare_v2(
		um_db_handle(db),
		"INSERT INTO migration (op, allocation, first_page, pages, bytes, "
		"source, destination, cause_code, transfers, start_ns, duration_ns) "
		"VALUES (?, ?, ?, 16, 65536, -1, 0, 6, 1, ?, 3000)",
		-1, &insert, NULL));
	check(um_db_begin(db));
	for (uint32_t row = 0; row < RECORDS; row++) {
		sqlite3_bind_int64(insert, 1, row / PER_LAUNCH);
		sqlite3_bind_int64(insert, 2, row % ALLOCATIONS);
		sqlite3_bind_int64(insert, 3, row % 16384);
		sqlite3_bind_int64(insert, 4, (int64_t)(row * (LAUNCH_NS / PER_LAUNCH)));
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

static void put_op(struct um_ingest *ingest, uint32_t number, uint16_t kind, uint64_t start_ns)
{
	struct um_record_op op = {.op = number,
				  .kind = kind,
				  .thread = 1,
				  .start_ns = start_ns,
				  .end_ns = start_ns + 1000};

	put(ingest, UM_RECORD_OP, &op, sizeof(op));
}

static void put_head(struct um_ingest *ingest)
{
	struct um_record_hello hello = {.spool_version = UM_SPOOL_VERSION,
					.backend = UM_BACKEND_CUPTI};
	struct um_record_device device = {.name = "a card"};
	union {
		struct um_record_allocation record;
		char bytes[sizeof(struct um_record_allocation) + 8];
	} allocation = {.record = {.kind = UM_ALLOCATION_MANAGED, .bytes = BYTES}};

	put(ingest, UM_RECORD_HELLO, &hello, sizeof(hello));
	put(ingest, UM_RECORD_DEVICE, &device, sizeof(device));
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		put_op(ingest, i + 1, UM_OP_ALLOC, 1000 + i);
		allocation.record.allocation = allocation.record.op = i + 1;
		allocation.record.address = BASE + i * BYTES;
		put(ingest, UM_RECORD_ALLOCATION, &allocation, sizeof(allocation));
	}
}

static void put_launch(struct um_ingest *ingest, uint32_t launch)
{
	uint32_t number = ALLOCATIONS + 1 + launch;
	union {
		struct um_record_kernel record;
		char bytes[sizeof(struct um_record_kernel) + 8];
	} kernel = {.record = {.op = number}};
	struct um_record_time time = {.op = number,
				      .start_ns = (launch + 1) * LAUNCH_NS,
				      .end_ns = (launch + 2) * LAUNCH_NS};

	strcpy(kernel.record.name, "k");
	put_op(ingest, number, UM_OP_LAUNCH, (launch + 1) * LAUNCH_NS - 5000);
	put(ingest, UM_RECORD_KERNEL, &kernel, sizeof(kernel));
	put(ingest, UM_RECORD_TIME, &time, sizeof(time));
}

static void put_record(struct um_ingest *ingest, uint32_t i)
{
	uint64_t at_ns = LAUNCH_NS + i * (LAUNCH_NS / PER_LAUNCH);
	uint64_t address = BASE + (i % ALLOCATIONS) * BYTES + (i % 1024) * 65536ull;
	struct um_record_migration moved = {.source = -1,
					    .cause = UM_CAUSE_DRIVER_PREFETCH,
					    .address = address,
					    .bytes = 65536,
					    .start_ns = at_ns,
					    .end_ns = at_ns + 3000};
	struct um_record_fault fault = {.access = UM_FAULT_WRITE,
					.address = address,
					.faults = 5,
					.start_ns = at_ns,
					.end_ns = at_ns + 40000};
	struct um_record_mapping mapping = {.change = UM_CHANGE_REMOTE,
					    .cause = UINT32_MAX,
					    .address = address,
					    .bytes = 4096,
					    .at_ns = at_ns};

	if (i % 4 == 0)
		put(ingest, UM_RECORD_FAULT, &fault, sizeof(fault));
	else if (i % 4 == 1)
		put(ingest, UM_RECORD_MAPPING, &mapping, sizeof(mapping));
	else
		put(ingest, UM_RECORD_MIGRATION, &moved, sizeof(moved));
}

static void ingest_records(void *context)
{
	static const struct um_run_row run = {.role = "trace",
					      .tool = "bench",
					      .command = "bench",
					      .clock = "none",
					      .end_ns = UM_NULL,
					      .ended = "exited",
					      .exit_signal = UM_NULL};
	int64_t homeless;
	struct um_db *db;
	struct um_ingest *ingest;

	(void)context;
	check(um_db_create(&db, path, true));
	check(um_ingest_create(&ingest, db, &run));
	put_head(ingest);
	for (uint32_t launch = 0; launch < LAUNCHES; launch++) {
		put_launch(ingest, launch);
		for (uint32_t i = 0; i < PER_LAUNCH; i++)
			put_record(ingest, launch * PER_LAUNCH + i);
	}
	check(um_ingest_finish(ingest, &run));
	check(um_db_integer(db,
			    "SELECT count(*) FROM migration WHERE op IS NULL OR allocation IS NULL",
			    0, &homeless));
	if (homeless || um_ingest_totals(ingest)->invalid)
		check(-1);
	um_ingest_destroy(ingest);
	check(um_db_close(db));
}

int main(void)
{
	char folder[] = "/tmp/umtrace-bench-XXXXXX", name[64];
	struct stat status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(name, sizeof(name), "%s/a.um.db", folder);
	path = name;
	double bare = bench_best_cpu_s(insert_bare, NULL, TIMES);
	double ingest = bench_best_cpu_s(ingest_records, NULL, TIMES);

	check(stat(path, &status));
	printf("%u records of a driver: bare INSERT %.2f s, ingest and attribution %.2f s: %.1f times "
	       "it (limit 8), %.0f bytes each\n",
	       RECORDS, bare, ingest, ingest / bare, (double)status.st_size / RECORDS);
	unlink(path);
	rmdir(folder);
	return 0;
}
