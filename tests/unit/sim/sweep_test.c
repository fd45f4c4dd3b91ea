/*
 * Many simulations of one trace: each gives what it gives alone, whatever the threads and however
 * little the cache keeps; one that fails leaves the others; and what is varied, as it is written.
 */
#include "sim/sweep/sweep.h"
#include "sim/sweep/sweep_axis.h"
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS 12
#define PAGES  64

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

/* Launches whose groups go on in several chunks, and launches of one group in each chunk. */
static void put_program(void)
{
	int64_t data = fx_alloc(&fx, "managed", PAGES * PAGE);

	fx_host(&fx, data, 0, PAGES, UM_TOUCH_WRITTEN);
	for (int64_t launch = 0; launch < 6; launch++) {
		fx_launch(&fx, "k", 4, 0);
		for (uint64_t group = 0; group < 4; group++) {
			for (int64_t i = 0; i < 40; i++)
				fx_touch(&fx, group, data,
					 (i * 7 + (int64_t)group * 13 + launch) % PAGES,
					 i % 3 == 0);
			if (launch % 2 || group % 2)
				fx_next_chunk(&fx);
		}
		fx_launch_end(&fx);
		if (launch == 2)
			fx_host(&fx, data, 0, PAGES / 2, UM_TOUCH_READ);
	}
}

static struct um_policy policies[POINTS];
static struct um_sweep_point points[POINTS];
static struct um_totals alone[POINTS];

/* Memory for 5, 10, ... pages; each run alone first. */
static void put_points(void)
{
	for (size_t i = 0; i < POINTS; i++) {
		policies[i] = fx.policy;
		policies[i].memory_bytes = (i + 1) * 5 * PAGE;
		points[i] = (struct um_sweep_point){&policies[i], &fx.machine};
		fx.policy.memory_bytes = policies[i].memory_bytes;
		memset(&fx.totals, 0, sizeof(fx.totals));
		fx_run(&fx);
		alone[i] = fx.totals;
	}
}

static size_t told[POINTS];
static int errors[POINTS];

static int check_result(void *context, size_t point, const struct um_sweep_result *result)
{
	told[point]++;
	errors[point] = result->error;
	if (context)
		return ++*(int *)context == 3 ? UM_ECHECK : 0;
	if (!result->error)
		assert_memory_equal(&result->totals, &alone[point], sizeof(result->totals));
	return 0;
}

static int sweep(unsigned threads, uint64_t cache_bytes)
{
	memset(told, 0, sizeof(told));
	return um_sweep_run(&(struct um_sweep){.trace_path = fx.path,
					       .points = points,
					       .count = POINTS,
					       .threads = threads,
					       .cache_bytes = cache_bytes,
					       .result = check_result});
}

static void each_gives_what_it_gives_alone(void **state)
{
	/* 1 byte: a piece is a single chunk, and nothing is kept; 4 KiB: some of it is. */
	static const uint64_t caches[] = {0, 1, 4096};

	(void)state;
	put_program();
	put_points();
	assert_int_not_equal(alone[0].bytes_to_device, alone[POINTS - 1].bytes_to_device);
	for (unsigned threads = 1; threads <= 5; threads += 2)
		for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
			assert_int_equal(sweep(threads, caches[i]), 0);
			for (size_t point = 0; point < POINTS; point++)
				assert_int_equal(told[point], 1);
		}
}

static void one_that_fails_leaves_the_others(void **state)
{
	(void)state;
	put_program();
	put_points();
	policies[4].page_bytes = 12345; /* the driver has no such size */
	assert_int_equal(sweep(2, 0), 0);
	for (size_t i = 0; i < POINTS; i++)
		assert_int_equal(errors[i], i == 4 ? UM_EINVAL : 0);
}

static void a_callback_stops_it(void **state)
{
	int calls = 0;

	(void)state;
	put_program();
	put_points();
	assert_int_equal(um_sweep_run(&(struct um_sweep){.trace_path = fx.path,
							 .points = points,
							 .count = POINTS,
							 .threads = 2,
							 .cache_bytes = 1,
							 .result = check_result,
							 .context = &calls}),
			 UM_ECHECK);
	assert_int_equal(calls, 3);
}

static void what_cannot_be_run_is_told(void **state)
{
	(void)state;
	put_program();
	put_points();
	assert_int_equal(sweep(0, 0), UM_EINVAL);
	assert_int_equal(sweep(UM_SWEEP_THREADS_MAX + 1, 0), UM_EINVAL);
	assert_int_equal(um_sweep_run(&(struct um_sweep){.trace_path = "/nowhere.um.db",
							 .points = points,
							 .count = 1,
							 .threads = 1,
							 .result = check_result}),
			 UM_ENOENT);
}

/* ---------------------------------------------------------------- what is varied */

static void values_are(const char *text, const char *first, ...)
{
	struct um_sweep_axis axis;
	va_list arguments;
	size_t count = 0;

	assert_int_equal(um_sweep_axis_parse(&axis, text), 0);
	va_start(arguments, first);
	for (const char *value = first; value; value = va_arg(arguments, const char *)) {
		assert_true(count < axis.count);
		assert_string_equal(axis.values[count++].text, value);
	}
	va_end(arguments);
	assert_int_equal(count, axis.count);
	um_sweep_axis_fini(&axis);
}

static void ranges_have_both_ends(void **state)
{
	(void)state;
	values_are("memory=4GiB..16GiB/4", "4GiB", "8GiB", "12GiB", "16GiB", NULL);
	values_are("memory=512MiB..2GiB/2", "512MiB", "2GiB", NULL);
	values_are("memory=16KiB..28KiB/3", "16KiB", "20KiB", "28KiB", NULL); /* whole pages */
	values_are("memory=1x..0.5x/3", "1x", "0.75x", "0.5x", NULL);
	values_are("driver.fault_latency=10us..1ms/2", "10000ns", "1000000ns", NULL);
	values_are("evict_seed=1..9/3", "1", "5", "9", NULL);
	values_are("page_size=4KiB,2MiB", "4KiB", "2MiB", NULL);
}

static void what_cannot_be_varied_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"=",
		"memory",
		"=4GiB",
		"memory=",
		"memory=,",
		"memory=..",
		"memory=../2",
		"memory=1GiB..",
		"memory=1GiB../2",
		"memory=1GiB..2GiB",
		"memory=1GiB..2GiB/",
		"memory=1GiB..2GiB/0",
		"memory=1GiB..2GiB/1",
		"memory=1GiB..2GiB/-2",
		"memory=1GiB..2GiB/99999999999",
		"memory=1GiB..2x/2",
		"memory=1..2/2",
		"memory=4KiB,4096B",
		"advise=x",
		"prefetch=x",
		"program=x",
		"driver.=x",
		".=x",
		"..=x",
		"driver..=1",
		"a.b.c.d=1",
		"memory=1GiB..2GiB/2/2",
		"driver.nothing=1",
		"machine=nothing",
		"driver=nothing",
		"page_size=0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct um_sweep_axis axis;

		assert_int_equal(um_sweep_axis_parse(&axis, wrong[i]), UM_EINVAL);
		assert_non_null(strstr(um_error_message(), "--vary"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_gives_what_it_gives_alone, open_trace,
						close_trace),
		cmocka_unit_test_setup_teardown(one_that_fails_leaves_the_others, open_trace,
						close_trace),
		cmocka_unit_test_setup_teardown(a_callback_stops_it, open_trace, close_trace),
		cmocka_unit_test_setup_teardown(what_cannot_be_run_is_told, open_trace,
						close_trace),
		cmocka_unit_test(ranges_have_both_ends),
		cmocka_unit_test(what_cannot_be_varied_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
