/*
 * Curves: at every memory what a replay with that much memory gives, on random programs; textbook
 * strings; when one order of touches is not enough; knees.
 */
#include "trace_fixture.h"

#include "sim/curve/curve.h"
#include "sim/driver/driver.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS_MAX 64

static struct trace_fixture fx;
static struct um_curve_point points[POINTS_MAX], replayed[POINTS_MAX];

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

/* Points of 1 to `count` times `step_bytes` and what lies before. */
static struct um_curve find_curve(struct um_curve_point *out, size_t count, uint64_t before_bytes,
				  uint64_t step_bytes, bool only_replays)
{
	struct um_curve curve = {.trace = fx.db,
				 .policy = fx.chosen ? fx.chosen : &fx.policy,
				 .machine = &fx.machine,
				 .points = out,
				 .count = count,
				 .only_replays = only_replays};

	for (size_t i = 0; i < count; i++)
		out[i].memory_bytes = before_bytes + (i + 1) * step_bytes;
	if (um_curve_run(&curve))
		fail_msg("%s", um_error_message());
	return curve;
}

static void assert_same_points(size_t count, const char *evict, uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(points[i].error, replayed[i].error);
		if (points[i].error)
			continue;
		if (points[i].device_faults != replayed[i].device_faults ||
		    points[i].host_faults != replayed[i].host_faults ||
		    points[i].bytes_to_device != replayed[i].bytes_to_device ||
		    points[i].bytes_to_host != replayed[i].bytes_to_host)
			fail_msg(
				"%s, seed %llu, %llu KiB: %llu and %llu faults, %llu and %llu bytes; a "
				"replay has %llu, %llu, %llu, %llu",
				evict, (unsigned long long)seed,
				(unsigned long long)points[i].memory_bytes / 1024,
				(unsigned long long)points[i].device_faults,
				(unsigned long long)points[i].host_faults,
				(unsigned long long)points[i].bytes_to_device,
				(unsigned long long)points[i].bytes_to_host,
				(unsigned long long)replayed[i].device_faults,
				(unsigned long long)replayed[i].host_faults,
				(unsigned long long)replayed[i].bytes_to_device,
				(unsigned long long)replayed[i].bytes_to_host);
	}
}

/* --- random programs --- */

#define ALLOCATIONS 4

struct program {
	uint32_t unit_pages;
	int64_t allocation[ALLOCATIONS]; /* 0: freed */
	uint32_t units[ALLOCATIONS];
};

static void allocate(struct program *program, size_t which)
{
	program->units[which] = 1 + draw(8);
	program->allocation[which] = fx_alloc(
		&fx, "managed", (int64_t)program->units[which] * program->unit_pages * PAGE);
}

static void launch(const struct program *program)
{
	fx_launch(&fx, "k", 1, 0);
	for (uint32_t i = draw(60); i-- > 0;) {
		size_t which = draw(ALLOCATIONS);
		uint32_t pages = program->units[which] * program->unit_pages, page = draw(pages);
		uint32_t run = 1 + draw(draw(3) ? 3 : 3 * program->unit_pages);

		for (; run-- > 0 && page < pages; page++)
			fx_touch(&fx, 0, program->allocation[which], page, draw(2));
	}
	fx_launch_end(&fx);
	if (draw(2))
		fx_sync(&fx);
}

static void fill(const struct program *program)
{
	size_t which = draw(ALLOCATIONS);
	int64_t bytes = (int64_t)program->units[which] * program->unit_pages * PAGE;

	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .allocation = program->allocation[which],
				       .offset_bytes = bytes / 2,
				       .bytes = bytes / 2});
}

static void touch_from_host(const struct program *program)
{
	size_t which = draw(ALLOCATIONS);
	uint32_t pages = program->units[which] * program->unit_pages, page = draw(pages);
	static const int64_t touches[] = {UM_TOUCH_READ, UM_TOUCH_WRITTEN,
					  UM_TOUCH_READ | UM_TOUCH_WRITTEN};

	fx_sync(&fx);
	fx_host(&fx, program->allocation[which], page, 1 + draw(pages - page), touches[draw(3)]);
}

static void put_program(uint64_t seed, uint32_t unit_pages, int64_t taken_bytes)
{
	struct program program = {.unit_pages = unit_pages};
	int64_t device = 0;

	random_state = seed * 2 + 1;
	if (taken_bytes)
		device = fx_alloc(&fx, "device", taken_bytes);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		allocate(&program, i);
	for (uint32_t ops = 5 + draw(25); ops-- > 0;) {
		size_t which = draw(ALLOCATIONS);

		if (draw(2)) {
			launch(&program);
		} else if (draw(3)) {
			touch_from_host(&program);
		} else if (draw(2)) {
			fill(&program);
		} else {
			fx_free(&fx, program.allocation[which]);
			allocate(&program, which);
		}
	}
	if (device && draw(2))
		fx_free(&fx, device);
}

static const struct um_evict_ops *const orders[] = {NULL, &um_evict_fifo, &um_evict_lru,
						    &um_evict_belady};

static void every_point_is_what_a_replay_gives(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint32_t unit_pages = seed % 3 ? 1 : 16;
		int64_t taken = seed % 4 ? 0 : 5 * PAGE;

		fx_close(&fx);
		fx_open(&fx);
		fx.machine.compute_units = 1;
		put_program(seed, unit_pages, taken);
		fx.policy.page_bytes = unit_pages * PAGE;
		for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
			const char *name = orders[i] ? orders[i]->name : "driver";
			struct um_curve curve;

			fx.policy.evict = orders[i];
			curve = find_curve(points, 34, (uint64_t)taken, unit_pages * PAGE, false);
			assert_string_equal(curve.why_replays ? curve.why_replays : "", "");
			assert_int_not_equal(curve.method, UM_CURVE_REPLAYS);
			curve = find_curve(replayed, 34, (uint64_t)taken, unit_pages * PAGE, true);
			assert_int_equal(curve.method, UM_CURVE_REPLAYS);
			assert_same_points(34, name, seed);
		}
	}
}

/* Memory that is no multiple of a unit, and too little for one. */
static void memory_may_be_any(void **state)
{
	struct um_curve curve;

	(void)state;
	put_program(7, 16, 0);
	fx.machine.compute_units = 1;
	fx.policy.page_bytes = 16 * PAGE;
	fx.policy.evict = &um_evict_lru;
	curve = find_curve(points, 60, 0, 5 * PAGE, false);
	assert_int_equal(curve.method, UM_CURVE_STACK);
	assert_int_not_equal(points[0].error, 0);
	assert_int_not_equal(points[2].error, 0);
	assert_int_equal(points[3].error, 0);
	find_curve(replayed, 60, 0, 5 * PAGE, true);
	assert_string_equal(points[0].message, replayed[0].message);
	assert_same_points(60, "lru", 7);
}

/* --- textbook strings --- */

/* Belady, Nelson, Shedler: An anomaly in space-time characteristics, 1969. */
static const uint32_t anomaly[] = {1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5};
/* Silberschatz, Galvin, Gagne: Operating System Concepts, chapter Virtual Memory. */
static const uint32_t silberschatz[] = {7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1};

static void put_string(const uint32_t *pages, size_t count)
{
	int64_t data = fx_alloc(&fx, "managed", 8 * PAGE);

	fx_launch(&fx, "k", 1, 0);
	for (size_t i = 0; i < count; i++)
		fx_touch(&fx, 0, data, pages[i], true);
	fx_launch_end(&fx);
}

static void assert_faults(const struct um_evict_ops *order, size_t memory_pages, uint64_t faults)
{
	fx.policy.evict = order;
	find_curve(points, 8, 0, PAGE, false);
	assert_int_equal(points[memory_pages - 1].device_faults, faults);
}

static void fault_order_has_beladys_anomaly_and_lru_has_not(void **state)
{
	(void)state;
	put_string(anomaly, sizeof(anomaly) / sizeof(*anomaly));
	assert_faults(&um_evict_fifo, 3, 9);
	assert_faults(&um_evict_fifo, 4, 10); /* more memory, more faults */
	assert_faults(&um_evict_lru, 3, 10);
	assert_faults(&um_evict_lru, 4, 8);
	for (size_t i = 1; i < 8; i++)
		assert_true(points[i].device_faults <= points[i - 1].device_faults);
	assert_faults(&um_evict_belady, 3, 7);
	assert_faults(&um_evict_belady, 4, 6);
}

static void a_textbook_string_has_the_textbooks_faults(void **state)
{
	(void)state;
	put_string(silberschatz, sizeof(silberschatz) / sizeof(*silberschatz));
	assert_faults(&um_evict_fifo, 3, 15);
	assert_faults(&um_evict_lru, 3, 12);
	assert_faults(&um_evict_belady, 3, 9);
}

/* --- where it is replays --- */

static void assert_replays(const char *why)
{
	struct um_curve curve = find_curve(points, 4, 0, 8 * PAGE, false);

	assert_int_equal(curve.method, UM_CURVE_REPLAYS);
	assert_string_equal(curve.why_replays, why);
	find_curve(replayed, 4, 0, 8 * PAGE, true);
	assert_same_points(4, why, 0);
}

static int64_t put_sweep(int64_t groups, int64_t stream)
{
	int64_t data = fx_alloc(&fx, "managed", 16 * PAGE);

	fx_launch(&fx, "k", groups, stream);
	for (int64_t i = 0; i < groups; i++)
		fx_touch_range(&fx, (uint64_t)i, data, i * 16 / groups, 16 / groups, true);
	fx_launch_end(&fx);
	return data;
}

static void groups_side_by_side_are_replayed(void **state)
{
	(void)state;
	put_sweep(4, 0);
	assert_replays(
		"several groups of a launch are in flight, and which touches next depends on "
		"their faults");
}

static void streams_side_by_side_are_replayed(void **state)
{
	(void)state;
	put_sweep(1, 1);
	put_sweep(1, 2);
	assert_replays("several streams touch side by side");
}

static void a_host_beside_the_device_is_replayed(void **state)
{
	int64_t data = put_sweep(1, 0);

	(void)state;
	fx_host(&fx, data, 0, 4, UM_TOUCH_READ);
	assert_replays("the host touches memory while the device may be busy");
}

static void prefetches_are_replayed(void **state)
{
	int64_t data = put_sweep(1, 0);

	(void)state;
	fx_prefetch(&fx, data, 16 * PAGE, 0, 0);
	assert_replays("the program's prefetches decide what moves");
	fx.policy.keep_program_prefetch = false;
	assert_int_equal(find_curve(points, 4, 0, 8 * PAGE, false).method, UM_CURVE_LISTS);
}

static void advice_is_replayed(void **state)
{
	int64_t data = put_sweep(1, 0);

	(void)state;
	fx_advise(&fx, data, "read_mostly", 0);
	assert_replays("the program's advice decides what moves");
}

static void copies_are_replayed(void **state)
{
	int64_t data = put_sweep(1, 0), pinned = fx_alloc(&fx, "pinned", 16 * PAGE);

	(void)state;
	fx_copy(&fx, pinned, data, 16 * PAGE, 0, false);
	assert_replays("copies of managed memory");
}

static void device_memory_in_between_is_replayed(void **state)
{
	(void)state;
	put_sweep(1, 0);
	fx_sync(&fx);
	fx_alloc(&fx, "device", 4 * PAGE);
	put_sweep(1, 0);
	assert_replays("device memory is allocated between touches");
}

static void units_that_are_not_filled_are_replayed(void **state)
{
	(void)state;
	put_sweep(1, 0);
	fx.policy.page_bytes = 2 << 20;
	assert_replays("an allocation does not fill its last page of the driver");
}

static void orders_that_draw_are_replayed(void **state)
{
	(void)state;
	put_sweep(1, 0);
	fx.policy.evict = &um_evict_random;
	assert_replays("touches alone do not decide the eviction order");
}

static void drivers_that_move_more_are_replayed(void **state)
{
	(void)state;
	put_sweep(1, 0);
	fx_policy(&fx, "driver: nvidia_uvm\n");
	assert_replays("the driver moves more than the unit of a fault");
}

/* --- knees --- */

static size_t knees_of(const uint64_t *bytes, size_t count, struct um_curve_knee *knees)
{
	struct um_curve_point at[16] = {0};

	for (size_t i = 0; i < count; i++) {
		at[i].bytes_to_device = bytes[i];
		at[i].error = bytes[i] == UINT64_MAX ? UM_ELIMIT : 0;
	}
	return um_curve_knees(at, count, knees, 4);
}

static void knees_are_where_it_rises(void **state)
{
	struct um_curve_knee knees[4];

	(void)state;
	/* Flat, and slowly rising. */
	assert_int_equal(knees_of((uint64_t[]){124, 110, 100, 100}, 4, knees), 0);
	/* One cliff, of two steps. */
	assert_int_equal(knees_of((uint64_t[]){1500, 1400, 300, 100, 100}, 5, knees), 1);
	assert_int_equal(knees[0].above, 3);
	assert_int_equal(knees[0].below, 1);
	/* Two, with a failed point at the lower end of one. */
	assert_int_equal(knees_of((uint64_t[]){900, UINT64_MAX, 310, 300, 100, 100}, 6, knees), 2);
	assert_int_equal(knees[0].above, 4);
	assert_int_equal(knees[0].below, 3);
	assert_int_equal(knees[1].above, 2);
	assert_int_equal(knees[1].below, 0);
	/* From nothing, and too little beside the most to be one. */
	assert_int_equal(knees_of((uint64_t[]){1000, 0}, 2, knees), 1);
	assert_int_equal(knees_of((uint64_t[]){100000, 90000, 2, 1}, 4, knees), 1);
	assert_int_equal(knees[0].above, 2);
	assert_int_equal(knees_of(NULL, 0, knees), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)
		CASE(every_point_is_what_a_replay_gives),
		CASE(memory_may_be_any),
		CASE(fault_order_has_beladys_anomaly_and_lru_has_not),
		CASE(a_textbook_string_has_the_textbooks_faults),
		CASE(groups_side_by_side_are_replayed),
		CASE(streams_side_by_side_are_replayed),
		CASE(a_host_beside_the_device_is_replayed),
		CASE(prefetches_are_replayed),
		CASE(advice_is_replayed),
		CASE(copies_are_replayed),
		CASE(device_memory_in_between_is_replayed),
		CASE(units_that_are_not_filled_are_replayed),
		CASE(orders_that_draw_are_replayed),
		CASE(drivers_that_move_more_are_replayed),
		cmocka_unit_test(knees_are_where_it_rises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
