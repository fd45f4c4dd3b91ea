/*
 * A summary of a small trace made by hand: two kernels, three allocations, every table that a
 * summary reads. Numbers are checked one by one, the page as a whole against summary_*.golden
 * (UM_BLESS=1 writes those again).
 */
#include "analyzer/query/query.h"
#include "analyzer/query/summary.h"
#include "analyzer/query/summary_parts.h"
#include "analyzer/render/render_summary.h"
#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>

/* ---------------------------------------------------------------- the trace */

static const char trace_sql[] =
	"INSERT INTO run (id, role, tool, command, backend, host, pid, started, clock, end_ns, "
	"ended,"
	" exit_status, machine, driver, driver_parameters, page_bytes, memory_bytes)"
	" VALUES (1, 'trace', 'umtrace 0.1.0', './app --n 3', 'emulated', 'node1', 77,"
	"  '2026-01-02T03:04:05Z', 'CLOCK_BOOTTIME', 900000, 'exited', 0, 'mi250x', 'demand',"
	"  '{\"service\": \"20us\", \"batch\": 32}', 4096, 68719476736);"
	"INSERT INTO device (device, name, arch, memory_bytes, compute_units, link, link_to_device_bytes_per_s, link_to_host_bytes_per_s) VALUES (0, 'AMD Instinct MI250X', 'gfx90a', 68719476736, 110,"
	" 'PCIe 4.0 x16', 28.8e9, 28.8e9);"
	"INSERT INTO origin (record, origin, detail) VALUES ('page_access', 'emulated', NULL), ('op.time', 'emulated', "
	"NULL),"
	" ('fault', 'modelled', 'driver model demand (textbook: not checked on hardware)'),"
	" ('migration', 'modelled', 'driver model demand (textbook: not checked on hardware)'),"
	" ('page_access.host', 'measured', 'by page, seen by wp-async');"
	"INSERT INTO site (site) VALUES (1), (2);"
	"INSERT INTO frame (site, depth, module, offset_bytes, function, file, line, inlined) VALUES (1, 0, '/lib/wrap.so', 16, 'wrapped_malloc', NULL, NULL, 0),"
	" (1, 1, '/home/u/app', 32, 'make_input', '/home/u/src/app.hip', 42, 0),"
	" (2, 0, '/home/u/app', 48, NULL, NULL, NULL, 0);"
	"INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES"
	" (1, 'managed', 10000, 1, 1, NULL), (2, 'managed', 1048576, 2, 2, 'output'),"
	" (3, 'device', 65536, 3, NULL, NULL);"
	"INSERT INTO op (op, kind, start_ns, end_ns, allocation, flags) VALUES"
	" (1, 'alloc', 0, 10, 1, 0), (2, 'alloc', 10, 20, 2, 0), (3, 'alloc', 20, 30, 3, 0),"
	" (4, 'host', 30, 40, NULL, 0), (5, 'prefetch', 40, 50, 2, 0),"
	" (6, 'launch', 100, 300, NULL, 0), (7, 'launch', 300, 600, NULL, 0),"
	" (8, 'launch', 600, 700, NULL, 4), (9, 'host', 700, 800, NULL, 0),"
	" (10, 'copy', 800, 900, 3, 0);"
	"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, reads,"
	" writes, atomics) VALUES"
	" (6, 'void scale<float>(float*, int)', 4, 1, 1, 256, 1, 1, 1000, 500, 0),"
	" (7, 'void scale<float>(float*, int)', 4, 1, 1, 256, 1, 1, 2000, 700, 3),"
	" (8, 'reduce(float const*, float*)', 1, 1, 1, 64, 1, 1, NULL, NULL, NULL);"
	/* op, allocation, first page, pages, touch, lines read, lines written, requests, atomics */
	"INSERT INTO page_access VALUES (4, 1, 0, 3, 2, 0, -1, NULL, NULL),"
	" (6, 1, 0, 2, 1, -1, 0, 16, 0), (6, 2, 10, 4, 3, -1, -1, 8, 0),"
	" (7, 1, 1, 2, 1, -1, 0, 4, 0), (7, 2, 12, 6, 3, -1, -1, 2, 1),"
	" (9, 2, 10, 1, 1, -1, 0, NULL, NULL);"
	"INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, batch, "
	"start_ns,"
	" duration_ns) VALUES (6, 0, 1, 0, 3, 3, 0, 1, 100, 20),"
	" (7, 0, 2, 12, 6, 6, 1, 2, 300, 20), (9, -1, 2, 10, 1, 1, 0, 3, 700, 20);"
	"INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, "
	/* by code: device_fault, device_fault, eviction, host_fault, prefetch */
	"cause_code,"
	" transfers, batch, start_ns, duration_ns) VALUES"
	" (6, 1, 0, 3, 12288, -1, 0, 0, 3, 1, 100, 20),"
	" (7, 2, 12, 6, 0, -1, 0, 0, 6, 2, 300, 20),"
	" (7, 1, 0, 3, 12288, 0, -1, 3, 1, 2, 310, 5),"
	" (9, 2, 10, 1, 4096, 0, -1, 1, 1, 3, 700, 20),"
	" (5, 2, 0, 16, 65536, -1, 0, 2, 1, NULL, 40, 10);"
	"INSERT INTO remote_access (op, device, allocation, first_page, pages, lines_read,"
	" lines_written, requests, bytes_to_device, bytes_to_host)"
	" VALUES (7, 0, 2, 20, 2, 10, 5, 12, 640, 320);"
	"INSERT INTO copy_traffic VALUES (10, 3, 65536, 0, 800, 900);"
	"INSERT INTO loss (kind, count, detail) VALUES ('host accesses by other threads', 2, 'while a kernel ran');";

static char folder[] = "/tmp/um-summary-XXXXXX";
static char trace_path[64];

static int make_trace(void **state)
{
	struct um_db *db;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(trace_path, sizeof(trace_path), "%s/app.um.db", folder);
	assert_int_equal(um_db_create(&db, trace_path, false), 0);
	if (um_db_exec(db, trace_sql))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_close(db), 0);
	return 0;
}

static int remove_trace(void **state)
{
	(void)state;
	unlink(trace_path);
	return rmdir(folder);
}

/* The trace's summary after some SQL more. */
static struct um_summary *summary_after(const char *sql)
{
	struct um_summary *summary;
	struct um_db *db;

	assert_int_equal(um_db_open_rw(&db, trace_path), 0);
	assert_int_equal(um_db_exec(db, "BEGIN"), 0);
	if (um_db_exec(db, sql))
		fail_msg("%s", um_error_message());
	if (um_summary_load(&summary, db, NULL))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_exec(db, "ROLLBACK"), 0);
	um_db_close(db);
	return summary;
}

/* ---------------------------------------------------------------- numbers */

static void totals(void **state)
{
	struct um_summary *summary = summary_after("");

	(void)state;
	assert_int_equal(summary->traffic[UM_CAUSE_DEVICE_FAULT].bytes_to_device, 12288);
	assert_int_equal(summary->traffic[UM_CAUSE_DEVICE_FAULT].transfers, 3);
	assert_int_equal(summary->traffic[UM_CAUSE_HOST_FAULT].bytes_to_host, 4096);
	assert_int_equal(summary->traffic[UM_CAUSE_EVICTION].bytes_to_host, 12288);
	assert_int_equal(summary->traffic[UM_CAUSE_PREFETCH].bytes_to_device, 65536);
	assert_int_equal(summary->traffic[UM_TRAFFIC_REMOTE_ACCESS].bytes_to_device, 640);
	assert_int_equal(summary->traffic[UM_TRAFFIC_REMOTE_ACCESS].bytes_to_host, 320);
	assert_int_equal(summary->traffic[UM_TRAFFIC_COPY].bytes_to_device, 65536);
	assert_int_equal(summary->total.bytes_to_device, 12288 + 65536 + 640 + 65536);
	assert_int_equal(summary->total.bytes_to_host, 4096 + 12288 + 320);
	assert_int_equal(summary->device_faults.faults, 9);
	assert_int_equal(summary->device_faults.by_access[UM_FAULT_READ], 3);
	assert_int_equal(summary->device_faults.by_access[UM_FAULT_WRITE], 6);
	assert_int_equal(summary->device_faults.batches, 2);
	assert_int_equal(summary->host_faults.faults, 1);
	um_summary_destroy(summary);
	um_summary_destroy(NULL);
}

static void kernels(void **state)
{
	struct um_summary *summary = summary_after("");
	const struct um_kernel_summary *scale = &summary->kernels[0];

	(void)state;
	assert_int_equal(summary->kernel_count, 2);
	assert_string_equal(scale->name, "void scale<float>(float*, int)");
	assert_int_equal(scale->launches, 2);
	assert_int_equal(scale->untraced, 0);
	assert_int_equal(scale->duration_ns, 500);
	assert_int_equal(scale->reads, 3000);
	assert_int_equal(scale->writes, 1200);
	assert_int_equal(scale->requests, 16 * 2 + 8 * 4 + 4 * 2 + 2 * 6);
	assert_int_equal(scale->faults, 9);
	assert_int_equal(scale->migrated_to_device_bytes, 12288);
	assert_int_equal(scale->migrated_to_host_bytes, 12288);
	assert_int_equal(scale->remote_to_device_bytes, 640);
	assert_int_equal(summary->kernels[1].untraced, 1);
	assert_true(summary->kernels[1].reads == UM_NULL);
	um_summary_destroy(summary);
}

static void allocations(void **state)
{
	struct um_summary *summary = summary_after("");
	const struct um_allocation_summary *all = summary->allocations;

	(void)state;
	assert_int_equal(summary->allocation_count, 3);
	/* The innermost frame that has a line, not the wrapper's. */
	assert_string_equal(all[0].site, "/home/u/src/app.hip:42");
	assert_string_equal(all[0].function, "make_input");
	assert_string_equal(all[1].site, "/home/u/app+0x30");
	assert_null(all[2].site);
	/* Pages 0 to 2 of 10,000 bytes: the last one in part. */
	assert_int_equal(all[0].touched_bytes, 10000);
	/* 10 to 13 and 12 to 17 make 8 pages. */
	assert_int_equal(all[1].touched_bytes, 8 * 4096);
	assert_int_equal(all[2].touched_bytes, 0);
	assert_int_equal(all[0].host_touched_pages, 3);
	assert_int_equal(all[1].host_touched_pages, 1);
	assert_int_equal(all[0].evicted_bytes, 12288);
	assert_int_equal(all[1].migrated_to_device_bytes, 65536);
	assert_int_equal(all[1].host_faults, 1);
	assert_int_equal(all[2].copied_to_device_bytes, 65536);
	um_summary_destroy(summary);
}

/* What a measured trace may not know makes no sum smaller. */
static void unknown_is_not_none(void **state)
{
	struct um_summary *summary = summary_after(
		"UPDATE migration SET bytes = NULL, cause_code = NULL WHERE op = 7 AND source = 0;"
		"UPDATE fault SET access_code = 2 WHERE op = 6; UPDATE fault SET faults = NULL,"
		" allocation = NULL, first_page = NULL WHERE op = 7");
	const struct um_traffic *unknown = &summary->traffic[UM_TRAFFIC_UNKNOWN];

	(void)state;
	assert_int_equal(unknown->bytes_to_device, 0);
	assert_true(unknown->bytes_to_host == UM_NULL);
	assert_true(summary->total.bytes_to_host == UM_NULL);
	assert_int_equal(summary->total.bytes_to_device, 12288 + 65536 + 640 + 65536);
	assert_true(summary->device_faults.faults == UM_NULL);
	assert_int_equal(summary->device_faults.by_access[UM_FAULT_ATOMIC], 3);
	assert_true(summary->kernels[0].faults == UM_NULL);
	assert_true(summary->kernels[0].migrated_to_host_bytes == UM_NULL);
	assert_true(summary->allocations[0].evicted_bytes == UM_NULL);
	assert_int_equal(summary->allocations[1].device_faults, 0);
	um_summary_destroy(summary);
}

/* Two devices' queues stopped for one reason are added up; a stop without an end has no length. */
#define EVENTS                                                                                       \
	"INSERT INTO driver_event (op, device, kind, reason, pages, count, start_ns, end_ns) VALUES" \
	" (6, 0, 'queue_eviction', 'svm', 2, 3, 100, 1000100),"                                      \
	" (7, 1, 'queue_eviction', 'svm', 2, 4, 500, 500500),"                                       \
	" (7, 0, 'queue_eviction', 'ttm', NULL, 1, 900, NULL),"                                      \
	" (7, 0, 'vram_refused', NULL, 512, 1, 300, NULL);"
#define DROPPED                                                                                    \
	"INSERT INTO driver_event (op, device, kind, reason, count, start_ns, end_ns, waited_ns) " \
	"VALUES (6, 0, 'fault_dropped', 'duplicate', 5, 100, 2000100, 7000000),"                   \
	" (7, 0, 'fault_dropped', 'duplicate', 1, 3000000, 5000000, 2000000);"
#define BOUNDS                                                                                     \
	"INSERT INTO bound (quantity, page_bytes, value) VALUES ('bytes_to_device', NULL, 39232)," \
	" ('bytes_to_host', NULL, 0), ('device_faults', 4096, 9), ('host_faults', 65536, 1),"      \
	" ('patience', NULL, 1);"

static void driver_events(void **state)
{
	struct um_summary *summary = summary_after(EVENTS);
	const struct um_event_summary *events = summary->events;

	(void)state;
	assert_int_equal(summary->event_count, 3);
	assert_string_equal(events[0].kind, UM_EVENT_QUEUE_EVICTION);
	assert_string_equal(events[0].reason, "svm");
	assert_int_equal(events[0].count, 7);
	assert_int_equal(events[0].duration_ns, 1500000);
	assert_string_equal(events[1].reason, "ttm");
	assert_int_equal(events[1].duration_ns, UM_NULL);
	assert_int_equal(events[1].pages, UM_NULL);
	assert_string_equal(events[2].kind, UM_EVENT_VRAM_REFUSED);
	assert_null(events[2].reason);
	assert_int_equal(events[2].pages, 512);
	um_summary_destroy(summary);
}

static void dropped_faults(void **state)
{
	struct um_summary *summary = summary_after(EVENTS DROPPED);

	(void)state;
	assert_int_equal(summary->event_count, 4);
	assert_string_equal(summary->events[0].kind, UM_EVENT_FAULT_DROPPED);
	assert_int_equal(summary->events[0].count, 6);
	assert_int_equal(summary->events[0].duration_ns, 4000000);
	assert_int_equal(summary->events[0].waited_ns, 9000000);
	assert_int_equal(summary->events[1].waited_ns, UM_NULL);
	um_summary_destroy(summary);
}

static void bounds(void **state)
{
	/* What is not managed is not in a bound. */
	struct um_summary *summary = summary_after(
		BOUNDS
		"INSERT INTO allocation (allocation, kind, bytes) VALUES (4, 'pinned', 4096);"
		"INSERT INTO remote_access VALUES (7, 0, 4, 0, 1, 10, 10, 20, 640, 640);"
		"INSERT INTO fault (op, device, pages, faults, start_ns) VALUES (7, 0, 1, 5, 0)");
	const struct um_bound_summary *of = summary->bounds;

	(void)state;
	assert_int_equal(summary->bound_count, 5);
	assert_int_equal(of[0].least, 39232);
	assert_int_equal(of[0].simulated, 12288 + 65536 + 640); /* the copy is the program's */
	assert_int_equal(of[1].simulated, 4096 + 12288 + 320);
	assert_int_equal(of[2].simulated, 9);
	assert_int_equal(of[3].simulated, UM_NULL); /* of another page size */
	assert_int_equal(of[4].simulated, UM_NULL); /* of nothing that is known here */
	um_summary_destroy(summary);
	summary = summary_after(BOUNDS "UPDATE migration SET bytes = NULL WHERE op = 5");
	assert_int_equal(summary->bounds[0].simulated, UM_NULL);
	assert_int_equal(summary->bounds[1].simulated, 4096 + 12288 + 320);
	um_summary_destroy(summary);
}

struct sums {
	int64_t to_device, to_host, transfers;
};

static int read_sums(struct sqlite3_stmt *row, void *context)
{
	*(struct sums *)context =
		(struct sums){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
			      sqlite3_column_int64(row, 2)};
	return 0;
}

#define SUMS "SELECT SUM(bytes_to_device), SUM(bytes_to_host), SUM(transfers) FROM "

static void the_view_says_the_same(void **state)
{
	struct sums ours = {0}, view = {0};
	struct um_db *db;

	(void)state;
	assert_int_equal(um_db_open(&db, trace_path), 0);
	assert_int_equal(um_query_each(db, SUMS "(" UM_TRAFFIC_SQL ")", read_sums, &ours), 0);
	assert_int_equal(um_query_each(db, SUMS "traffic", read_sums, &view), 0);
	assert_memory_equal(&ours, &view, sizeof(ours));
	assert_true(ours.to_device > 0 && ours.transfers > 0);
	um_db_close(db);
}

/* ---------------------------------------------------------------- what cannot be */

static void refused(void **state)
{
#define WITHOUT(table, column)                                                                     \
	"CREATE TEMP TABLE kept AS SELECT * FROM " table "; DROP TABLE " table ";"                 \
	"CREATE TABLE " table " AS SELECT * FROM kept; UPDATE " table " SET " column " = NULL"
	static const char *const damages[] = {
		"DELETE FROM run",
		"UPDATE allocation SET bytes = -5",
		"UPDATE allocation SET bytes = 9223372036854775807",
		"UPDATE page_access SET pages = 0",
		"UPDATE page_access SET pages = 9223372036854775807",
		"UPDATE page_access SET requests = 9223372036854775807",
		"UPDATE migration SET bytes = 9223372036854775807",
		/* NOT NULL holds for who writes by the schema, not for a page with a wrong bit. */
		WITHOUT("op", "kind"),
		WITHOUT("allocation", "kind"),
		WITHOUT("kernel", "name"),
		EVENTS WITHOUT("driver_event", "kind"),
		BOUNDS WITHOUT("bound", "quantity"),
	};
	struct um_summary *summary;
	struct um_db *db;

	(void)state;
	assert_int_equal(um_db_open_rw(&db, trace_path), 0);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		assert_int_equal(um_db_exec(db, "BEGIN"), 0);
		if (um_db_exec(db, damages[i]))
			fail_msg("%s", um_error_message());
		if (um_summary_load(&summary, db, NULL) != UM_EFORMAT)
			fail_msg("%s: taken", damages[i]);
		assert_non_null(strstr(um_error_message(), trace_path));
		assert_int_equal(um_db_exec(db, "ROLLBACK"), 0);
	}
	um_db_close(db);
}

/* ---------------------------------------------------------------- pages as a whole */

static void replace_all(char **text, const char *from, const char *to)
{
	for (char *at; (at = strstr(*text, from));) {
		char *next;
		assert_true(asprintf(&next, "%.*s%s%s", (int)(at - *text), *text, to,
				     at + strlen(from)) >= 0);
		free(*text);
		*text = next;
	}
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	if (file) {
		assert_true(fread(text, 1, (1 << 16) - 1, file) < (1 << 16) - 1);
		fclose(file);
	}
	return text;
}

static void check_golden(const char *name, char **text)
{
	char path[512], *share, *expected;

	assert_int_equal(um_path_share(&share, ""), 0);
	replace_all(text, folder, "@FOLDER@");
	replace_all(text, share, "@SHARE@");
	free(share);
	snprintf(path, sizeof(path), "%s/%s.golden", GOLDEN_FOLDER, name);
	if (getenv("UM_BLESS")) {
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		fputs(*text, file);
		fclose(file);
	}
	expected = read_file(path);
	assert_string_equal(*text, expected);
	free(expected);
}

static char *rendered(const struct um_summary *summary, size_t rows)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	assert_int_equal(um_render_summary_text(file, summary, rows), 0);
	fclose(file);
	return text;
}

static void golden_after(const char *name, const char *sql, size_t rows)
{
	struct um_summary *summary = summary_after(sql);
	char *text = rendered(summary, rows);

	check_golden(name, &text);
	free(text);
	um_summary_destroy(summary);
}

static void text_pages(void **state)
{
	(void)state;
	golden_after("summary_trace", "", 0);
	golden_after(
		"summary_simulation",
		"UPDATE run SET role = 'simulation', source = 'it''s.um.db', clock = 'simulated',"
		" policy = 'machine: \"mi250x\""
		"\ndriver: {name: demand}\n"
		"program: {advice: keep, prefetch: drop}\nadvise:\n  - on: {name: \"out*\"}\n"
		"    read_mostly: true\n', xnack = 'on', backend = NULL; DELETE FROM page_access;"
		"DELETE FROM loss;" EVENTS DROPPED BOUNDS,
		1);
	golden_after(
		"summary_early",
		"UPDATE run SET ended = 'running', exit_status = NULL, driver = NULL,"
		" driver_parameters = 'broken', machine = NULL, page_bytes = NULL,"
		" memory_bytes = NULL; DELETE FROM device; DELETE FROM origin;"
		" INSERT INTO origin (record, origin, detail) VALUES ('fault', 'absent', NULL);"
		" DELETE FROM kernel; DELETE FROM allocation; DELETE FROM fault;"
		" DELETE FROM migration; DELETE FROM op WHERE op > 4",
		0);
	golden_after("summary_signal",
		     "UPDATE run SET ended = 'signalled', exit_signal = 11, exit_status = NULL,"
		     " command = char(27) || '[31m' || cast(x'ff' AS TEXT)",
		     0);
}

static bool tells_of_debug_info(const char *sql)
{
	struct um_summary *summary = summary_after(sql);
	char *text = rendered(summary, 0);
	bool tells = strstr(text, "compiled with -g") != NULL;

	free(text);
	um_summary_destroy(summary);
	return tells;
}

static void places_without_lines(void **state)
{
	(void)state;
	/* Allocation 2 has no line, but a name; 3 has no site. */
	assert_false(tells_of_debug_info(""));
	assert_true(tells_of_debug_info("UPDATE allocation SET name = NULL"));
	assert_true(tells_of_debug_info("UPDATE frame SET file = NULL, line = NULL"));
	assert_false(tells_of_debug_info("UPDATE allocation SET name = NULL;"
					 "UPDATE frame SET file = 'app.hip', line = 7"));
}

static void json_page(void **state)
{
	struct um_summary *summary =
		summary_after("UPDATE run SET command = 'a' || cast(x'ff' AS TEXT);" EVENTS BOUNDS);
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	(void)state;
	assert_int_equal(um_render_summary_json(file, summary), 0);
	fclose(file);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	const char *command, *site;
	json_int_t batch, to_device, launches, faults, stops, stopped_ns, least, simulated;
	json_t *reads;
	assert_int_equal(
		json_unpack(
			json,
			"{s:{s:s, s:{s:I}}, s:{s:{s:I}}, s:[{s:I}, {s:o}], s:[{s:s}], s:{s:{s:I}}}",
			"run", "command", &command, "driver_parameters", "batch", &batch, "traffic",
			"total", "bytes_to_device", &to_device, "kernels", "launches", &launches,
			"reads", &reads, "allocations", "site", &site, "faults", "device", "faults",
			&faults),
		0);
	assert_int_equal(json_unpack(json, "{s:[{s:I, s:I}], s:[{s:I, s:I}]}", "driver_events",
				     "count", &stops, "duration_ns", &stopped_ns, "bounds", "least",
				     &least, "simulated", &simulated),
			 0);
	assert_int_equal(stops, 7);
	assert_int_equal(stopped_ns, 1500000);
	assert_int_equal(least, 39232);
	assert_int_equal(simulated, 78464);
	assert_string_equal(command, "a?");
	assert_int_equal(batch, 32);
	assert_int_equal(to_device, 144000);
	assert_int_equal(launches, 2);
	assert_int_equal(faults, 9);
	assert_true(json_is_null(reads));
	assert_string_equal(site, "/home/u/src/app.hip:42");
	json_decref(json);
	free(text);
	um_summary_destroy(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals),
		cmocka_unit_test(kernels),
		cmocka_unit_test(unknown_is_not_none),
		cmocka_unit_test(allocations),
		cmocka_unit_test(driver_events),
		cmocka_unit_test(dropped_faults),
		cmocka_unit_test(bounds),
		cmocka_unit_test(the_view_says_the_same),
		cmocka_unit_test(refused),
		cmocka_unit_test(text_pages),
		cmocka_unit_test(places_without_lines),
		cmocka_unit_test(json_page),
	};

	return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
