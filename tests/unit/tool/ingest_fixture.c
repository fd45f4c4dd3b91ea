#include "ingest_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/umtrace-ingest-XXXXXX";
char ingest_path[64];

int ingest_make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(ingest_path, sizeof(ingest_path), "%s/a.um.db", directory);
	return 0;
}

int ingest_remove_directory(void **state)
{
	(void)state;
	unlink(ingest_path);
	return rmdir(directory);
}

const struct um_run_row ingest_running = {
	.role = "trace",
	.tool = "umtrace test",
	.command = "./app",
	.pid = UM_NULL,
	.rank = UM_NULL,
	.ranks = UM_NULL,
	.clock = "CLOCK_BOOTTIME",
	.end_ns = UM_NULL,
	.ended = "running",
	.exit_status = UM_NULL,
	.exit_signal = UM_NULL,
	.filter_pages = UM_NULL,
	.page_bytes = UM_NULL,
	.memory_bytes = UM_NULL,
};

int ingest_start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return !fixture || um_db_create(&fixture->db, ingest_path, true) ||
	       um_ingest_create(&fixture->ingest, fixture->db, &ingest_running);
}

int ingest_stop(void **state)
{
	struct fixture *fixture = *state;

	um_ingest_destroy(fixture->ingest);
	int error = um_db_close(fixture->db);
	free(fixture);
	return error;
}

/* --- records --- */

void put(struct fixture *fixture, uint16_t kind, const void *body, size_t bytes)
{
	struct um_record *record = (struct um_record *)fixture->record;

	memset(fixture->record, 0, bytes + 16);
	memcpy(fixture->record, body, bytes);
	record->kind = kind;
	record->bytes = (uint32_t)((bytes + 7) & ~(size_t)7);
	assert_int_equal(um_ingest_record(fixture->ingest, record), 0);
}

/* A record that ends with text. */
void put_text(struct fixture *fixture, uint16_t kind, const void *body, size_t bytes,
	      const char *text, size_t text_bytes)
{
	char whole[8192];

	assert_true(bytes + text_bytes <= sizeof(whole));
	memcpy(whole, body, bytes);
	memcpy(whole + bytes, text, text_bytes);
	put(fixture, kind, whole, bytes + text_bytes);
}

void expect(struct fixture *fixture, const char *sql, int64_t wanted)
{
	int64_t got;

	assert_int_equal(um_db_integer(fixture->db, sql, 0, &got), 0);
	if (got != wanted)
		fail_msg("%s: %lld, expected %lld", sql, (long long)got, (long long)wanted);
}

uint64_t invalid(const struct fixture *fixture)
{
	return um_ingest_totals(fixture->ingest)->invalid;
}
