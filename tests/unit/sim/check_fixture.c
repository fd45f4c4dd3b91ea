#include "check_fixture.h"

#include "sim/check/check_measured.h"
#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES_MAX 32

static char folder[64], paths[FILES_MAX][128];
static size_t path_count;

void ck_open(void)
{
	snprintf(folder, sizeof(folder), "/tmp/um-check-XXXXXX");
	assert_non_null(mkdtemp(folder));
	path_count = 0;
}

void ck_close(void)
{
	for (size_t i = 0; i < path_count; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static const char *new_path(const char *name)
{
	assert_true(path_count < FILES_MAX);
	snprintf(paths[path_count], sizeof(paths[0]), "%s/%s", folder, name);
	return paths[path_count++];
}

const char *ck_file(const char *name, const char *content)
{
	const char *path = new_path(name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(content, out);
	fclose(out);
	return path;
}

static const char measured[] =
	"INSERT INTO run (role, tool, command, clock, ended, exit_status)"
	" VALUES ('trace', 'test', './app', 'CLOCK_BOOTTIME', 'exited', 0);"
	"INSERT INTO device (device, name) VALUES (0, 'Test GPU');"
	"INSERT INTO origin (record, origin) VALUES ('migration', 'measured'), ('fault', 'measured'),"
	" ('fault.host', 'measured'), ('mapping', 'measured'), ('op.time', 'measured'),"
	" ('copy_traffic', 'measured'), ('remote_access', 'absent');";

const char *ck_trace(const char *name, const char *sql)
{
	const char *path = new_path(name);
	struct um_db *db;

	assert_int_equal(um_db_create(&db, path, true), 0);
	if (um_db_exec(db, measured) || um_db_exec(db, sql))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_close(db), 0);
	return path;
}

struct um_check_side ck_side(const char *name, const char *sql)
{
	struct um_check_side side;

	if (um_check_measured_read(&side, ck_trace(name, sql)))
		fail_msg("%s", um_error_message());
	return side;
}

const char ck_two_ranges[] =
	"INSERT INTO op (op, kind, start_ns, end_ns) VALUES (2, 'range', 0, 9000),"
	" (4, 'alloc', 10, 20), (5, 'host', 20, 90), (6, 'launch', 100, 5100), (8, 'range', 9000, 9900),"
	" (10, 'launch', 9100, 9800);"
	"INSERT INTO user_range VALUES (2, 6, 'first'), (8, 10, 'second');"
	"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)"
	" VALUES (6, 'k', 1, 1, 1, 64, 1, 1), (10, 'k', 1, 1, 1, 64, 1, 1);"
	"INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 4);"
	"INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, start_ns)"
	" VALUES (5, -1, 1, 0, 1, 1, 1, 30), (5, -1, 1, 1, 1, 1, 1, 40), (6, 0, 1, 0, 1, 3, 0, 200);"
	"INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code,"
	" transfers, start_ns, duration_ns) VALUES (6, 1, 0, 1, 4096, -1, 0, 0, 1, 300, 1000),"
	" (6, 1, 1, 15, 61440, -1, 0, 6, 1, 1300, 1000);"
	"INSERT INTO mapping (op, device, allocation, first_page, pages, change_code, cause_code, at_ns)"
	" VALUES (10, 0, 1, 0, 1, 0, 4, 9200);";
