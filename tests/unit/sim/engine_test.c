#include "sim/engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define EVENTS 1000

static struct um_engine *engine;
static uint64_t order[2 * EVENTS];
static um_ns times[2 * EVENTS];
static size_t seen;

static int make_engine(void **state)
{
	(void)state;
	seen = 0;
	return um_engine_create(&engine);
}

static int destroy_engine(void **state)
{
	(void)state;
	um_engine_destroy(engine);
	return 0;
}

static int note(void *context, uint64_t argument)
{
	(void)context;
	order[seen] = argument;
	times[seen++] = um_engine_now(engine);
	return 0;
}

static void events_run_by_time_and_then_in_the_order_of_scheduling(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint64_t i = 0; i < EVENTS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
		assert_int_equal(um_engine_schedule(engine, (seed >> 33) % 50, note, NULL, i), 0);
	}
	assert_int_equal(um_engine_run(engine), 0);
	assert_int_equal(seen, EVENTS);
	assert_int_equal(um_engine_events(engine), EVENTS);
	for (size_t i = 1; i < EVENTS; i++)
		assert_true(times[i - 1] < times[i] ||
			    (times[i - 1] == times[i] && order[i - 1] < order[i]));
}

static int again(void *context, uint64_t argument)
{
	note(context, argument);
	if (argument == 0)
		return 0;
	return um_engine_schedule(engine, um_engine_now(engine), again, context, argument - 1);
}

static void an_event_can_schedule_one_at_its_own_time(void **state)
{
	(void)state;
	um_engine_schedule(engine, 7, again, NULL, 3);
	um_engine_schedule(engine, 7, note, NULL, 100);
	um_engine_run(engine);
	assert_int_equal(seen, 5);
	assert_int_equal(order[1], 100); /* was scheduled before what the first one scheduled */
	assert_int_equal(um_engine_now(engine), 7);
}

static int stop(void *context, uint64_t argument)
{
	(void)context;
	return (int)argument;
}

static void an_event_can_stop_the_run(void **state)
{
	(void)state;
	um_engine_schedule(engine, 1, stop, NULL, 42);
	um_engine_schedule(engine, 2, note, NULL, 0);
	assert_int_equal(um_engine_run(engine), 42);
	assert_int_equal(seen, 0);
}

static void count(void *context)
{
	++*(int *)context;
}

static void a_watcher_is_called_after_each_event(void **state)
{
	int calls = 0;

	(void)state;
	um_engine_watch(engine, count, &calls);
	um_engine_schedule(engine, 1, again, NULL, 2);
	um_engine_run(engine);
	assert_int_equal(calls, 3);
	um_engine_schedule(engine, 2, stop, NULL, 42); /* fails: what it left is nobody's matter */
	um_engine_run(engine);
	assert_int_equal(calls, 3);
	um_engine_watch(engine, NULL, NULL);
	um_engine_schedule(engine, 3, note, NULL, 0);
	um_engine_run(engine);
	assert_int_equal(calls, 3);
}

static void a_server_takes_jobs_one_after_the_other(void **state)
{
	struct um_server server = {0, 0};

	(void)state;
	assert_int_equal(um_server_book(&server, 10, 5), 15);
	assert_int_equal(um_server_book(&server, 11, 5), 20); /* waits */
	assert_int_equal(um_server_book(&server, 30, 5), 35); /* idle before */
	assert_int_equal(server.busy, 15);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_engine, destroy_engine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_run_by_time_and_then_in_the_order_of_scheduling),
		TEST(an_event_can_schedule_one_at_its_own_time),
		TEST(an_event_can_stop_the_run),
		TEST(a_watcher_is_called_after_each_event),
		TEST(a_server_takes_jobs_one_after_the_other),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
