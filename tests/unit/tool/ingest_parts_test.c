/* Parts that a program named: how long each lives, and what cannot be. */
#include "ingest_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

static uint32_t last_op;

static void put_op(struct fixture *fixture, uint16_t kind, uint32_t allocation, uint64_t offset,
		   uint64_t bytes)
{
	last_op++;
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){.op = last_op,
				  .kind = kind,
				  .start_ns = 10 * last_op,
				  .end_ns = 10 * last_op + 5,
				  .allocation = allocation,
				  .offset = offset,
				  .bytes = bytes});
}

static void allocate(struct fixture *fixture, uint32_t allocation, uint64_t bytes)
{
	put_op(fixture, UM_OP_ALLOC, allocation, 0, bytes);
	put_text(fixture, UM_RECORD_ALLOCATION,
		 &(struct um_record_allocation){.allocation = allocation,
						.kind = UM_ALLOCATION_MANAGED,
						.address = 0x10000000ull * allocation,
						.bytes = bytes,
						.op = last_op},
		 sizeof(struct um_record_allocation), "was", 4);
}

static void put_part(struct fixture *fixture, uint32_t allocation, uint64_t offset, uint64_t bytes,
		     uint32_t whole, const char *name)
{
	put_text(fixture, UM_RECORD_PART,
		 &(struct um_record_part){.op = last_op,
					  .allocation = allocation,
					  .offset = offset,
					  .bytes = bytes,
					  .whole = whole},
		 sizeof(struct um_record_part), name, strlen(name) + 1);
}

static void name(struct fixture *fixture, uint64_t offset, uint64_t bytes, const char *text)
{
	put_op(fixture, UM_OP_NAME, 1, offset, bytes);
	put_part(fixture, 1, offset, bytes, 0, text);
}

static void unname(struct fixture *fixture, uint64_t offset)
{
	put_op(fixture, UM_OP_NAME_END, 1, offset, 0);
}

static void begin(struct fixture *fixture)
{
	last_op = 0;
	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){.spool_version = UM_SPOOL_VERSION,
				     .backend = UM_BACKEND_EMULATED});
	allocate(fixture, 1, 64 * PAGE); /* op 1 */
}

/* "a 2-5, b 3-" in the order of the names' ops. */
static void expect_lives(struct fixture *fixture, const char *wanted)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SELECT (SELECT group_concat(name || ' ' || op || '-' || COALESCE(end_op, ''), "
		 "', ') FROM (SELECT * FROM part ORDER BY op)) = '%s'",
		 wanted);
	expect(fixture, sql, 1);
}

static void a_place_is_used_again(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	name(fixture, 0, PAGE, "a");
	unname(fixture, 0);
	name(fixture, 0, 2 * PAGE, "b");
	unname(fixture, 0);
	name(fixture, 0, PAGE, "c");
	expect_lives(fixture, "a 2-3, b 4-5, c 6-");
	expect(fixture, "SELECT bytes FROM op WHERE op = 5", 2 * PAGE);
	expect(fixture, "SELECT COUNT(*) FROM op WHERE kind = 'name_end'", 2);
}

static void parts_lie_in_parts(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	name(fixture, 0, 32 * PAGE, "pool");
	name(fixture, 0, 8 * PAGE, "batch");
	name(fixture, 0, PAGE, "image");
	name(fixture, 2 * PAGE, PAGE, "label");
	unname(fixture, 0); /* the smallest: image */
	name(fixture, 100, 100, "first");
	unname(fixture, 0); /* batch; what lay in it stays */
	expect_lives(fixture, "pool 2-, batch 3-8, image 4-6, label 5-, first 7-");
	/* Around what is there already. */
	name(fixture, 0, 4 * PAGE, "quarter");
	unname(fixture, 2 * PAGE);
	expect_lives(fixture, "pool 2-, batch 3-8, image 4-6, label 5-10, first 7-, quarter 9-");
}

static void what_is_crossed_has_been_given_back(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	name(fixture, 0, 32 * PAGE, "pool");
	name(fixture, 0, 2 * PAGE, "left");
	name(fixture, 3 * PAGE, 2 * PAGE, "right");
	name(fixture, PAGE, 512, "in left");
	name(fixture, PAGE, 3 * PAGE, "across");
	/* "in left" lies within "across" */
	expect_lives(fixture, "pool 2-, left 3-6, right 4-6, in left 5-, across 6-");
	name(fixture, PAGE, 3 * PAGE, "the same bytes");
	expect_lives(fixture,
		     "pool 2-, left 3-6, right 4-6, in left 5-, across 6-7, the same bytes 7-");
}

static void a_free_ends_all(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	allocate(fixture, 2, PAGE); /* op 2 */
	name(fixture, 0, PAGE, "a");
	name(fixture, PAGE, PAGE, "b");
	put_op(fixture, UM_OP_NAME, 2, 0, 16);
	put_part(fixture, 2, 0, 16, 0, "other");
	put_op(fixture, UM_OP_FREE, 1, 0, 0);
	expect_lives(fixture, "a 3-6, b 4-6, other 5-");
	unname(fixture, 0); /* too late */
	const struct um_run_row ended = {.ended = "exited", .end_ns = 100, .exit_signal = UM_NULL};

	assert_int_equal(um_ingest_finish(fixture->ingest, &ended), 0);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'name' AND record = 'part'", 1);
}

static void all_of_it_is_its_name(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	expect(fixture, "SELECT COUNT(*) FROM allocation WHERE name = 'was'", 1);
	name(fixture, 0, PAGE, "a part");
	expect(fixture, "SELECT COUNT(*) FROM allocation WHERE name = 'was'", 1);
	put_op(fixture, UM_OP_NAME, 1, 0, 64 * PAGE);
	put_part(fixture, 1, 0, 64 * PAGE, 1, "caf\xc3\xa9 \xff\x01\x1b[31m");
	expect(fixture, "SELECT COUNT(*) FROM allocation WHERE name = 'caf\xc3\xa9 ???[31m'", 1);
	expect(fixture, "SELECT COUNT(*) FROM part WHERE name = 'caf\xc3\xa9 ???[31m'", 1);
}

static void what_cannot_be_is_counted(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture);
	put_op(fixture, UM_OP_NAME, 1, 0, PAGE);
	put_part(fixture, 2, 0, PAGE, 0, "no such allocation");
	put_part(fixture, 1, 0, 65 * PAGE, 0, "too long");
	put_part(fixture, 1, UINT64_MAX, 2, 0, "beyond the end of everything");
	put_part(fixture, 1, 64 * PAGE, 1, 0, "behind it");
	put_part(fixture, 1, 0, 0, 0, "nothing");
	last_op += 7;
	put_part(fixture, 1, 0, PAGE, 0, "of an op to come");
	assert_int_equal(invalid(fixture), 6);
	expect(fixture, "SELECT COUNT(*) FROM part", 0);
}

/* Names at random, against a simple model: what lives never crosses. */
static void no_two_that_live_cross(void **state)
{
	struct fixture *fixture = *state;
	unsigned seed = 7;

	begin(fixture);
	for (int i = 0; i < 400; i++) {
		uint64_t offset = (unsigned)rand_r(&seed) % 60;

		if (rand_r(&seed) % 4 == 0)
			unname(fixture, offset * 512);
		else
			name(fixture, offset * 512, 512 * (1 + (unsigned)rand_r(&seed) % 20), "x");
	}
	expect(fixture,
	       "SELECT COUNT(*) FROM part AS a JOIN part AS b ON a.part < b.part AND a.end_op IS NULL "
	       "AND b.end_op IS NULL AND a.offset_bytes < b.offset_bytes + b.bytes AND b.offset_bytes "
	       "< a.offset_bytes + a.bytes AND NOT (a.offset_bytes <= b.offset_bytes AND "
	       "a.offset_bytes + a.bytes >= b.offset_bytes + b.bytes) AND NOT (b.offset_bytes <= "
	       "a.offset_bytes AND b.offset_bytes + b.bytes >= a.offset_bytes + a.bytes)",
	       0);
	/* The same bytes live once, and what ended did so for a reason: its own end, or a later name that
	 * crosses it or is the same. */
	expect(fixture,
	       "SELECT COUNT(*) FROM part AS a JOIN part AS b USING (offset_bytes, bytes) WHERE a.part "
	       "< b.part AND a.end_op IS NULL AND b.end_op IS NULL",
	       0);
	expect(fixture,
	       "SELECT COUNT(*) FROM part AS a JOIN op ON op.op = a.end_op LEFT JOIN part AS b ON b.op "
	       "= a.end_op WHERE CASE op.kind WHEN 'name_end' THEN op.offset_bytes <> a.offset_bytes "
	       "OR op.bytes <> a.bytes ELSE b.offset_bytes >= a.offset_bytes + a.bytes OR "
	       "a.offset_bytes >= b.offset_bytes + b.bytes OR (b.offset_bytes <= a.offset_bytes AND "
	       "b.offset_bytes + b.bytes >= a.offset_bytes + a.bytes AND b.bytes <> a.bytes) OR "
	       "(a.offset_bytes <= b.offset_bytes AND a.offset_bytes + a.bytes >= b.offset_bytes + "
	       "b.bytes AND b.bytes <> a.bytes) END",
	       0);
	expect(fixture, "SELECT COUNT(*) > 4 FROM part WHERE end_op IS NULL", 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ingest_start, ingest_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_place_is_used_again),
		TEST(parts_lie_in_parts),
		TEST(what_is_crossed_has_been_given_back),
		TEST(a_free_ends_all),
		TEST(all_of_it_is_its_name),
		TEST(what_cannot_be_is_counted),
		TEST(no_two_that_live_cross),
	};

	return cmocka_run_group_tests(tests, ingest_make_directory, ingest_remove_directory);
}
