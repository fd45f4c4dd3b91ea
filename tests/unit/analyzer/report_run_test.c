/*
 * What the page shows of a database made by hand: what is binned adds up to what the summary says, on an
 * axis of time and on one of calls.
 */
#include "analyzer/query/report_run.h"
#include "trace/db/trace_db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BINS = 50 };

/*
 * A simulation: 100 pages go over, 40 come back, 60 are dropped by the free; a copy and remote accesses
 * beside. Causes by code: 0 device_fault, 1 host_fault, 3 eviction.
 */
static const char rows_sql[] =
	"INSERT INTO device (device, name) VALUES (0, 'a GPU');"
	"INSERT INTO allocation (allocation, kind, bytes, op, freed_op) VALUES"
	" (1, 'managed', 409600, 1, 9), (2, 'device', 8192, 2, NULL);"
	"INSERT INTO op (op, kind, start_ns, end_ns, stream) VALUES (1, 'alloc', 0, 0, 0),"
	" (2, 'alloc', 10, 10, 0), (3, 'launch', 100, 500, 0), (4, 'launch', 500, 700, 0),"
	" (5, 'host', 700, 800, 0), (6, 'copy', 800, 900, 0), (9, 'free', 950, 1000, 0);"
	"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES"
	" (3, 'first', 1, 1, 1, 64, 1, 1), (4, 'second', 1, 1, 1, 64, 1, 1);"
	"INSERT INTO fault (op, device, allocation, first_page, pages, faults, start_ns, duration_ns)"
	" VALUES (3, 0, 1, 0, 100, 7, 100, 50), (5, -1, 1, 0, 40, 3, 700, 90);"
	"INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination,"
	" cause_code, transfers, start_ns, duration_ns) VALUES"
	" (3, 1, 0, 100, 409600, -1, 0, 0, 1, 100, 333), (5, 1, 0, 30, 122880, 0, -1, 1, 1, 700, 50),"
	" (5, 1, 30, 10, 40960, 0, -1, 3, 1, 750, 17), (5, 1, 50, 10, NULL, 0, 0, 3, 1, 770, 1);"
	"INSERT INTO remote_access (op, device, allocation, first_page, pages, lines_read,"
	" lines_written, requests, bytes_to_device, bytes_to_host)"
	" VALUES (4, 0, 1, 90, 10, 100, 50, 12, 6400, 3200);"
	"INSERT INTO copy_traffic VALUES (6, 2, 8192, 0, 800, 900);";

static const char time_sql[] =
	"INSERT INTO origin (record, origin, clock) VALUES ('op.time', 'modelled', 'run'),"
	" ('migration', 'modelled', 'run');";
static const char calls_sql[] =
	"INSERT INTO origin (record, origin, clock) VALUES ('op.time', 'emulated', 'run'),"
	" ('migration', 'modelled', 'simulated');";

static struct um_report_run *load(const char *origins)
{
	static const struct um_report_detail detail = {.bins = BINS, .columns = 20, .spans = 100};
	const struct um_run_row run = {.role = "simulation",
				       .tool = "test",
				       .command = "./app",
				       .clock = "simulated",
				       .ended = "exited"};
	struct um_report_run *out = NULL;
	char path[64];
	struct um_db *db;

	snprintf(path, sizeof(path), "/tmp/um-report-run-%ld.um.db", (long)getpid());
	assert_int_equal(um_db_create(&db, path, true), 0);
	assert_int_equal(um_db_insert(db, &um_table_run, &run), 0);
	assert_int_equal(um_db_exec(db, rows_sql), 0);
	assert_int_equal(um_db_exec(db, origins), 0);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(um_report_run_load(&out, db, NULL, NULL, &detail), 0);
	um_db_close(db);
	unlink(path);
	return out;
}

static int64_t total(const struct um_bins *bins)
{
	int64_t values[BINS], sum = 0;

	if (!bins)
		return 0;
	um_bins_read(bins, values);
	for (size_t i = 0; i < um_bins_count(bins); i++)
		sum += values[i];
	assert_int_equal(sum, um_bins_total(bins));
	return sum;
}

/* Bin by bin as in the summary, whatever the axis. */
static void adds_up(const struct um_report_run *run)
{
	int64_t to_device = 0, to_host = 0;

	for (size_t cause = 0; cause < UM_TRAFFIC_CAUSES; cause++) {
		to_device += total(run->timeline.bytes[UM_TO_DEVICE][cause]);
		to_host += total(run->timeline.bytes[UM_TO_HOST][cause]);
	}
	assert_int_equal(to_device, 409600 + 6400 + 8192);
	assert_int_equal(to_host, 122880 + 40960 + 3200);
	assert_int_equal(total(run->timeline.bytes[UM_TO_HOST][UM_CAUSE_EVICTION]), 40960);
	assert_int_equal(run->timeline.unknown_transfers, 1);
	assert_int_equal(total(run->timeline.faults[0]), run->summary->device_faults.faults);
	assert_int_equal(total(run->timeline.faults[1]), run->summary->host_faults.faults);
	assert_int_equal(total(run->spans.launches), 2);
	assert_int_equal(run->heat.maps[0].allocation, 1);
	assert_int_equal(um_heatmap_total(&run->heat.maps[0], UM_HEAT_TO_DEVICE), 6400);
	assert_int_equal(um_heatmap_total(&run->heat.maps[0], UM_HEAT_TO_HOST), 2560);
	assert_int_equal(um_heatmap_total(&run->heat.maps[0], UM_HEAT_FAULTS), 10);
	assert_int_equal(um_heatmap_total(&run->heat.maps[0], UM_HEAT_REMOTE), 640);
}

static void on_an_axis_of_time(void **state)
{
	struct um_report_run *run = load(time_sql);
	const struct um_occupancy_device *device = &run->occupancy.devices[0];
	int32_t foremost[BINS];

	(void)state;
	assert_int_equal(run->axis.kind, UM_AXIS_TIME);
	assert_int_equal(run->axis.start, 0);
	assert_int_equal(run->axis.end, 1000);
	adds_up(run);
	assert_int_equal(total(run->spans.busy), 600);
	assert_int_equal(
		um_timeline_foremost(&run->timeline, run->timeline.tracked_bytes, foremost), 0);
	assert_int_equal(foremost[0], -1);
	assert_int_equal(run->timeline.tracked[foremost[10]], 1);
	assert_int_equal(run->timeline.tracked[foremost[42]], 2);
	/* 20 ns a bin: all 100 pages are there at 433, 60 remain at 768, none at 950. */
	assert_int_equal(device->most_managed_bytes, 409600);
	assert_int_equal(device->most_bytes, 409600 + 8192);
	assert_int_equal(device->managed_bytes[20], 0);
	assert_int_equal(device->managed_bytes[21], 409600);
	assert_int_equal(device->managed_bytes[39], 245760);
	assert_int_equal(device->managed_bytes[48], 0);
	assert_int_equal(device->allocated_bytes[49], 8192);
	um_report_run_destroy(run);
}

static void on_an_axis_of_calls(void **state)
{
	struct um_report_run *run = load(calls_sql);

	(void)state;
	assert_int_equal(run->axis.kind, UM_AXIS_CALLS);
	assert_int_equal(run->axis.start, 1);
	assert_int_equal(run->axis.end, 10);
	assert_int_equal(run->axis.bins, 9);
	assert_int_equal(run->heat.axis.bins, 9);
	adds_up(run);
	assert_int_equal(run->occupancy.devices[0].most_managed_bytes, 409600);
	um_report_run_destroy(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_an_axis_of_time),
		cmocka_unit_test(on_an_axis_of_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
