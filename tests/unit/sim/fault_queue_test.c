/* The way of faults into their buffer: who comes when. */
#include "sim/driver/fault_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRY_NS 20

static struct um_fault_queue *queue;

/* Eight clients in two clusters: 0 to 3 and 4 to 7. */
static const struct um_fault_path plain = {.entry_ns = ENTRY_NS,
					   .clients = 8,
					   .clusters = 2,
					   .accesses = 9,
					   .misses = 2,
					   .miss_pages = 4};

static void open_queue(const struct um_fault_path *path)
{
	assert_int_equal(um_fault_queue_create(&queue, path), 0);
}

static int open_plain(void **state)
{
	(void)state;
	open_queue(&plain);
	return 0;
}

static int close_queue(void **state)
{
	(void)state;
	um_fault_queue_destroy(queue);
	queue = NULL;
	return 0;
}

static bool add(uint32_t id, uint32_t client, um_page page, um_ns at)
{
	struct um_fault fault = {
		.client = client, .allocation = 1, .page = page, .waves = 1, .raised_at = at};
	bool waits = false;

	assert_int_equal(um_fault_queue_add(queue, &fault, id, &waits), 0);
	return waits;
}

static void add_waves(uint32_t id, uint32_t client, um_page page, uint32_t waves)
{
	struct um_fault fault = {.client = client, .allocation = 1, .page = page, .waves = waves};
	bool waits;

	assert_int_equal(um_fault_queue_add(queue, &fault, id, &waits), 0);
	assert_true(waits);
}

static void add_store(uint32_t id, uint32_t client, um_page page, um_ns at)
{
	struct um_fault fault = {.client = client,
				 .allocation = 1,
				 .page = page,
				 .access = UM_FAULT_WRITE,
				 .raised_at = at};
	bool waits;

	assert_int_equal(um_fault_queue_add(queue, &fault, id, &waits), 0);
	assert_true(waits);
}

/* That these come next, the last of them at `at`, and none before. */
static void expect(um_ns at, const uint32_t *ids, size_t count)
{
	uint32_t id;

	for (size_t i = 0; i < count; i++) {
		assert_true(um_fault_queue_next(queue, at, &id));
		assert_int_equal(id, ids[i]);
	}
	if (at)
		assert_false(um_fault_queue_next(queue, at - 1, &id));
}
#define EXPECT(at, ...)                                                                            \
	do {                                                                                       \
		static const uint32_t ids[] = {__VA_ARGS__};                                       \
                                                                                                   \
		expect(at, ids, sizeof(ids) / sizeof(ids[0]));                                     \
	} while (0)

static void nothing_comes_from_nobody(void **state)
{
	uint32_t id;

	(void)state;
	assert_true(um_fault_queue_due(queue) == UM_NEVER);
	assert_false(um_fault_queue_next(queue, UM_NEVER - 1, &id));
}

static void entries_come_one_after_another(void **state)
{
	uint32_t id;

	(void)state;
	add(1, 0, 0, 100);
	add(2, 1, 8, 100);
	assert_int_equal(um_fault_queue_due(queue), 100);
	assert_false(um_fault_queue_next(queue, 99, &id));
	EXPECT(100, 1);
	assert_int_equal(um_fault_queue_due(queue), 100 + ENTRY_NS);
	assert_false(um_fault_queue_next(queue, 100 + ENTRY_NS - 1, &id));
	EXPECT(100 + ENTRY_NS, 2);
	assert_true(um_fault_queue_due(queue) == UM_NEVER);
}

static void clusters_take_turns(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		add(i, i, 8 * i, 0);
		add(10 + i, 4 + i, 8 * i, 0);
	}
	EXPECT(5 * ENTRY_NS, 0, 10, 1, 11, 2, 12);
}

static void a_cluster_without_faults_is_passed_over(void **state)
{
	(void)state;
	add(1, 0, 0, 0);
	add(2, 1, 8, 0);
	add(3, 2, 16, 0);
	EXPECT(2 * ENTRY_NS, 1, 2, 3);
}

/* The second wave of a client comes behind the first of the others. */
static void waves_are_entries_of_their_own(void **state)
{
	(void)state;
	add_waves(1, 0, 0, 3);
	add_waves(2, 1, 8, 2);
	EXPECT(4 * ENTRY_NS, 1, 2, 1, 2, 1);
}

static void a_client_comes_with_one_access_after_the_other(void **state)
{
	(void)state;
	add_waves(1, 0, 0, 2);
	add_waves(2, 0, 8, 2);
	EXPECT(3 * ENTRY_NS, 1, 1, 2, 2);
}

static void loads_come_in_the_order_of_their_times(void **state)
{
	(void)state;
	add(1, 0, 0, 50);
	add(2, 0, 8, 10);
	EXPECT(50, 2, 1);
}

static void stores_do_not_overtake(void **state)
{
	(void)state;
	add_store(1, 0, 0, 50);
	add_store(2, 0, 8, 10);
	EXPECT(50 + ENTRY_NS, 1, 2);
}

/* Pieces of four pages: two of them, as many pages as they have. */
static void a_client_has_so_many_misses(void **state)
{
	(void)state;
	for (um_page page = 0; page < 8; page++)
		assert_true(add(page, 0, page, 0));
	assert_false(add(8, 0, 8, 0));
	assert_true(add(9, 0, 7, 0));
	assert_true(add(10, 1, 8, 0)); /* another client's */
	um_fault_queue_reset(queue, 1000);
	assert_true(add(11, 0, 8, 1000));
	EXPECT(1000, 11);
}

/* Nine, also on pages of pieces that it misses already; entries that came still count. */
static void a_client_has_so_many_accesses(void **state)
{
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		assert_true(add(i, 0, i % 4, 0));
	for (uint32_t i = 0; i < 9; i++)
		assert_true(um_fault_queue_next(queue, 1000, &id));
	assert_false(add(9, 0, 0, 1000));
	assert_true(add(10, 1, 0, 1000)); /* another client's */
	um_fault_queue_reset(queue, 2000);
	assert_true(add(11, 0, 0, 2000));
	EXPECT(2000, 11);
}

static void a_replay_leaves_nothing(void **state)
{
	uint32_t id;

	(void)state;
	add_waves(1, 0, 0, 4);
	EXPECT(0, 1);
	um_fault_queue_reset(queue, 5);
	assert_true(um_fault_queue_due(queue) == UM_NEVER);
	assert_false(um_fault_queue_next(queue, 1000, &id));
	add(2, 0, 0, 5);
	EXPECT(5, 2); /* the buffer is free again */
}

static void no_client_is_in_two_clusters(void **state)
{
	static const struct um_fault_path odd = {.entry_ns = 1,
						 .clients = 132,
						 .clusters = 8,
						 .accesses = 1,
						 .misses = 1,
						 .miss_pages = 1};
	uint32_t id;

	(void)state;
	close_queue(NULL);
	open_queue(&odd);
	for (uint32_t i = 0; i < odd.clients; i++)
		add(i, i, i, 0);
	for (uint32_t i = 0; i < odd.clients; i++)
		assert_true(um_fault_queue_next(queue, odd.clients, &id));
	assert_false(um_fault_queue_next(queue, odd.clients, &id));
}

/* When page comes, alone, of a client; after so many replays. */
static um_ns due_with_jitter(um_ns jitter_ns, uint32_t client, um_page page, unsigned resets)
{
	struct um_fault_path path = plain;
	um_ns due;

	path.jitter_ns = jitter_ns;
	open_queue(&path);
	for (unsigned i = 0; i < resets; i++)
		um_fault_queue_reset(queue, 0);
	add(1, client, page, 0);
	due = um_fault_queue_due(queue);
	close_queue(NULL);
	return due;
}

static void lateness_is_the_same_in_every_run(void **state)
{
	unsigned differ = 0;

	(void)state;
	for (um_page page = 0; page < 100; page++) {
		um_ns due = due_with_jitter(300, 0, page, 3);

		assert_in_range(due, 0, 300 * 2 / 3 + 300);
		assert_int_equal(due, due_with_jitter(300, 0, page, 3));
		assert_int_equal(due, due_with_jitter(300, 1, page, 3)); /* of its cluster */
		differ += due != due_with_jitter(300, 4, page, 3);
		differ += due != due_with_jitter(300, 0, page, 4);
	}
	assert_in_range(differ, 150, 200);
}

/* Seldomer far apart than pages that are no neighbours. */
static void neighbours_are_late_together(void **state)
{
	long apart = 0, far = 0;

	(void)state;
	for (um_page page = 0; page < 400; page += 2) {
		um_ns due = due_with_jitter(300, 0, page, 1);

		apart += labs((long)due - (long)due_with_jitter(300, 0, page + 1, 1)) > 300 / 3;
		far += labs((long)due - (long)due_with_jitter(300, 0, page + 1001, 1)) > 300 / 3;
	}
	assert_true(apart + 20 < far);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_plain, close_queue)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_comes_from_nobody),
		TEST(entries_come_one_after_another),
		TEST(clusters_take_turns),
		TEST(a_cluster_without_faults_is_passed_over),
		TEST(waves_are_entries_of_their_own),
		TEST(a_client_comes_with_one_access_after_the_other),
		TEST(loads_come_in_the_order_of_their_times),
		TEST(stores_do_not_overtake),
		TEST(a_client_has_so_many_misses),
		TEST(a_client_has_so_many_accesses),
		TEST(a_replay_leaves_nothing),
		TEST(no_client_is_in_two_clusters),
		cmocka_unit_test(lateness_is_the_same_in_every_run),
		cmocka_unit_test(neighbours_are_late_together),
	};

	return cmocka_run_group_tests_name("fault_queue", tests, NULL, NULL);
}
