/* Which parts hold a place at an op, against a search through all of them. */
#include "analyzer/query/part_lives.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PARTS = 600, ALLOCATIONS = 3, BYTES = 1 << 12 };

static char path[] = "/tmp/um-part-lives-XXXXXX";

/* Halves of halves: two of them lie within each other or apart. One op in five has several begin. */
static void add_parts(struct um_db *db, unsigned seed, bool may_cross)
{
	int64_t op = 1;

	for (int64_t i = 0; i < PARTS; i++) {
		int64_t bytes = INT64_C(1) << rand_r(&seed) % 12;
		int64_t start = (int64_t)rand_r(&seed) % (BYTES / bytes) * bytes;

		if (may_cross)
			start = rand_r(&seed) % BYTES;
		op += rand_r(&seed) % 5 > 0;
		const struct um_part_row row = {
			.part = i + 1,
			.allocation = 1 + rand_r(&seed) % ALLOCATIONS,
			.offset_bytes = start,
			.bytes = bytes,
			.name = "x",
			.site = UM_NULL,
			.op = op,
			.end_op = rand_r(&seed) % 6 ? op + 1 + rand_r(&seed) % 60 : UM_NULL,
		};

		assert_int_equal(um_db_insert(db, &um_table_part, &row), 0);
	}
}

static struct um_part_lives *load(unsigned seed, bool may_cross)
{
	struct um_part_lives *lives;
	struct um_db *db;

	assert_int_equal(um_db_create(&db, path, true), 0);
	add_parts(db, seed, may_cross);
	if (um_part_lives_load(&lives, db))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_close(db), 0);
	return lives;
}

static size_t count_all(struct um_part_lives *lives, int64_t op, int64_t allocation, int64_t start,
			int64_t end)
{
	size_t count, found = 0;
	const struct um_life *life = um_part_lives_all(lives, &count);

	for (size_t i = 0; i < count; i++)
		found += life[i].op <= op && life[i].end_op > op &&
			 life[i].allocation == allocation && life[i].start < end &&
			 life[i].end > start;
	return found;
}

static void check_all(struct um_part_lives *lives)
{
	unsigned seed = 11;

	um_part_lives_rewind(lives);
	for (int64_t op = 0; op < PARTS + 80; op += rand_r(&seed) % 3) {
		int64_t allocation = 1 + rand_r(&seed) % (ALLOCATIONS + 1);
		int64_t start = rand_r(&seed) % BYTES, end = start + 1 + rand_r(&seed) % 300;
		struct um_life *const *found;

		um_part_lives_go_to(lives, op);
		size_t count = um_part_lives_at(lives, allocation, start, end, &found);

		assert_int_equal(count, count_all(lives, op, allocation, start, end));
		for (size_t i = 1; i < count; i++)
			assert_true(found[i]->start > found[i - 1]->start ||
				    (found[i]->start == found[i - 1]->start &&
				     found[i]->end <= found[i - 1]->end));
	}
}

static void as_a_search_through_all(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 8; seed++) {
		struct um_part_lives *lives = load(seed, false);

		check_all(lives);
		check_all(lives); /* and once more from the start */
		um_part_lives_destroy(lives);
	}
}

/* No umtrace writes such a file; whatever comes of it, it is in order. */
static void parts_that_cross(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct um_part_lives *lives = load(seed, true);
		struct um_life *const *found;

		for (int64_t op = 0; op < PARTS; op++) {
			um_part_lives_go_to(lives, op);
			size_t count =
				um_part_lives_at(lives, 1 + op % ALLOCATIONS, op, op + 200, &found);

			for (size_t i = 0; i < count; i++)
				assert_true(found[i]->start < op + 200 && found[i]->end > op);
		}
		um_part_lives_destroy(lives);
	}
	um_part_lives_destroy(NULL);
}

static int make_file(void **state)
{
	int file = mkstemp(path);

	(void)state;
	return file < 0 || close(file);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_search_through_all),
		cmocka_unit_test(parts_that_cross),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
