/* Records in, rows out; and records that a program with a wild pointer may have written. */
#include "ingest_fixture.h"

#include "trace/base/error.h"
#include "trace/db/words.h"
#include "trace/spool/access_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void hello(struct fixture *fixture)
{
	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){
		    .spool_version = UM_SPOOL_VERSION,
		    .pid = 77,
		    .backend = UM_BACKEND_EMULATED,
		    .host_watch = UM_HOST_WATCH_WP_ASYNC,
		    .filter_pages = 32,
		    .requests = 1,
		    .start_ns = 1000,
		    .runtime = "a runtime",
	    });
}

static void allocation(struct fixture *fixture, uint32_t id, uint64_t bytes)
{
	const struct um_record_allocation record = {
		.allocation = id, .kind = UM_ALLOCATION_MANAGED, .bytes = bytes, .op = 1};

	put_text(fixture, UM_RECORD_ALLOCATION, &record, sizeof(record), "", 1);
}

static void op(struct fixture *fixture, uint32_t id, uint16_t kind, uint64_t end_ns)
{
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){
		    .op = id, .kind = kind, .thread = 1, .start_ns = 2000, .end_ns = end_ns});
}

static void ready(struct fixture *fixture)
{
	hello(fixture);
	op(fixture, 1, UM_OP_ALLOC, 2001);
	allocation(fixture, 1, 100 * UM_PAGE_BYTES);
	op(fixture, 2, UM_OP_LAUNCH, 0);
}

/* --- right ones --- */

static void the_run_is_described(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, "SELECT count(*) FROM run WHERE ended = 'running' AND pid IS NULL", 1);
	hello(fixture);
	PUT(fixture, UM_RECORD_DEVICE,
	    (struct um_record_device){.memory_bytes = 1 << 20,
				      .compute_units = 110,
				      .wave_lanes = 64,
				      .name = "a card",
				      .arch = "gfx90a"});
	PUT(fixture, UM_RECORD_BYE, (struct um_record_bye){.end_ns = 5000});
	assert_int_equal(
		um_ingest_finish(fixture->ingest, &(struct um_run_row){.ended = "exited",
								       .exit_status = 3,
								       .exit_signal = UM_NULL,
								       .end_ns = 9999}),
		0);
	expect(fixture,
	       "SELECT count(*) FROM run WHERE ended = 'exited' AND exit_status = 3 AND pid = 77 "
	       "AND host_watch = 'wp-async' AND filter_pages = 32 AND start_ns = 1000 AND end_ns = "
	       "5000 AND runtime = 'a runtime' AND backend = 'emulated'",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM device WHERE device = 0 AND name = 'a card' AND arch = "
	       "'gfx90a' AND compute_units = 110 AND wave_lanes = 64 AND link_to_host_bytes_per_s IS NULL",
	       1);
	expect(fixture, "SELECT count(*) FROM loss", 0);
	expect(fixture, "SELECT count(*) FROM origin WHERE origin = 'absent'", 7);
	expect(fixture,
	       "SELECT count(*) FROM origin WHERE record = 'page_access.host' AND origin = "
	       "'measured'",
	       1);
}

static void no_goodbye_is_a_loss(void **state)
{
	struct fixture *fixture = *state;

	hello(fixture);
	assert_int_equal(
		um_ingest_finish(fixture->ingest, &(struct um_run_row){.ended = "signalled",
								       .exit_status = UM_NULL,
								       .exit_signal = 9,
								       .end_ns = 9999}),
		0);
	expect(fixture, "SELECT count(*) FROM loss WHERE kind = 'cut_off'", 1);
	expect(fixture, "SELECT exit_signal FROM run WHERE end_ns = 9999", 9);
}

static void ops_are_completed_later(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 2 AND end_ns IS NULL AND result IS NULL", 1);
	op(fixture, 2, UM_OP_LAUNCH, 3000);
	expect(fixture, "SELECT count(*) FROM op", 2);
	expect(fixture, "SELECT end_ns FROM op WHERE op = 2 AND result = 0", 3000);
	assert_int_equal(um_ingest_totals(fixture->ingest)->launches, 1);
	assert_int_equal(um_ingest_totals(fixture->ingest)->managed_bytes, 100 * UM_PAGE_BYTES);
}

static void ranges_have_a_last_op(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_range range = {.op = 3}, open_range = {.op = 5};

	ready(fixture);
	op(fixture, 3, UM_OP_RANGE, 0);
	put_text(fixture, UM_RECORD_RANGE, &range, offsetof(struct um_record_range, name), "step",
		 5);
	op(fixture, 4, UM_OP_HOST, 2500);
	expect(fixture, "SELECT last_op FROM user_range WHERE name = 'step'", UM_NULL);
	op(fixture, 3, UM_OP_RANGE, 3000);
	op(fixture, 5, UM_OP_RANGE, 0);
	put_text(fixture, UM_RECORD_RANGE, &open_range, offsetof(struct um_record_range, name),
		 "open", 5);
	expect(fixture, "SELECT last_op FROM user_range WHERE name = 'step'", 4);
	expect(fixture, "SELECT end_ns FROM op WHERE op = 3 AND kind = 'range'", 3000);
	expect(fixture, "SELECT count(*) FROM user_range WHERE op = 5 AND last_op IS NULL", 1);
}

static void fields_that_mean_nothing_are_null(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){.op = 3,
				  .kind = UM_OP_ADVISE,
				  .thread = 1,
				  .start_ns = 1,
				  .end_ns = 2,
				  .allocation = 1,
				  .offset = 4096,
				  .bytes = 8192,
				  .device = -1,
				  .advice = 3,
				  .value = 9,
				  .event = 8});
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 3 AND advice = 'preferred_location' AND device "
	       "= "
	       "-1 AND offset_bytes = 4096 AND bytes = 8192 AND value IS NULL AND event IS NULL "
	       "AND "
	       "source_offset_bytes IS NULL",
	       1);
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){.op = 4, .kind = UM_OP_ATTACH, .allocation = 1, .value = 2});
	expect(fixture, "SELECT value FROM op WHERE op = 4", 2);
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 2 AND bytes IS NULL AND advice IS NULL AND "
	       "allocation IS NULL AND site IS NULL",
	       1);
}

static void a_free_is_noted_if_it_worked(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){.op = 3,
				  .kind = UM_OP_FREE,
				  .start_ns = 1,
				  .end_ns = 2,
				  .allocation = 1,
				  .result = 1});
	expect(fixture, "SELECT freed_op FROM allocation", UM_NULL);
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){
		    .op = 4, .kind = UM_OP_FREE, .start_ns = 1, .end_ns = 2, .allocation = 1});
	expect(fixture, "SELECT freed_op FROM allocation", 4);
}

static void put_kernel(struct fixture *fixture, uint32_t id, bool ended, const char *text,
		       size_t bytes)
{
	const struct um_record_kernel record = {.op = id,
						.ended = ended,
						.grid = {2, 1, 1},
						.block = {64, 1, 1},
						.reads = ended ? 128 : 0};

	put_text(fixture, UM_RECORD_KERNEL, &record, offsetof(struct um_record_kernel, name), text,
		 bytes);
}

static void kernel(struct fixture *fixture, uint32_t id, const char *text, size_t bytes)
{
	put_kernel(fixture, id, true, text, bytes);
}

static void a_kernel_is_known_before_it_ends(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	put_kernel(fixture, 2, false, "scale\0", 7);
	expect(fixture, "SELECT count(*) FROM kernel WHERE name = 'scale' AND reads IS NULL", 1);
	kernel(fixture, 2, "scale\0", 7);
	expect(fixture, "SELECT reads FROM kernel", 128);
	assert_int_equal(invalid(fixture), 0);
}

static int64_t ask_another(const char *sql)
{
	struct um_db *reader;
	int64_t answer;

	assert_int_equal(um_db_open(&reader, ingest_path), 0);
	assert_int_equal(um_db_integer(reader, sql, 0, &answer), 0);
	assert_int_equal(um_db_close(reader), 0);
	return answer;
}

/*
 * Whoever reads while it grows, or what a killed umtrace leaves, finds each launch with its kernel.
 */
static void no_launch_is_seen_without_its_kernel(void **state)
{
	static const struct timespec more_than_a_commit = {.tv_nsec = 60000000};
	struct fixture *fixture = *state;

	ready(fixture);
	nanosleep(&more_than_a_commit, NULL);
	assert_int_equal(um_ingest_tick(fixture->ingest), 0);
	assert_int_equal(ask_another("SELECT count(*) FROM op"), 0);
	put_kernel(fixture, 2, false, "scale\0", 7);
	assert_int_equal(ask_another("SELECT count(*) FROM op JOIN kernel USING (op)"), 1);
	assert_int_equal(ask_another("SELECT count(*) FROM origin"), 12);
}

static void names_are_as_in_the_source(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	kernel(fixture, 2, "_Z5scaleIfEvPT_i\0", 18);
	expect(fixture,
	       "SELECT count(*) FROM kernel WHERE name = 'void scale<float>(float*, int)' AND "
	       "symbol "
	       "= '_Z5scaleIfEvPT_i' AND reads = 128",
	       1);
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){
		    .op = 3, .kind = UM_OP_LAUNCH, .flags = UM_OP_UNTRACED, .start_ns = 1});
	kernel(fixture, 3, "plain\0", 7);
	expect(fixture, "SELECT count(*) FROM kernel WHERE name = 'plain' AND reads IS NULL", 1);

	const struct um_record_site site = {.site = 1, .offset = 0x40};
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "/a/b\0_ZN1a1bEv\0", 16);
	expect(fixture,
	       "SELECT offset_bytes FROM frame WHERE module = '/a/b' AND function = 'a::b()' AND "
	       "file IS NULL",
	       0x40);
	assert_int_equal(invalid(fixture), 0);
}

static void sites_are_a_tree(void **state)
{
	struct fixture *fixture = *state;
	struct um_record_site site = {.site = 1};

	ready(fixture);
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "/a/b\0main\0", 11);
	site = (struct um_record_site){.site = 2, .parent = 1};
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "/a/b\0run\0", 10);
	site = (struct um_record_site){.site = 3, .parent = 3};
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "/a/b\0run\0", 10);
	assert_int_equal(invalid(fixture), 1);
	expect(fixture, "SELECT parent FROM site WHERE site = 1", UM_NULL);
	expect(fixture, "SELECT parent FROM site WHERE site = 2", 1);
}

static void strange_text_is_made_readable(void **state)
{
	struct fixture *fixture = *state;
	static const char text[] = "a\x1b[31m\xff\xc3\xa9\xc3\n\xed\xa0\x80\0";

	ready(fixture);
	kernel(fixture, 2, text, sizeof(text));
	expect(fixture,
	       "SELECT count(*) FROM kernel WHERE name = "
	       "'a?[31m?\xc3\xa9' || printf('%.5c', '?')",
	       1);
}

static void page(struct fixture *fixture, uint32_t id, struct um_page_run run)
{
	union {
		struct um_record_pages pages;
		char bytes[sizeof(struct um_record_pages) + sizeof(struct um_page_run)];
	} record = {.pages = {.op = id, .runs = 1}};

	record.pages.run[0] = run;
	PUT(fixture, UM_RECORD_PAGES, record);
}

static void accesses_are_kept(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	page(fixture, 2,
	     (struct um_page_run){.allocation = 1,
				  .pages = 100,
				  .touch = UM_TOUCH_READ,
				  .lines_read = 1ull << 63,
				  .requests = 5});
	op(fixture, 3, UM_OP_HOST, 2001);
	page(fixture, 3,
	     (struct um_page_run){.allocation = 1,
				  .first_page = 99,
				  .pages = 1,
				  .touch = UM_TOUCH_WRITTEN | UM_TOUCH_LINES_UNKNOWN});
	expect(fixture,
	       "SELECT pages FROM page_access WHERE op = 2 AND requests = 5 AND lines_read = "
	       "-9223372036854775807 - 1 AND lines_written = 0",
	       100);
	expect(fixture,
	       "SELECT first_page FROM page_access WHERE op = 3 AND requests IS NULL AND "
	       "lines_read "
	       "IS NULL",
	       99);
	assert_int_equal(invalid(fixture), 0);
	assert_int_equal(um_ingest_totals(fixture->ingest)->invalid_rows, 0);
}

static void host_accesses(struct fixture *fixture, uint32_t id, struct um_host_access_run run)
{
	union {
		struct um_record_host_access accesses;
		char bytes[sizeof(struct um_record_host_access) + sizeof(run)];
	} record = {.accesses = {.op = id, .runs = 1}};

	record.accesses.run[0] = run;
	PUT(fixture, UM_RECORD_HOST_ACCESS, record);
}

/* By --host-sync; what is not within an allocation, of no site or no such access is not kept. */
static void host_accesses_are_kept(void **state)
{
	static const struct um_host_access_run wrong[] = {
		{.allocation = 1, .first_page = 99, .pages = 2, .touch = 1},
		{.allocation = 1, .pages = 0, .touch = 1},
		{.allocation = 2, .pages = 1, .touch = 1},
		{.allocation = 1, .pages = 1, .access = 2, .touch = 1},
		{.allocation = 1, .first_page = 5, .pages = 1, .site = 9, .touch = 1},
		{.allocation = 1, .first_page = 3, .pages = 1, .access = 1, .touch = 4}, /* again */
	};
	struct fixture *fixture = *state;

	ready(fixture);
	op(fixture, 3, UM_OP_HOST, 2001);
	put_text(fixture, UM_RECORD_SITE, &(struct um_record_site){.site = 1, .offset = 7},
		 sizeof(struct um_record_site), "app\0", 5);
	host_accesses(fixture, 3,
		      (struct um_host_access_run){.allocation = 1,
						  .first_page = 3,
						  .pages = 97,
						  .access = UM_FAULT_WRITE,
						  .site = 1,
						  .touch = 12});
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		host_accesses(fixture, 3, wrong[i]);
	expect(fixture,
	       "SELECT pages FROM host_access WHERE op = 3 AND access = 'write' AND site = 1 AND "
	       "touch = 12",
	       97);
	expect(fixture, "SELECT count(*) FROM host_access", 1);
	assert_int_equal(um_ingest_totals(fixture->ingest)->invalid_rows,
			 sizeof(wrong) / sizeof(*wrong));
	PUT(fixture, UM_RECORD_HOST_ACCESS,
	    (struct um_record_host_access){.op = 3, .runs = UINT32_MAX});
	PUT(fixture, UM_RECORD_HOST_ACCESS, (struct um_record_host_access){.op = 4});
	assert_int_equal(invalid(fixture), 2);
}

union stream {
	struct um_record_stream head;
	char bytes[sizeof(struct um_record_stream) + UM_STREAM_PAYLOAD_MAX];
};

/* A chunk of groups 4 to 7 that each read two pages. */
static void make_stream(union stream *stream, uint32_t allocation_id, uint32_t first_page)
{
	struct um_stream_encoder encoder;

	memset(stream, 0, sizeof(*stream));
	um_stream_encoder_init(&encoder, stream->head.payload);
	for (uint64_t group = 4; group < 8; group++)
		for (uint32_t i = 0; i < 2; i++)
			assert_true(um_stream_put(&encoder, group, allocation_id, first_page + i,
						  false));
	um_stream_finish(&encoder);
	stream->head.op = 2;
	stream->head.first_group = encoder.first_group;
	stream->head.last_group = encoder.last_group;
	stream->head.touches = encoder.touches;
	stream->head.payload_bytes = (uint32_t)encoder.used;
}

static void put_stream(struct fixture *fixture, const union stream *stream)
{
	put(fixture, UM_RECORD_STREAM, stream, sizeof(stream->head) + 64);
}

static int check_chunk(const void *row, void *context)
{
	const struct um_access_chunk_row *chunk = row;
	const union stream *stream = context;
	unsigned char *payload;

	assert_int_equal(chunk->payload_bytes, stream->head.payload_bytes);
	assert_int_equal(um_db_chunk_payload(chunk, &payload), 0);
	assert_memory_equal(payload, stream->head.payload, stream->head.payload_bytes);
	free(payload);
	return 0;
}

static void streams_are_packed(void **state)
{
	struct fixture *fixture = *state;
	union stream *stream = malloc(sizeof(*stream));

	ready(fixture);
	make_stream(stream, 1, 98);
	put_stream(fixture, stream);
	expect(fixture,
	       "SELECT touches FROM access_chunk WHERE op = 2 AND chunk = 0 AND first_group = 4 "
	       "AND "
	       "last_group = 7",
	       8);
	assert_int_equal(
		um_db_each(fixture->db, &um_table_access_chunk, NULL, 0, check_chunk, stream), 0);
	free(stream);
}

static void losses_are_kept(void **state)
{
	struct fixture *fixture = *state;
	struct um_record_loss loss = {.kind = UM_LOSS_UNSUPPORTED, .count = 3};

	ready(fixture);
	put_text(fixture, UM_RECORD_LOSS, &loss, sizeof(loss), "hipFoo", 7);
	loss.kind = 999;
	put_text(fixture, UM_RECORD_LOSS, &loss, sizeof(loss), "", 1);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'unsupported' AND detail = 'hipFoo'",
	       3);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'loss_999' AND detail IS NULL", 3);
}

static void kinds_of_later_versions_are_skipped(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	PUT(fixture, 200, (struct um_record_op){.op = 9});
	PUT(fixture, UM_RECORD_PAD, (struct um_record_op){.op = 9});
	assert_int_equal(invalid(fixture), 0);
	expect(fixture, "SELECT count(*) FROM op", 2);
}

static void what_is_too_much_to_count_is_not_known(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	page(fixture, 2,
	     (struct um_page_run){.allocation = 1,
				  .pages = 1,
				  .touch = UM_TOUCH_READ,
				  .lines_read = 1,
				  .requests = UINT32_MAX});
	expect(fixture, "SELECT count(*) FROM page_access WHERE requests IS NULL", 1);
	assert_int_equal(um_ingest_finish(fixture->ingest, &ingest_running), 0);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'uncounted' AND op IS NULL", 1);
}

/* --- wrong ones: each is counted, and nothing of it stays --- */

static void nothing_before_hello(void **state)
{
	struct fixture *fixture = *state;

	op(fixture, 1, UM_OP_ALLOC, 2001);
	assert_int_equal(invalid(fixture), 1);
	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){.spool_version = UM_SPOOL_VERSION + 1, .backend = 1});
	assert_int_equal(invalid(fixture), 2);
	hello(fixture);
	hello(fixture);
	assert_int_equal(invalid(fixture), 3);
	expect(fixture, "SELECT count(*) FROM op", 0);
}

static void short_records_are_refused(void **state)
{
	static const size_t bytes[] = {
		[UM_RECORD_DEVICE] = sizeof(struct um_record_device),
		[UM_RECORD_SITE] = sizeof(struct um_record_site),
		[UM_RECORD_ALLOCATION] = sizeof(struct um_record_allocation),
		[UM_RECORD_OP] = sizeof(struct um_record_op),
		[UM_RECORD_KERNEL] = sizeof(struct um_record_kernel),
		[UM_RECORD_PAGES] = sizeof(struct um_record_pages),
		[UM_RECORD_STREAM] = sizeof(struct um_record_stream),
		[UM_RECORD_LOSS] = sizeof(struct um_record_loss),
		[UM_RECORD_BYE] = sizeof(struct um_record_bye),
	};
	struct fixture *fixture = *state;
	static const char zeros[256];
	uint64_t expected = 0;

	ready(fixture);
	for (uint16_t kind = UM_RECORD_DEVICE; kind <= UM_RECORD_BYE; kind++) {
		put(fixture, kind, zeros, bytes[kind] - 8);
		assert_int_equal(invalid(fixture), ++expected);
	}
}

static void text_needs_its_end(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_site site = {.site = 1};

	ready(fixture);
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "eightcha", 8);
	put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), "module\0x", 8);
	assert_int_equal(invalid(fixture), 2);
	expect(fixture, "SELECT count(*) FROM frame", 0);
}

static void ids_must_be_possible(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	op(fixture, 0, UM_OP_LAUNCH, 0);
	op(fixture, 3, 0, 0);
	op(fixture, 3, UM_OP_KINDS, 0);
	op(fixture, 3, UM_OP_LAUNCH, 1999); /* ends before it starts */
	op(fixture, 3, UM_OP_LAUNCH, UINT64_MAX);
	allocation(fixture, 0, 1);
	allocation(fixture, 1, 1);
	allocation(fixture, 2, UINT64_MAX);
	kernel(fixture, 0, "a\0", 3);
	kernel(fixture, 3, "a\0", 3);
	assert_int_equal(invalid(fixture), 10);
	kernel(fixture, 2, "a\0", 3);
	put_kernel(fixture, 2, false, "a\0", 3); /* begins when it has ended */
	assert_int_equal(invalid(fixture), 11);
	expect(fixture, "SELECT count(*) FROM op", 2);
	expect(fixture, "SELECT count(*) FROM allocation", 1);
}

static void refused_calls_may_ask_for_anything(void **state)
{
	struct um_record_op huge = {.op = 3,
				    .kind = UM_OP_ALLOC,
				    .start_ns = 1,
				    .end_ns = 2,
				    .result = 2,
				    .bytes = UINT64_MAX};
	struct fixture *fixture = *state;

	ready(fixture);
	PUT(fixture, UM_RECORD_OP, huge);
	assert_int_equal(invalid(fixture), 0);
	expect(fixture, "SELECT result FROM op WHERE op = 3 AND bytes IS NULL", 2);
	huge.op = 4;
	huge.result = 0;
	PUT(fixture, UM_RECORD_OP, huge);
	assert_int_equal(invalid(fixture), 1);
}

static void page_runs_must_be_possible(void **state)
{
	static const struct um_page_run wrong[] = {
		{.allocation = 2, .pages = 1, .touch = 1, .lines_read = 1},
		{.allocation = 1, .pages = 0, .touch = 1, .lines_read = 1},
		{.allocation = 1, .pages = 101, .touch = 1, .lines_read = 1},
		{.allocation = 1,
		 .first_page = UINT32_MAX,
		 .pages = UINT32_MAX,
		 .touch = 1,
		 .lines_read = 1},
		{.allocation = 1, .pages = 1, .touch = 0},
		{.allocation = 1, .pages = 1, .touch = 16 + 1, .lines_read = 1},
		{.allocation = 1, .pages = 1, .touch = 64 + 1, .lines_read = 1},
		{.allocation = 1, .pages = 1, .touch = 32 + 3, .lines_read = 1, .lines_written = 1},
		{.allocation = 1, .pages = 1, .touch = 1, .lines_read = 1, .lines_written = 1},
		{.allocation = 1, .pages = 1, .touch = 3, .lines_read = 1},
	};
	struct fixture *fixture = *state;
	size_t count = sizeof(wrong) / sizeof(*wrong);

	ready(fixture);
	for (size_t i = 0; i < count; i++)
		page(fixture, 2, wrong[i]);
	assert_int_equal(um_ingest_totals(fixture->ingest)->invalid_rows, count);
	PUT(fixture, UM_RECORD_PAGES, (struct um_record_pages){.op = 2, .runs = UINT32_MAX});
	PUT(fixture, UM_RECORD_PAGES, (struct um_record_pages){.op = 3});
	assert_int_equal(invalid(fixture), 2);
	expect(fixture, "SELECT count(*) FROM page_access", 0);

	assert_int_equal(um_ingest_finish(fixture->ingest, &ingest_running), 0);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'invalid_record'", (int64_t)count + 2);
}

static void streams_must_be_possible(void **state)
{
	struct fixture *fixture = *state;
	union stream *stream = malloc(sizeof(*stream));

	ready(fixture);
	make_stream(stream, 1, 99); /* beyond the last page */
	put_stream(fixture, stream);
	make_stream(stream, 2, 0); /* of no allocation */
	put_stream(fixture, stream);
	make_stream(stream, 1, 0);
	stream->head.touches++;
	put_stream(fixture, stream);
	stream->head.touches--;
	stream->head.last_group--;
	put_stream(fixture, stream);
	stream->head.last_group++;
	stream->head.payload_bytes = 65; /* than the record has */
	put_stream(fixture, stream);
	make_stream(stream, 1, 0);
	stream->head.payload[0] = 0; /* a run of no allocation */
	put_stream(fixture, stream);
	assert_int_equal(invalid(fixture), 6);
	expect(fixture, "SELECT count(*) FROM access_chunk", 0);
	make_stream(stream, 1, 0);
	put_stream(fixture, stream);
	put_stream(fixture, stream); /* a second time */
	assert_int_equal(invalid(fixture), 7);
	free(stream);
}

/* Any bytes behind a header that the ring lets pass. */
static void random_records_do_no_harm(void **state)
{
	struct fixture *fixture = *state;
	struct um_record *record = (struct um_record *)fixture->record;
	unsigned seed = 3;

	ready(fixture);
	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes = 8 + 8 * (size_t)(rand_r(&seed) % 64);

		for (size_t i = 0; i < bytes; i++)
			fixture->record[i] = (char)(rand_r(&seed) % (round % 2 ? 256 : 4));
		record->bytes = (uint32_t)bytes;
		record->kind = (uint16_t)(rand_r(&seed) % 13);
		assert_int_equal(um_ingest_record(fixture->ingest, record), 0);
	}
	assert_int_equal(um_ingest_finish(fixture->ingest, &ingest_running), 0);
	expect(fixture, "SELECT count(*) FROM run", 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ingest_start, ingest_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_run_is_described),
		TEST(no_goodbye_is_a_loss),
		TEST(ops_are_completed_later),
		TEST(ranges_have_a_last_op),
		TEST(fields_that_mean_nothing_are_null),
		TEST(a_free_is_noted_if_it_worked),
		TEST(a_kernel_is_known_before_it_ends),
		TEST(no_launch_is_seen_without_its_kernel),
		TEST(names_are_as_in_the_source),
		TEST(sites_are_a_tree),
		TEST(strange_text_is_made_readable),
		TEST(accesses_are_kept),
		TEST(host_accesses_are_kept),
		TEST(streams_are_packed),
		TEST(losses_are_kept),
		TEST(what_is_too_much_to_count_is_not_known),
		TEST(kinds_of_later_versions_are_skipped),
		TEST(nothing_before_hello),
		TEST(short_records_are_refused),
		TEST(text_needs_its_end),
		TEST(ids_must_be_possible),
		TEST(refused_calls_may_ask_for_anything),
		TEST(page_runs_must_be_possible),
		TEST(streams_must_be_possible),
		TEST(random_records_do_no_harm),
	};

	return cmocka_run_group_tests(tests, ingest_make_directory, ingest_remove_directory);
}
