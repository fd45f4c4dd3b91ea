/* What comes, against all positions of every page written down. */
#include "sim/driver/evict_future.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

static uint32_t draw(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1du) >> 33) % limit;
}

static struct um_future *make_future(um_page cell_pages)
{
	struct um_future *future;

	assert_int_equal(um_future_create(&future, cell_pages), 0);
	return future;
}

static void add(struct um_future *future, um_device_id device, um_alloc_id allocation,
		um_page first_page, int32_t stride, uint32_t count, uint64_t position)
{
	struct um_access_run run = {.allocation = allocation,
				    .first_page = first_page,
				    .stride = stride,
				    .count = count};

	assert_int_equal(um_future_add(future, device, &run, position), 0);
}

static struct um_foresight *look(struct um_future *future, um_device_id device)
{
	struct um_foresight *foresight;

	assert_int_equal(um_foresight_create(&foresight, future, device), 0);
	return foresight;
}

static uint64_t next_of(struct um_foresight *foresight, um_alloc_id allocation, um_page first_page,
			uint32_t pages)
{
	return um_foresight_next(foresight, &(struct um_page_range){allocation, first_page, pages});
}

static void pass(struct um_foresight *foresight, um_alloc_id allocation, um_page first_page,
		 uint32_t pages)
{
	um_foresight_pass(foresight, &(struct um_page_range){allocation, first_page, pages});
}

static void each_page_has_its_positions(void **state)
{
	struct um_future *future = make_future(1);
	struct um_foresight *foresight;

	(void)state;
	add(future, 0, 2, 10, 1, 5, 0);	   /* 10 to 14 at 0 to 4 */
	add(future, 0, 2, 14, -2, 3, 100); /* 14, 12, 10 at 100 to 102 */
	add(future, 0, 2, 11, 0, 2, 50);   /* 11 at 50 and 51 */
	assert_int_equal(um_future_seal(future), 0);
	foresight = look(future, 0);
	assert_int_equal(next_of(foresight, 2, 10, 1), 0);
	assert_int_equal(next_of(foresight, 2, 12, 3), 2);
	pass(foresight, 2, 10, 5);
	assert_int_equal(next_of(foresight, 2, 10, 1), 102);
	assert_int_equal(next_of(foresight, 2, 11, 1), 50);
	assert_int_equal(next_of(foresight, 2, 12, 1), 101);
	assert_true(next_of(foresight, 2, 13, 1) == UM_NOT_AGAIN);
	assert_int_equal(next_of(foresight, 2, 0, 4000), 50);
	pass(foresight, 2, 11, 1);
	assert_int_equal(next_of(foresight, 2, 11, 1), 51);
	pass(foresight, 2, 11, 1);
	pass(foresight, 2, 11, 1); /* more than there were to come */
	assert_true(next_of(foresight, 2, 11, 1) == UM_NOT_AGAIN);
	/* what nobody touches */
	assert_true(next_of(foresight, 1, 0, 100) == UM_NOT_AGAIN);
	assert_true(next_of(foresight, 2, 15, 100) == UM_NOT_AGAIN);
	assert_true(next_of(foresight, 99999, 0, 1) == UM_NOT_AGAIN);
	pass(foresight, 99999, 0, 1);
	um_foresight_destroy(foresight);
	um_future_destroy(future);
}

static void no_more_cells_than_memory_holds(void **state)
{
	struct um_future *future = make_future(1);

	(void)state;
	add(future, 0, 1, 4000000000u, 0, 1, 0); /* one page far behind */
	assert_int_equal(um_future_seal(future), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "reaches over 4000000001:"));
	um_future_destroy(future);
	future = make_future(512);
	add(future, 0, 1, 4000000000u, 0, 1, 0);
	assert_int_equal(um_future_seal(future), 0);
	um_future_destroy(future);
}

static void positions_count_whatever_order_they_were_added_in(void **state)
{
	struct um_future *future = make_future(1);
	struct um_foresight *foresight;

	(void)state;
	add(future, 0, 1, 0, 1, 1, 70); /* a group that begins late */
	add(future, 0, 1, 0, 1, 1, 3);
	add(future, 0, 1, 0, 1, 1, 20);
	assert_int_equal(um_future_seal(future), 0);
	foresight = look(future, 0);
	assert_int_equal(next_of(foresight, 1, 0, 1), 3);
	pass(foresight, 1, 0, 1);
	assert_int_equal(next_of(foresight, 1, 0, 1), 20);
	pass(foresight, 1, 0, 1);
	assert_int_equal(next_of(foresight, 1, 0, 1), 70);
	um_foresight_destroy(foresight);
	um_future_destroy(future);
}

static void devices_and_readers_are_apart(void **state)
{
	struct um_future *future = make_future(16);
	struct um_foresight *first, *second, *other;

	(void)state;
	add(future, 0, 1, 0, 1, 2, 5);
	add(future, 3, 1, 0, 1, 1, 9);
	assert_int_equal(um_future_seal(future), 0);
	first = look(future, 0);
	second = look(future, 0);
	other = look(future, 3);
	pass(first, 1, 0, 1);
	assert_int_equal(next_of(first, 1, 3, 1), 6); /* of the cell: pages 0 to 15 */
	assert_int_equal(next_of(second, 1, 0, 1), 5);
	assert_int_equal(next_of(other, 1, 0, 1), 9);
	um_foresight_destroy(first);
	um_foresight_destroy(second);
	um_foresight_destroy(other);
	um_foresight_destroy(NULL);
	um_future_destroy(future);
	um_future_destroy(NULL);
}

static void very_long_stays_and_late_positions(void **state)
{
	struct um_future *future = make_future(1);
	struct um_foresight *foresight;
	uint64_t late = UM_FUTURE_POSITIONS + 1000;

	(void)state;
	add(future, 0, 1, 7, 0, 40000000, 10); /* more than a stay can count */
	add(future, 0, 1, 7, 0, 1, late);
	assert_int_equal(um_future_seal(future), 0);
	foresight = look(future, 0);
	for (int i = 0; i < 4; i++)
		um_foresight_pass(foresight, &(struct um_page_range){1, 7, 1});
	assert_int_equal(next_of(foresight, 1, 7, 1), 14);
	um_foresight_destroy(foresight);
	um_future_destroy(future);
}

/* --- against all positions of every cell --- */

#define CELLS	    40
#define POSITIONS   1024
#define CELL_PAGES  8
#define ALLOCATIONS 2
#define RUN_MAX	    20

struct plain {
	uint64_t positions[ALLOCATIONS][CELLS][POSITIONS];
	size_t count[ALLOCATIONS][CELLS], at[ALLOCATIONS][CELLS];
};

static int by_number(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void add_both(struct um_future *future, struct plain *plain, um_page cell_pages,
		     uint64_t position)
{
	um_page pages = CELLS * cell_pages, first = draw(pages);
	int32_t stride = (int32_t)draw(13) - 6;
	uint32_t room = stride > 0   ? (pages - 1 - first) / (uint32_t)stride
			: stride < 0 ? first / (uint32_t)-stride
				     : 9;
	uint32_t count = 1 + draw(room < RUN_MAX ? room + 1 : RUN_MAX),
		 allocation = draw(ALLOCATIONS);

	add(future, 0, allocation + 1, first, stride, count, position);
	for (uint32_t i = 0; i < count; i++) {
		size_t cell = (size_t)((int64_t)first + (int64_t)stride * i) / cell_pages;
		size_t *of_cell = &plain->count[allocation][cell];

		if (*of_cell < POSITIONS)
			plain->positions[allocation][cell][(*of_cell)++] = position + i;
	}
}

static uint64_t plain_next(const struct plain *plain, uint32_t allocation, um_page first_cell,
			   um_page end_cell)
{
	uint64_t next = UM_NOT_AGAIN;

	for (um_page cell = first_cell; cell < end_cell && cell < CELLS; cell++) {
		size_t at = plain->at[allocation][cell];

		if (at < plain->count[allocation][cell] &&
		    plain->positions[allocation][cell][at] < next)
			next = plain->positions[allocation][cell][at];
	}
	return next;
}

/* Runs are added in any order, each at a time of its own. */
static void compare(um_page cell_pages, int runs)
{
	static struct plain plain;
	struct um_future *future = make_future(cell_pages);
	struct um_foresight *foresight;

	memset(&plain, 0, sizeof(plain));
	for (int i = 0; i < runs; i++) /* 17 and 256 have no divisor in common */
		add_both(future, &plain, cell_pages, (uint64_t)(i * 17 % 256) * RUN_MAX);
	assert_int_equal(um_future_seal(future), 0);
	foresight = look(future, 0);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		for (size_t cell = 0; cell < CELLS; cell++)
			qsort(plain.positions[i][cell], plain.count[i][cell], sizeof(uint64_t),
			      by_number);
	for (int i = 0; i < 4000; i++) {
		uint32_t allocation = draw(ALLOCATIONS), cell = draw(CELLS), cells = 1 + draw(6);

		assert_true(
			next_of(foresight, allocation + 1, cell * cell_pages, cells * cell_pages) ==
			plain_next(&plain, allocation, cell, cell + cells));
		pass(foresight, allocation + 1, cell * cell_pages, 1);
		plain.at[allocation][cell]++;
	}
	um_foresight_destroy(foresight);
	um_future_destroy(future);
}

static void random_runs_have_their_positions(void **state)
{
	(void)state;
	random_state = 11;
	for (int round = 0; round < 10; round++) {
		compare(1, 1 + (int)draw(200));
		compare(CELL_PAGES, 1 + (int)draw(30));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_page_has_its_positions),
		cmocka_unit_test(no_more_cells_than_memory_holds),
		cmocka_unit_test(positions_count_whatever_order_they_were_added_in),
		cmocka_unit_test(devices_and_readers_are_apart),
		cmocka_unit_test(very_long_stays_and_late_positions),
		cmocka_unit_test(random_runs_have_their_positions),
	};

	return cmocka_run_group_tests_name("evict_future", tests, NULL, NULL);
}
