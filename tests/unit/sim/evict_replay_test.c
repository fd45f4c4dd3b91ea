/*
 * Eviction orders through the whole simulator, driver demand: faults and bytes that can be worked
 * out by hand, or by the plainest implementation of the order.
 */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct trace_fixture fx;

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static uint64_t random_state;

static uint32_t draw(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1du) >> 33) % limit;
}

static uint64_t faults_under(const struct um_evict_ops *order, uint64_t memory_pages)
{
	fx.policy.evict = order;
	fx.policy.memory_bytes = memory_pages * PAGE;
	fx_run(&fx);
	return fx.totals.device_faults;
}

static int64_t put_data(int64_t pages)
{
	int64_t data = fx_alloc(&fx, "managed", pages * PAGE);

	fx_host(&fx, data, 0, pages, UM_TOUCH_WRITTEN);
	return data;
}

/* --- sweeps --- */

/* One group touches all pages in order, again and again. */
static void put_sweeps(int64_t data, int64_t pages, int64_t sweeps)
{
	fx_launch(&fx, "sweep", 1, 0);
	for (int64_t i = 0; i < sweeps; i++)
		fx_touch_range(&fx, 0, data, 0, pages, false);
	fx_launch_end(&fx);
}

/*
 * Units that the best order misses in `sweeps` sweeps over `units` with room for `room` < units:
 * the first `room`; then it keeps all but the one just used, so that of every units - 1 touches the
 * first units - room miss and the others hit.
 */
static uint64_t best_faults(uint64_t units, uint64_t room, uint64_t sweeps)
{
	uint64_t rest = units * sweeps - room, period = units - 1, misses = units - room;
	uint64_t last = rest % period;

	return room + rest / period * misses + (last < misses ? last : misses);
}

static const struct {
	int64_t units, room, sweeps;
} sweeps[] = {{16, 8, 4}, {16, 15, 5}, {16, 1, 3}, {33, 20, 7}, {2, 1, 9}, {50, 49, 10}};

static void orders_on_a_sweep(int64_t unit_pages)
{
	for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
		uint64_t units = (uint64_t)sweeps[i].units, room = (uint64_t)sweeps[i].room;
		uint64_t all = units * (uint64_t)sweeps[i].sweeps;
		uint64_t best = best_faults(units, room, (uint64_t)sweeps[i].sweeps);
		uint64_t memory_pages = room * (uint64_t)unit_pages;
		int64_t data;

		fx_close(&fx);
		fx_open(&fx);
		fx.policy.page_bytes = (uint64_t)unit_pages * PAGE;
		data = put_data(sweeps[i].units * unit_pages);
		put_sweeps(data, sweeps[i].units * unit_pages, sweeps[i].sweeps);
		assert_int_equal(faults_under(NULL, memory_pages), all);
		assert_int_equal(faults_under(&um_evict_fifo, memory_pages), all);
		assert_int_equal(faults_under(&um_evict_lru, memory_pages), all);
		assert_int_equal(faults_under(&um_evict_belady, memory_pages), best);
		assert_int_equal(fx.totals.bytes_to_device, best * (uint64_t)unit_pages * PAGE);
		assert_int_equal(fx.totals.bytes_to_host,
				 (best - room) * (uint64_t)unit_pages * PAGE);
	}
}

static void sweeps_miss_all_but_under_belady(void **state)
{
	(void)state;
	orders_on_a_sweep(1);
	orders_on_a_sweep(16);
}

/* The same over pages of two allocations, the launches and memsets of the program in between. */
static void what_comes_is_of_the_whole_program(void **state)
{
	int64_t first = put_data(10), second = put_data(10);

	(void)state;
	for (int i = 0; i < 5; i++) {
		fx_launch(&fx, "first", 1, 0);
		fx_touch_range(&fx, 0, first, 0, 10, false);
		fx_launch_end(&fx);
		fx_op(&fx, &(struct um_op_row){
				   .kind = "memset", .allocation = second, .bytes = 10 * PAGE});
	}
	assert_int_equal(faults_under(&um_evict_lru, 12), 100);
	assert_int_equal(faults_under(&um_evict_belady, 12), best_faults(20, 12, 5));
}

/* --- random touches --- */

#define PAGES	48
#define TOUCHES 3000

static uint32_t touched[TOUCHES];

static int64_t put_random_touches(uint64_t seed)
{
	int64_t data = put_data(PAGES);

	random_state = seed;
	fx_launch(&fx, "random", 1, 0);
	for (int i = 0; i < TOUCHES; i++) {
		touched[i] = draw(3) ? draw(PAGES / 3) : draw(PAGES);
		fx_touch(&fx, 0, data, touched[i], draw(2));
	}
	fx_launch_end(&fx);
	return data;
}

/* When the page is touched from `from` on. */
static int next_touch(uint32_t page, int from)
{
	while (from < TOUCHES && touched[from] != page)
		from++;
	return from;
}

/* The page with the least time leaves. */
static uint64_t plain_faults(const struct um_evict_ops *order, int frames)
{
	int time[PAGES] = {0}, used = 0;
	bool resident[PAGES] = {false};
	uint64_t faults = 0;

	for (int i = 0; i < TOUCHES; i++) {
		uint32_t page = touched[i], victim = PAGES;

		if (order == &um_evict_lru || !resident[page])
			time[page] = i;
		if (resident[page])
			continue;
		faults++;
		for (uint32_t p = 0; used == frames && p < PAGES; p++) {
			if (resident[p] && order == &um_evict_belady)
				time[p] = -next_touch(p, i);
			if (resident[p] && (victim == PAGES || time[p] < time[victim]))
				victim = p;
		}
		used += victim == PAGES;
		if (victim < PAGES)
			resident[victim] = false;
		resident[page] = true;
	}
	return faults;
}

static void one_group_has_the_plain_orders_faults(void **state)
{
	static const int frames[] = {1, 4, 16, 30, PAGES - 1, PAGES};

	(void)state;
	put_random_touches(77);
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		uint64_t memory_pages = (uint64_t)frames[i];

		assert_int_equal(faults_under(NULL, memory_pages),
				 plain_faults(&um_evict_fifo, frames[i]));
		assert_int_equal(faults_under(&um_evict_lru, memory_pages),
				 plain_faults(&um_evict_lru, frames[i]));
		assert_int_equal(faults_under(&um_evict_belady, memory_pages),
				 plain_faults(&um_evict_belady, frames[i]));
	}
}

static void the_same_seed_is_the_same_simulation(void **state)
{
	uint64_t faults, end_ns;
	int different = 0;

	(void)state;
	put_random_touches(78);
	fx.policy.evict_seed = 5;
	faults = faults_under(&um_evict_random, 16);
	end_ns = fx.totals.end_ns;
	assert_int_equal(faults_under(&um_evict_random, 16), faults);
	assert_int_equal(fx.totals.end_ns, end_ns);
	assert_true(faults >= plain_faults(&um_evict_belady, 16));
	for (fx.policy.evict_seed = 6; fx.policy.evict_seed < 12; fx.policy.evict_seed++)
		different += faults_under(&um_evict_random, 16) != faults;
	assert_true(different > 3);
}

/* --- many groups --- */

/* Groups that sweep a part each, side by side: what one sweep over all of it would be. */
static void groups_side_by_side_are_looked_ahead_side_by_side(void **state)
{
	int64_t data = put_data(128);
	uint64_t faults;

	(void)state;
	fx_launch(&fx, "parts", 8, 0);
	for (uint64_t group = 0; group < 8; group++)
		for (int sweep = 0; sweep < 6; sweep++)
			fx_touch_range(&fx, group, data, (int64_t)group * 16, 16, false);
	fx_launch_end(&fx);
	assert_int_equal(faults_under(&um_evict_lru, 64), 6 * 128);
	faults = faults_under(&um_evict_belady, 64);
	/* The best order in lockstep, and a tenth for groups that run ahead on their hits. */
	assert_in_range(faults, 128, best_faults(128, 64, 6) * 11 / 10);
	assert_int_equal(faults_under(&um_evict_belady, 64), faults);
}

/* --- what pushes managed pages out --- */

static void put_reads(int64_t data, const char *pages)
{
	fx_launch(&fx, "reads", 1, 0);
	for (; *pages; pages++)
		fx_touch(&fx, 0, data, *pages - '0', false);
	fx_launch_end(&fx);
	fx_sync(&fx);
}

/* A device allocation takes half of the memory: who leaves is told by what the last launch faults on. */
static void device_allocations_push_out_by_the_order(void **state)
{
	static const struct {
		const struct um_evict_ops *order;
		uint64_t faults;
	} expected[] = {{&um_evict_fifo, 8 + 4}, {&um_evict_lru, 8}, {&um_evict_belady, 8}};
	int64_t data = put_data(8), device;

	(void)state;
	put_reads(data, "01234567");
	put_reads(data, "0145");
	device = fx_alloc(&fx, "device", 4 * PAGE); /* fifo: 0 to 3 leave; lru: 2, 3, 6, 7 */
	put_reads(data, "0145");
	fx_free(&fx, device);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(faults_under(expected[i].order, 8), expected[i].faults);
		assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION],
				 (expected[i].faults - 8 + 4) * PAGE);
	}
}

static void what_is_prefetched_does_not_evict_itself(void **state)
{
	static const struct um_evict_ops *const orders[] = {&um_evict_fifo, &um_evict_lru,
							    &um_evict_random, &um_evict_belady};
	int64_t data = put_data(8), other = put_data(8);

	(void)state;
	put_reads(data, "01"); /* the oldest there are */
	put_reads(other, "012345");
	fx_prefetch_pages(&fx, data, 0, 8, 0);
	put_reads(data, "01234567");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(faults_under(orders[i], 8), 8);
		assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 6 * PAGE);
		assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], 6 * PAGE);
	}
}

/* Units that are advised differently come one after another. */
static void what_is_prefetched_in_pieces_does_not_evict_itself(void **state)
{
	int64_t data = put_data(12);

	(void)state;
	fx_advise_pages(&fx, data, 4, 4, "read_mostly", 0);
	fx_prefetch_pages(&fx, data, 0, 12, 0);
	put_reads(data, "01234567");
	assert_int_equal(faults_under(&um_evict_fifo, 8), 0);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 0);
}

/* --- copies --- */

static void a_copy_that_is_not_the_last_is_dropped(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	fx_advise(&fx, data, "read_mostly", 0);
	put_reads(data, "01234567"); /* the host's copies stay */
	put_reads(data, "01234567");
	faults_under(&um_evict_fifo, 4);
	assert_int_equal(fx.totals.bytes_to_host, 0);
	assert_int_equal(fx.totals.bytes_to_device, 16 * PAGE);
}

static void the_last_copy_is_carried_written_or_not(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	put_reads(data, "01234567");
	faults_under(&um_evict_fifo, 4);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 4 * PAGE);
}

static void pages_without_data_leave_without_bytes(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 64 * PAGE);

	(void)state;
	fx.policy.page_bytes = 16 * PAGE;
	fx_launch(&fx, "first", 1, 0); /* a page of each unit has data */
	for (int64_t page = 0; page < 64; page += 16)
		fx_touch(&fx, 0, data, page, true);
	fx_launch_end(&fx);
	assert_int_equal(faults_under(NULL, 32), 4);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 2 * PAGE);
}

/* Device 1 duplicates what device 0 alone has; what leaves device 0 then is still on device 1. */
static void a_copy_on_another_device_is_as_good(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 8 * PAGE);

	(void)state;
	fx.machine.devices = 2;
	fx.device = 0;
	fx_launch(&fx, "first", 1, 0);
	fx_touch_range(&fx, 0, data, 0, 8, true);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_advise(&fx, data, "read_mostly", 0);
	fx.device = 1;
	put_reads(data, "0123");
	fx.device = 0;
	fx_alloc(&fx, "device", 8 * PAGE); /* all leave: 0 to 3 for nothing */
	fx.device = 1;
	put_reads(data, "0123"); /* still there */
	faults_under(&um_evict_fifo, 8);
	assert_int_equal(fx.totals.device_faults, 8 + 4);
	assert_int_equal(fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 4 * PAGE);
}

/* --- what does not fit --- */

static void a_device_allocation_that_never_fits_says_what_hip_would(void **state)
{
	static const struct um_evict_ops *const orders[] = {NULL, &um_evict_lru, &um_evict_random,
							    &um_evict_belady};
	int64_t data = put_data(8);

	(void)state;
	put_reads(data, "01234567");
	fx_alloc(&fx, "device", 6 * PAGE);
	fx_alloc(&fx, "device", 6 * PAGE);
	fx.policy.memory_bytes = 8 * PAGE;
	for (size_t i = 0; i < 4; i++) {
		fx.policy.evict = orders[i];
		assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
		assert_non_null(strstr(um_error_message(),
				       "device 0: hipMalloc would fail with hipErrorOutOfMemory: "
				       "24 KiB do not fit where device allocations leave 8 KiB of "
				       "32 KiB"));
	}
}

static void a_fault_that_finds_no_room_says_so(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	fx_alloc(&fx, "device", 8 * PAGE);
	put_reads(data, "0");
	fx.policy.memory_bytes = 8 * PAGE;
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "no room for a unit of 4 KiB"));
}

static void a_driver_without_an_order_takes_none(void **state)
{
	struct um_driver_ops plain = *fx.policy.driver;

	(void)state;
	put_data(1);
	plain.evict = NULL;
	fx.policy.driver = &plain;
	fx.policy.evict = &um_evict_lru;
	assert_int_equal(fx_simulate(&fx), UM_EINVAL);
	assert_string_equal(um_error_message(), "driver demand takes no eviction order");
}

/* --- what only looks like a future --- */

static void failed_and_untraced_launches_have_no_future(void **state)
{
	int64_t data = put_data(16), launch;

	(void)state;
	fx_launch(&fx, "failed", 1, 0);
	fx_touch_range(&fx, 0, data, 0, 16, false);
	launch = fx.launch;
	fx_launch_end(&fx);
	put_sweeps(data, 16, 4);
	assert_int_equal(um_db_exec(fx.db, "UPDATE op SET result = 1 WHERE kind = 'launch' AND "
					   "op = (SELECT min(op) FROM kernel)"),
			 0);
	assert_true(launch < fx.launch);
	assert_int_equal(faults_under(&um_evict_belady, 8), best_faults(16, 8, 4));
}

static void damaged_touches_are_refused_as_ever(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	fx_launch(&fx, "k", 1, 0);
	fx_touch(&fx, 0, data, 8, false);
	fx_touch(&fx, 0, data + 70000000, 8, false);
	fx_launch_end(&fx);
	fx.policy.evict = &um_evict_belady;
	assert_int_equal(fx_simulate(&fx), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "touches pages 8 to 8 of allocation 1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sweeps_miss_all_but_under_belady),
		TEST(what_comes_is_of_the_whole_program),
		TEST(one_group_has_the_plain_orders_faults),
		TEST(the_same_seed_is_the_same_simulation),
		TEST(groups_side_by_side_are_looked_ahead_side_by_side),
		TEST(device_allocations_push_out_by_the_order),
		TEST(what_is_prefetched_does_not_evict_itself),
		TEST(what_is_prefetched_in_pieces_does_not_evict_itself),
		TEST(a_copy_that_is_not_the_last_is_dropped),
		TEST(the_last_copy_is_carried_written_or_not),
		TEST(pages_without_data_leave_without_bytes),
		TEST(a_copy_on_another_device_is_as_good),
		TEST(a_device_allocation_that_never_fits_says_what_hip_would),
		TEST(a_fault_that_finds_no_room_says_so),
		TEST(a_driver_without_an_order_takes_none),
		TEST(failed_and_untraced_launches_have_no_future),
		TEST(damaged_touches_are_refused_as_ever),
	};

	return cmocka_run_group_tests_name("evict_replay", tests, NULL, NULL);
}
