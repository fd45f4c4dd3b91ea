/* Files that are traces, files that are not, and files that cannot be written. */
#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/umtrace-db-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.um.db", directory);
	return 0;
}

static void remove_files(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	char name[128];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

static int remove_directory(void **state)
{
	(void)state;
	remove_files();
	return rmdir(directory);
}

static int start_afresh(void **state)
{
	(void)state;
	remove_files();
	rmdir(path);
	return 0;
}

static bool is_there(const char *suffix)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return access(name, F_OK) == 0;
}

static void expect_message(const char *part)
{
	if (!strstr(um_error_message(), part))
		fail_msg("'%s' lacks '%s'", um_error_message(), part);
}

static void write_file(const void *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static int insert_sites(struct um_db *db, int64_t first, int64_t count)
{
	for (int64_t site = first; site < first + count; site++) {
		struct um_frame_row row = {
			.site = site, .module = "a module name of some length", .line = UM_NULL};
		int error = um_db_insert(db, &um_table_frame, &row);

		if (error)
			return error;
	}
	return 0;
}

static int64_t count_sites(struct um_db *db)
{
	int64_t rows;

	assert_int_equal(um_db_integer(db, "SELECT count(*) FROM frame", 0, &rows), 0);
	return rows;
}

static void make_trace(int64_t sites)
{
	struct um_db *db;

	assert_int_equal(um_db_create(&db, path, false), 0);
	assert_int_equal(um_db_begin(db), 0);
	assert_int_equal(insert_sites(db, 1, sites), 0);
	assert_int_equal(um_db_close(db), 0);
}

static void a_closed_trace_is_one_file(void **state)
{
	struct um_db *db;

	(void)state;
	make_trace(100);
	assert_false(is_there("-wal"));
	assert_false(is_there("-shm"));
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(count_sites(db), 100);
	assert_int_equal(um_db_insert(db, &um_table_site, &(struct um_site_row){1, UM_NULL}),
			 UM_EIO);
	expect_message("cannot be written");
	assert_int_equal(um_db_close(db), UM_EIO);
	assert_int_equal(um_db_open_rw(&db, path), 0);
	assert_int_equal(insert_sites(db, 101, 10), 0);
	assert_int_equal(um_db_close(db), 0);
	assert_false(is_there("-wal"));
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(count_sites(db), 110);
	assert_int_equal(um_db_close(db), 0);
}

static void a_growing_trace_can_be_read(void **state)
{
	struct um_db *writer, *reader;

	(void)state;
	assert_int_equal(um_db_create(&writer, path, false), 0);
	assert_int_equal(um_db_begin(writer), 0);
	assert_int_equal(insert_sites(writer, 1, 10), 0);
	assert_int_equal(um_db_open(&reader, path), 0);
	assert_int_equal(count_sites(reader), 0);
	assert_int_equal(um_db_commit(writer), 0);
	assert_int_equal(count_sites(reader), 10);
	/* The reader keeps the log; what was written is safe all the same. */
	assert_int_equal(um_db_close(writer), 0);
	assert_int_equal(um_db_close(reader), 0);
	assert_int_equal(um_db_open(&reader, path), 0);
	assert_int_equal(count_sites(reader), 10);
	assert_int_equal(um_db_close(reader), 0);
}

static void nothing_is_overwritten(void **state)
{
	struct um_db *db;

	(void)state;
	make_trace(3);
	assert_int_equal(um_db_create(&db, path, false), UM_EEXIST);
	expect_message("exists");
	assert_int_equal(um_db_create(&db, path, true), 0);
	assert_int_equal(count_sites(db), 0);
	assert_int_equal(um_db_close(db), 0);

	write_file("my thesis", 9);
	assert_int_equal(um_db_create(&db, path, true), UM_EEXIST);
	expect_message("not a trace");
	write_file("", 0);
	assert_int_equal(um_db_create(&db, path, true), 0);
	assert_int_equal(um_db_close(db), 0);

	remove_files();
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(um_db_create(&db, path, true), UM_EEXIST);
	expect_message("not a regular file");
}

/* Runs `body` in a process of its own and kills it when it says so. */
static void run_and_kill(void (*body)(int ready))
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ready[0]);
		body(ready[1]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	ssize_t got = read(ready[0], &byte, 1);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ready[0]);
	assert_int_equal(got, 1);
}

static void write_and_wait(int ready)
{
	struct um_db *db;

	if (um_db_create(&db, path, false) == 0 && um_db_begin(db) == 0 &&
	    insert_sites(db, 1, 5000) == 0 && um_db_commit(db) == 0 && um_db_begin(db) == 0 &&
	    insert_sites(db, 5001, 5000) == 0)
		(void)!write(ready, "", 1);
}

static void a_killed_writer_leaves_what_it_committed(void **state)
{
	struct um_db *db;

	(void)state;
	run_and_kill(write_and_wait);
	assert_true(is_there("-wal"));
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(count_sites(db), 5000);
	assert_int_equal(um_db_close(db), 0);
	/* Closing has folded the log. */
	assert_false(is_there("-wal"));
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(count_sites(db), 5000);
	assert_int_equal(um_db_close(db), 0);
}

static void a_log_without_its_index_is_read(void **state)
{
	char index[128];
	struct um_db *db;

	(void)state;
	run_and_kill(write_and_wait);
	snprintf(index, sizeof(index), "%s-shm", path);
	/* Nor can it be made again: what a full disk does. */
	assert_int_equal(unlink(index), 0);
	assert_int_equal(mkdir(index, 0700), 0);
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(count_sites(db), 5000);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(rmdir(index), 0);
}

static void a_trace_in_use_is_not_replaced(void **state)
{
	int ready[2], done[2];
	char byte;
	struct um_db *db;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ready[0]);
		close(done[1]);
		if (um_db_create(&db, path, false) == 0)
			(void)!write(ready[1], "", 1);
		(void)!read(done[0], &byte, 1);
		_exit(0);
	}
	close(ready[1]);
	close(done[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(um_db_create(&db, path, true), UM_EEXIST);
	char expected[64];
	snprintf(expected, sizeof(expected), "in use by process %ld", (long)child);
	expect_message(expected);
	close(done[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ready[0]);
}

/* --- several at once --- */

#define RACERS 6

struct race {
	int go[2], won[2],
		over[2]; /* pipes: closed to start, a byte of each winner, closed to end */
};

/* In a child: one try for the name; whoever has it holds it until all have tried. */
static void run_racer(struct race *race, int number)
{
	struct um_db *db;
	char byte = (char)number;

	close(race->go[1]);
	close(race->over[1]);
	(void)!read(race->go[0], &byte, 1);
	byte = (char)number;
	bool has = um_db_create(&db, path, true) == 0;
	if (has) {
		struct um_site_row row = {.site = number, .parent = UM_NULL};

		has = um_db_insert(db, &um_table_site, &row) == 0;
		(void)!write(race->won[1], &byte, 1);
	}
	close(race->won[1]);
	(void)!read(race->over[0], &byte, 1);
	if (has)
		has = um_db_close(db) == 0;
	_exit(has ? 0 : 1);
}

static void of_several_at_once_one_has_the_name(void **state)
{
	struct race race;
	struct um_db *db;
	char winner = 0, other;
	pid_t children[RACERS];

	(void)state;
	/* An older trace that makes way. */
	assert_int_equal(um_db_create(&db, path, false), 0);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(pipe(race.go) | pipe(race.won) | pipe(race.over), 0);
	for (int i = 0; i < RACERS; i++) {
		children[i] = fork();
		if (children[i] == 0)
			run_racer(&race, i + 1);
	}
	close(race.go[0]);
	close(race.go[1]);
	close(race.won[1]);
	assert_int_equal(read(race.won[0], &winner, 1), 1);
	assert_int_equal(read(race.won[0], &other, 1), 0);
	close(race.over[1]);
	for (int i = 0; i < RACERS; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(WEXITSTATUS(status), i + 1 == winner ? 0 : 1);
	}
	close(race.won[0]);
	close(race.over[0]);
	int64_t site = 0;
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(um_db_integer(db, "SELECT site FROM site", 0, &site), 0);
	assert_int_equal(site, winner);
	assert_int_equal(um_db_close(db), 0);
}

static int refuse(const char *name, void *context)
{
	assert_string_equal(name, path);
	++*(int *)context;
	return um_fail(UM_EEXIST, "kept");
}

static int allow(const char *name, void *context)
{
	(void)name;
	++*(int *)context;
	return 0;
}

static void a_trace_may_be_kept(void **state)
{
	struct um_db *db;
	int asked = 0;

	(void)state;
	assert_int_equal(um_db_create_over(&db, path, refuse, &asked), 0);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(asked, 0); /* there was none */
	assert_int_equal(um_db_create_over(&db, path, refuse, &asked), UM_EEXIST);
	expect_message("kept");
	assert_int_equal(asked, 1);
	assert_int_equal(um_db_create_over(&db, path, allow, &asked), 0);
	assert_int_equal(asked, 2);
	assert_int_equal(um_db_close(db), 0);
	remove_files();
	write_file("", 0);
	assert_int_equal(um_db_create_over(&db, path, refuse, &asked), 0);
	assert_int_equal(asked, 2);
	assert_int_equal(um_db_close(db), 0);
}

static void expect_refusal(int error, const char *part)
{
	struct um_db *db;

	assert_int_equal(um_db_open(&db, path), error);
	assert_null(db);
	expect_message(part);
	assert_int_equal(um_db_open_rw(&db, path), error);
	assert_null(db);
}

static void what_is_no_trace_is_said(void **state)
{
	sqlite3 *raw;

	(void)state;
	expect_refusal(UM_ENOENT, "no such file");
	write_file("", 0);
	expect_refusal(UM_EFORMAT, "empty");
	write_file("hello, world, I am not a database at all", 40);
	expect_refusal(UM_EFORMAT, "not an SQLite database");
	remove_files();
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refusal(UM_EFORMAT, "not a regular file");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refusal(UM_EFORMAT, "not a regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	sqlite3_exec(raw, "CREATE TABLE bookmarks (url)", NULL, NULL, NULL);
	sqlite3_close(raw);
	expect_refusal(UM_EFORMAT, "another application");
}

static void change(const char *sql)
{
	sqlite3 *raw;

	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(raw);
}

static void other_versions_are_said(void **state)
{
	(void)state;
	make_trace(1);
	change("PRAGMA user_version = 9");
	expect_refusal(UM_EVERSION, "schema version 9, this one reads up to 8");
	change("PRAGMA user_version = 0");
	expect_refusal(UM_EFORMAT, "without a schema version");
}

static void missing_parts_are_said(void **state)
{
	(void)state;
	make_trace(1);
	change("DROP TABLE loss; CREATE VIEW loss AS SELECT 0 AS op, 'x' AS kind, 1 AS count, "
	       "NULL AS detail");
	expect_refusal(UM_EFORMAT, "no table 'loss'");
	remove_files();
	make_trace(1);
	change("ALTER TABLE op DROP COLUMN flags");
	expect_refusal(UM_EFORMAT, "'op' has no column 'flags'");
}

static int see_old_loss(const void *row, void *context)
{
	const struct um_loss_row *loss = row;

	assert_string_equal(loss->kind, "outside");
	assert_null(loss->record);
	assert_null(loss->detail);
	assert_int_equal(loss->start_ns, UM_NULL);
	assert_int_equal(loss->count, ++*(int64_t *)context);
	return 0;
}

/* As if those columns had been added after it was written. */
static void what_an_older_file_lacks_is_null(void **state)
{
	struct um_db *db;
	int64_t losses = 0, places;

	(void)state;
	make_trace(3);
	change("INSERT INTO loss (kind, count) VALUES ('outside', 1), ('outside', 2);"
	       "ALTER TABLE loss DROP COLUMN record; ALTER TABLE loss DROP COLUMN start_ns;"
	       "ALTER TABLE loss DROP COLUMN detail; ALTER TABLE frame DROP COLUMN line");
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(um_db_each(db, &um_table_loss, NULL, 0, see_old_loss, &losses), 0);
	assert_int_equal(losses, 2);
	assert_int_equal(count_sites(db), 3);
	assert_int_equal(
		um_db_integer(db, "SELECT count(*) FROM frame WHERE line IS NULL", 0, &places), 0);
	assert_int_equal(places, 3);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open_rw(&db, path), UM_EVERSION);
	expect_message("older umtrace");
}

static int see_no_row(const void *row, void *context)
{
	(void)row;
	(void)context;
	fail_msg("a table that is not there has a row");
	return 0;
}

/* As the first version was: without the tables that the second brought. */
static void tables_that_came_later_are_empty(void **state)
{
	struct um_db *db;
	int64_t rows;

	(void)state;
	make_trace(3);
	change("DROP TABLE driver_event; DROP TABLE bound");
	expect_refusal(UM_EFORMAT, "no table 'driver_event'");
	change("PRAGMA user_version = 1");
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(um_db_each(db, &um_table_driver_event, NULL, 0, see_no_row, NULL), 0);
	assert_int_equal(um_db_each(db, &um_table_bound, "value > ?", 0, see_no_row, NULL), 0);
	assert_int_equal(um_db_integer(db, "SELECT count(*) FROM bound", 0, &rows), 0);
	assert_int_equal(rows, 0);
	assert_int_equal(count_sites(db), 3);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open_rw(&db, path), UM_EVERSION);
	expect_message("older umtrace");
	/* What was always there must be. */
	change("DROP TABLE loss");
	expect_refusal(UM_EFORMAT, "no table 'loss'");
}

static int see_nothing(const void *row, void *context)
{
	(void)row;
	(void)context;
	return 0;
}

/* At every length: refused, or read without a crash. */
static void cut_off_traces_are_said(void **state)
{
	struct stat status;
	struct um_db *db;

	(void)state;
	make_trace(2000);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size - 1), 0);
	expect_refusal(UM_EFORMAT, "cut off");
	for (off_t bytes = status.st_size - 4096; bytes > 0; bytes -= 4096) {
		assert_int_equal(truncate(path, bytes), 0);
		expect_refusal(UM_EFORMAT, "cut off");
	}
	assert_int_equal(truncate(path, 60), 0);
	expect_refusal(UM_EFORMAT, "cut off");
	assert_int_equal(truncate(path, 10), 0);
	assert_int_equal(um_db_open(&db, path), UM_EFORMAT);
}

static void damaged_traces_are_said(void **state)
{
	struct stat status;
	unsigned seed = 5;

	(void)state;
	make_trace(2000);
	assert_int_equal(stat(path, &status), 0);
	unsigned char *good = malloc((size_t)status.st_size), *bad = malloc((size_t)status.st_size);
	FILE *file = fopen(path, "rb");
	assert_non_null(good);
	assert_non_null(bad);
	assert_non_null(file);
	assert_int_equal(fread(good, 1, (size_t)status.st_size, file), status.st_size);
	fclose(file);
	for (unsigned round = 0; round < 200; round++) {
		struct um_db *db;

		memcpy(bad, good, (size_t)status.st_size);
		for (unsigned i = 0; i < 1u << round % 12; i++)
			bad[100 + (size_t)rand_r(&seed) % ((size_t)status.st_size - 100)] =
				(unsigned char)rand_r(&seed);
		write_file(bad, (size_t)status.st_size);
		if (um_db_open(&db, path) != 0)
			continue;
		for (const struct um_table *const *table = um_tables; *table; table++)
			um_db_each(db, *table, NULL, 0, see_nothing, NULL);
		assert_int_equal(um_db_close(db), 0);
	}
	free(good);
	free(bad);
}

/* In a process of its own, for its limit on the size of files. Returns the close's error. */
static int write_until_full(rlim_t bytes)
{
	struct um_db *db;
	int error = 0;

	if (um_db_create(&db, path, false) != 0)
		return 100;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
	for (int64_t i = 0; i < 1000 && error == 0; i++) {
		error = um_db_begin(db);
		if (error == 0)
			error = insert_sites(db, 1 + 1000 * i, 1000);
		if (error == 0)
			error = um_db_commit(db);
	}
	if (error != UM_EIO || !strstr(um_error_message(), "ulimit -f"))
		return 101;
	if (um_db_close(db) != UM_EIO || !strstr(um_error_message(), "ulimit -f"))
		return 102;
	return 0;
}

static void a_full_disk_keeps_what_was_written(void **state)
{
	static const rlim_t limits[] = {200 << 10, 1 << 20, 3 << 20, 10 << 20};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct um_db *db;
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(write_until_full(limits[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(um_db_open(&db, path), 0);
		assert_int_equal(count_sites(db) % 1000, 0);
		assert_true(count_sites(db) > 0);
		assert_int_equal(um_db_close(db), 0);
		remove_files();
	}
}

static void places_that_cannot_be_written_are_said(void **state)
{
	struct um_db *db;

	(void)state;
	assert_int_equal(um_db_create(&db, "/proc/umtrace.um.db", false), UM_EIO);
	expect_message("/proc/umtrace.um.db cannot be written");
	assert_int_equal(um_db_create(&db, "/no/such/folder/a.um.db", false), UM_EIO);
	expect_message("No such file or directory");
	assert_null(db);
}

static void transactions_nest_without_effect(void **state)
{
	struct um_db *db;

	(void)state;
	assert_int_equal(um_db_create(&db, path, false), 0);
	assert_int_equal(um_db_commit(db), 0);
	assert_int_equal(um_db_begin(db), 0);
	assert_int_equal(um_db_begin(db), 0);
	assert_int_equal(insert_sites(db, 1, 5), 0);
	assert_int_equal(um_db_commit(db), 0);
	assert_int_equal(count_sites(db), 5);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_close(NULL), 0);
}

#define FRESH(test) cmocka_unit_test_setup(test, start_afresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(a_closed_trace_is_one_file),
		FRESH(a_growing_trace_can_be_read),
		FRESH(nothing_is_overwritten),
		FRESH(a_killed_writer_leaves_what_it_committed),
		FRESH(a_log_without_its_index_is_read),
		FRESH(a_trace_in_use_is_not_replaced),
		FRESH(of_several_at_once_one_has_the_name),
		FRESH(a_trace_may_be_kept),
		FRESH(what_is_no_trace_is_said),
		FRESH(other_versions_are_said),
		FRESH(missing_parts_are_said),
		FRESH(what_an_older_file_lacks_is_null),
		FRESH(tables_that_came_later_are_empty),
		FRESH(cut_off_traces_are_said),
		FRESH(damaged_traces_are_said),
		FRESH(a_full_disk_keeps_what_was_written),
		FRESH(places_that_cannot_be_written_are_said),
		FRESH(transactions_nest_without_effect),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
