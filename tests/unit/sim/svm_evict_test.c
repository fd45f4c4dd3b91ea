/*
 * Driver amdgpu_svm under every eviction order: a unit is a buffer object, which leaves whole and
 * with all its data, written or not, since no page has two copies there.
 */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define XNACK_ON "xnack: on, kernel: '6.8'"

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, XNACK_ON);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

/* memory_mib 0: the machine's. */
static void run_with(const char *evict, int memory_mib)
{
	char keys[96], memory[32] = "";

	if (memory_mib)
		snprintf(memory, sizeof(memory), "memory: %dMiB\n", memory_mib);
	snprintf(keys, sizeof(keys), "%sevict: %s\n", memory, evict);
	svm_choose(&svm, XNACK_ON, keys);
	svm_run(&svm);
}

static uint64_t evicted_bytes(void)
{
	return svm.fx.totals.migrated_to_host[UM_CAUSE_EVICTION];
}

/* One launch reads six allocations of 2 MiB one after the other, five times; memory has three. */
static void put_sweeps(void)
{
	int64_t data[6];

	for (int i = 0; i < 6; i++)
		data[i] = svm_data(&svm, WINDOW);
	fx_launch(&svm.fx, "sweep", 1, 0);
	for (int sweep = 0; sweep < 5; sweep++)
		for (int i = 0; i < 6; i++)
			fx_touch_range(&svm.fx, 0, data[i], 0, WINDOW, false);
	fx_launch_end(&svm.fx);
}

static void sweeps_over_buffer_objects(void **state)
{
	static const struct {
		const char *evict;
		/* belady: 3, then 3 of every 5 of the other 27: 3 + 5 * 3 + 2 */
		uint64_t misses;
	} expected[] = {{"driver", 30}, {"fifo", 30}, {"lru", 30}, {"belady", 20}};

	(void)state;
	put_sweeps();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		run_with(expected[i].evict, 6);
		assert_int_equal(svm.fx.totals.bytes_to_device, expected[i].misses * WINDOW * PAGE);
		/* Nothing was written on the device, and all of it is copied back. */
		assert_int_equal(evicted_bytes(), (expected[i].misses - 3) * WINDOW * PAGE);
	}
}

static void random_draws_from_its_seed(void **state)
{
	uint64_t bytes[3], end_ns;

	(void)state;
	put_sweeps();
	run_with("random\nevict_seed: 1", 6);
	bytes[0] = svm.fx.totals.bytes_to_device;
	end_ns = svm.fx.totals.end_ns;
	run_with("random\nevict_seed: 1", 6);
	assert_int_equal(svm.fx.totals.bytes_to_device, bytes[0]);
	assert_int_equal(svm.fx.totals.end_ns, end_ns);
	assert_in_range(bytes[0], 20 * WINDOW * PAGE, 30 * WINDOW * PAGE);
	run_with("random\nevict_seed: 2", 6);
	bytes[1] = svm.fx.totals.bytes_to_device;
	run_with("random\nevict_seed: 3", 6);
	bytes[2] = svm.fx.totals.bytes_to_device;
	assert_true(bytes[1] != bytes[0] || bytes[2] != bytes[0]);
}

/*
 * Objects of 4 MiB, of which a launch needs a window at a time; room for two of three. (A device of
 * 128 MiB has ranges of up to 4 MiB, a smaller one of 2 MiB.)
 */
static void any_window_of_an_object_is_a_touch_of_it(void **state)
{
	int64_t a = svm_data(&svm, 2 * WINDOW), b = svm_data(&svm, 2 * WINDOW);
	int64_t c = svm_data(&svm, 2 * WINDOW);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(128 * MIB);
	svm_leave(&svm, 8 * MIB);
	svm_read(&svm, a, 0, WINDOW);
	svm_read(&svm, b, 0, WINDOW);
	svm_read(&svm, a, 0, 1); /* a hit: b is the least recently used */
	svm_read(&svm, c, 0, WINDOW);
	svm_read(&svm, a, WINDOW, WINDOW); /* the other window: belady waits for it */
	run_with("fifo", 0);		   /* a for c, then b for a */
	assert_int_equal(evicted_bytes(), 2 * WINDOW * PAGE);
	run_with("lru", 0); /* b for c */
	assert_int_equal(evicted_bytes(), WINDOW * PAGE);
	run_with("belady", 0);
	assert_int_equal(evicted_bytes(), WINDOW * PAGE);
}

/* Pages that nobody has touched came with the block (cleared) and go with it. */
static void what_came_without_data_leaves_with_data(void **state)
{
	int64_t a = svm_alloc(&svm, WINDOW), b = svm_alloc(&svm, WINDOW);

	(void)state;
	svm_write(&svm, a, 0, 1);
	svm_write(&svm, b, 0, 1);
	run_with("driver", 2);
	assert_int_equal(svm.fx.totals.bytes_to_device, 0);
	assert_int_equal(evicted_bytes(), WINDOW * PAGE);
}

/* hipMalloc drives out the object that its order names. */
static void a_device_allocation_drives_out_by_the_order(void **state)
{
	static const struct {
		const char *evict;
		int64_t refaults;
	} expected[] = {{"fifo", 1}, {"lru", 0}, {"belady", 0}};
	int64_t a = svm_data(&svm, WINDOW), b = svm_data(&svm, WINDOW), again;

	(void)state;
	svm_read(&svm, a, 0, WINDOW);
	svm_read(&svm, b, 0, WINDOW);
	svm_read(&svm, a, 0, WINDOW);
	fx_alloc(&svm.fx, "device", 2 * MIB);
	again = svm_read(&svm, a, 0, WINDOW);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		run_with(expected[i].evict, 4);
		assert_int_equal(row_log_faults(&svm.log, again, 0), expected[i].refaults);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sweeps_over_buffer_objects),
		TEST(random_draws_from_its_seed),
		TEST(any_window_of_an_object_is_a_touch_of_it),
		TEST(what_came_without_data_leaves_with_data),
		TEST(a_device_allocation_drives_out_by_the_order),
	};

	return cmocka_run_group_tests_name("svm_evict", tests, NULL, NULL);
}
