/* What came back to the host, by the lines that touched it first (umtrace --host-sync). */
#include "analyzer/query/summary.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(page_bytes)                                                                            \
	"INSERT INTO run (id, role, tool, command, clock, ended, page_bytes) VALUES"               \
	" (1, 'trace', 'umtrace 0.1.0', './app', 'CLOCK_BOOTTIME', 'exited', " page_bytes ");"
static const char sites[] =
	"INSERT INTO origin (record, origin) VALUES ('fault', 'modelled'), ('migration', 'modelled');"
	"INSERT INTO site (site) VALUES (1), (2), (3), (4);"
	"INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES"
	" (1, 0, '/app', 1, 'fill', 'a.hip', 10), (2, 0, '/app', 2, 'check', 'a.hip', 20),"
	" (3, 0, '/app', 3, 'check', 'a.hip', 20), (4, 0, '/app', 4, NULL, NULL, NULL);"
	"INSERT INTO allocation (allocation, kind, bytes) VALUES (1, 'managed', 8388608),"
	" (2, 'managed', 4096);"
	"INSERT INTO op (op, kind, start_ns, end_ns) VALUES (3, 'host', 0, 1), (5, 'host', 2, 3);";

static char path[64];

static struct um_summary *summary_of(const char *run, const char *rows)
{
	struct um_summary *summary;
	struct um_db *db;

	snprintf(path, sizeof(path), "/tmp/um-summary-host-%d.um.db", (int)getpid());
	assert_int_equal(um_db_create(&db, path, true), 0);
	if (um_db_exec(db, run) || um_db_exec(db, sites) || um_db_exec(db, rows))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open(&db, path), 0);
	if (um_summary_load(&summary, db, NULL))
		fail_msg("%s", um_error_message());
	um_db_close(db);
	unlink(path);
	return summary;
}

static const struct um_host_line_summary *line(const struct um_summary *summary, const char *site,
					       int64_t allocation)
{
	for (size_t i = 0; i < summary->host_line_count; i++) {
		const struct um_host_line_summary *of = &summary->host_lines[i];

		if (of->allocation == allocation && of->site && strcmp(of->site, site) == 0)
			return of;
	}
	fail_msg("no line %s", site);
	return NULL;
}

/* Of a block of 2 MiB the line that touched any of it first; sites of one line are one. */
static void first_touch_of_a_block(void **state)
{
	struct um_summary *summary = summary_of(
		RUN("2097152"),
		/* op, allocation, first page, access, pages, site, touch */
		"INSERT INTO host_access VALUES (5, 1, 0, 0, 512, 2, 2), (5, 1, 500, 1, 12, 1, 1),"
		" (5, 1, 512, 0, 100, 3, 600), (5, 2, 0, 0, 1, 4, 3), (3, 1, 0, 1, 512, 1, 1);"
		"INSERT INTO fault (op, device, allocation, first_page, pages, faults, start_ns)"
		" VALUES (5, -1, 1, 0, 1, 1, 0), (5, -1, 1, 512, 1, 1, 0), (5, 0, 1, 0, 1, 9, 0);"
		"INSERT INTO migration (op, allocation, first_page, pages, bytes, source,"
		" destination, cause_code, start_ns) VALUES (5, 1, 0, 1024, 4194304, 0, -1, 1, 0),"
		" (5, 1, 0, 512, 999, 0, -1, 3, 0), (5, 1, 0, 512, 999, -1, 0, 0, 0);");

	(void)state;
	assert_int_equal(summary->host_line_count, 3);
	assert_int_equal(line(summary, "a.hip:10", 1)->written_pages, 524);
	assert_int_equal(line(summary, "a.hip:10", 1)->faults, 1);
	assert_int_equal(line(summary, "a.hip:10", 1)->migrated_to_host_bytes, 2097152);
	assert_int_equal(line(summary, "a.hip:20", 1)->read_pages, 612);
	assert_int_equal(line(summary, "a.hip:20", 1)->faults, 1);
	assert_int_equal(line(summary, "a.hip:20", 1)->migrated_to_host_bytes, 2097152);
	assert_int_equal(line(summary, "/app+0x4", 2)->read_pages, 1);
	assert_int_equal(line(summary, "/app+0x4", 2)->migrated_to_host_bytes, 0);
	um_summary_destroy(summary);
}

/* Page by page; what moved beside goes with the line before it. */
static void pages_of_4_kib(void **state)
{
	struct um_summary *summary = summary_of(
		RUN("4096"),
		"INSERT INTO host_access VALUES (5, 1, 10, 0, 10, 1, 1), (5, 1, 20, 0, 30, 2, 11);"
		"INSERT INTO fault (op, device, allocation, first_page, pages, faults, start_ns)"
		" VALUES (5, -1, 1, 10, 40, 40, 0);"
		"INSERT INTO migration (op, allocation, first_page, pages, bytes, source,"
		" destination, cause_code, start_ns) VALUES (5, 1, 10, 50, 204800, 0, -1, 1, 0);");

	(void)state;
	assert_int_equal(line(summary, "a.hip:10", 1)->faults, 10);
	assert_int_equal(line(summary, "a.hip:20", 1)->faults, 30);
	assert_int_equal(line(summary, "a.hip:10", 1)->migrated_to_host_bytes, 40960);
	assert_int_equal(line(summary, "a.hip:20", 1)->migrated_to_host_bytes, 163840);
	um_summary_destroy(summary);
}

/* A file from anyone. */
static void rows_that_cannot_be(void **state)
{
	struct um_summary *summary = summary_of(
		RUN("9223372036854775807"),
		"INSERT INTO host_access VALUES (5, 1, 0, 0, 9223372036854775807, 1, 1),"
		" (5, 1, -5, 1, 512, 1, 1), (5, 1, 9223372036854775807, 0, 1, 1, 1),"
		" (5, 1, 7, 0, 1, NULL, -1);"
		"INSERT INTO migration (op, allocation, first_page, pages, bytes, source,"
		" destination, cause_code, start_ns) VALUES"
		" (5, 1, 0, 9223372036854775807, 4611686018427387904, 0, -1, 1, 0),"
		" (5, 1, 0, 2000000000000000, 4611686018427387000, 0, -1, 1, 0),"
		" (5, 1, -7, 100, 5, 0, -1, 1, 0), (NULL, NULL, NULL, 1, 5, 0, -1, 1, 0);");

	(void)state;
	assert_int_equal(summary->host_line_count, 2);
	um_summary_destroy(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_touch_of_a_block),
		cmocka_unit_test(pages_of_4_kib),
		cmocka_unit_test(rows_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
