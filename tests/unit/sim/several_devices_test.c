/*
 * Several devices in one simulation: whose streams wait for whose, and what crosses which link. Times as in
 * time_test.c; between devices a copy of n pages takes PL + n PP.
 */
#include "trace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define L	LATENCY_NS
#define P	PAGE_NS
#define PL	500
#define PP	20
#define OPS_MAX 64

static struct trace_fixture fx;
static struct um_op_row ops[OPS_MAX]; /* as simulated, by id */
static int64_t between[4][4];	      /* bytes of peer_traffic, from, to */

static void see_op(void *context, const struct um_op_row *row)
{
	(void)context;
	assert_true(row->op < OPS_MAX);
	ops[row->op] = *row;
}

static void see_peer(void *context, const struct um_peer_traffic_row *row)
{
	(void)context;
	between[row->source][row->destination] += row->bytes;
}

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	fx.machine.devices = 4;
	fx.extra.op = see_op;
	fx.extra.peer_traffic = see_peer;
	memset(ops, 0, sizeof(ops));
	memset(between, 0, sizeof(between));
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void link_devices(void)
{
	fx.machine.peer_link = (struct um_peer_link_spec){
		.name = "round peers", .bytes_per_s = PAGE * 1e9 / PP, .latency_ns = PL};
}

static void expect_times(int64_t op, int64_t start, int64_t end)
{
	assert_int_equal(ops[op].op, op);
	assert_int_equal(ops[op].start_ns, start);
	assert_int_equal(ops[op].end_ns, end);
}

static int64_t memory_of(int64_t device, int64_t pages)
{
	fx.device = device;
	return fx_alloc(&fx, "device", pages * PAGE);
}

/* On the device, from pinned memory. */
static int64_t put_copy(int64_t device, int64_t target, int64_t pinned, int64_t stream)
{
	fx.device = device;
	return fx_copy(&fx, target, pinned, PAGE, stream, true);
}

static void each_device_has_a_null_stream(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", PAGE);
	int64_t here = memory_of(0, 1), there = memory_of(1, 1);
	int64_t first, blocking, second, other;

	(void)state;
	first = put_copy(0, here, pinned, 0);
	blocking = put_copy(1, there, pinned, 7); /* waits for its own device's null stream alone */
	second = put_copy(1, there, pinned, 0);
	other = put_copy(0, here, pinned, 0);
	fx_run(&fx);
	expect_times(first, 0, L + P);
	expect_times(blocking, 0, L + P);
	expect_times(second, L + P, 2 * (L + P));
	expect_times(other, L + P, 2 * (L + P));
}

static void a_device_is_waited_for_alone(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", PAGE);
	int64_t here = memory_of(0, 1), there = memory_of(1, 1);
	int64_t for_idle, for_busy, for_other;

	(void)state;
	put_copy(0, here, pinned, 3);
	put_copy(0, here, pinned, 0);
	put_copy(1, there, pinned, 4);
	fx.device = 2;
	for_idle = fx_sync(&fx);
	fx.device = 1;
	for_busy = fx_sync(&fx);
	fx.device = 0;
	for_other = fx_sync(&fx);
	fx_run(&fx);
	expect_times(for_idle, 0, 0);
	expect_times(for_busy, 0, L + P);
	expect_times(for_other, L + P, 2 * (L + P));
}

/* Of the stream that a prefetch is on the trace tells the device: its own is where pages go. */
static void a_prefetch_is_in_the_order_of_its_stream(void **state)
{
	int64_t data, op;

	(void)state;
	fx.device = 1;
	data = fx_alloc(&fx, "managed", PAGE);
	fx_host(&fx, data, 0, 1, UM_TOUCH_WRITTEN);
	fx_op(&fx, &(struct um_op_row){.kind = "prefetch",
				       .flags = UM_OP_ASYNC,
				       .allocation = data,
				       .bytes = PAGE,
				       .device = 2,
				       .value = 1});
	op = fx_sync(&fx);
	fx_run(&fx);
	expect_times(op, 0, L + P);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], PAGE);
}

static void queries_that_found_it_done_are_waits(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", PAGE), here = memory_of(0, 1);
	int64_t event, stream;

	(void)state;
	put_copy(0, here, pinned, 1);
	fx_op(&fx, &(struct um_op_row){.kind = "event_record", .event = 5, .stream = 1});
	put_copy(0, here, pinned, 1);
	event = fx_op(&fx, &(struct um_op_row){.kind = "event_query", .event = 5});
	stream = fx_op(&fx, &(struct um_op_row){.kind = "stream_query", .stream = 1});
	fx_run(&fx);
	expect_times(event, 0, L + P);
	expect_times(stream, L + P, 2 * (L + P));
}

static void copies_take_the_link_between(void **state)
{
	int64_t first = memory_of(0, 8), second = memory_of(1, 8), third = memory_of(2, 8);
	int64_t there, again, back, elsewhere;

	(void)state;
	fx.device = 0;
	there = fx_copy(&fx, second, first, 8 * PAGE, 1, true);
	again = fx_copy(&fx, second, first, 4 * PAGE, 2, true);
	back = fx_copy(&fx, first, second, 2 * PAGE, 3, true);
	elsewhere = fx_copy(&fx, third, first, 2 * PAGE, 4, true);
	link_devices();
	fx_run(&fx);
	expect_times(there, 0, PL + 8 * PP);
	expect_times(again, 0, 2 * PL + 12 * PP); /* the same link */
	expect_times(back, 0, PL + 2 * PP);
	expect_times(elsewhere, 0, PL + 2 * PP);
	assert_int_equal(between[0][1], 12 * PAGE);
	assert_int_equal(between[1][0], 2 * PAGE);
	assert_int_equal(between[0][2], 2 * PAGE);
	assert_int_equal(fx.totals.peer_copied, 16 * PAGE);
	assert_int_equal(fx.totals.bytes_to_device + fx.totals.bytes_to_host, 0);
}

static void without_one_they_go_through_the_host(void **state)
{
	int64_t first = memory_of(0, 8), second = memory_of(1, 8);

	(void)state;
	fx_copy(&fx, second, first, 8 * PAGE, 1, true);
	fx_run(&fx);
	assert_int_equal(fx.totals.copied_to_host, 8 * PAGE);
	assert_int_equal(fx.totals.copied_to_device, 8 * PAGE);
	assert_int_equal(fx.totals.peer_copied, 0);
}

/* A kernel of device 1 reads 4 pages of device 0's memory and writes 2 lines of each of 3 others. */
static int64_t put_visitor(int64_t memory)
{
	int64_t op;

	fx.device = 1;
	op = fx_launch(&fx, "visitor", 1, 0);
	fx_touch_range(&fx, 0, memory, 0, 7, false);
	fx_lines(&fx, memory, 0, 4, UM_TOUCH_READ, UINT64_MAX, 0);
	fx_lines(&fx, memory, 4, 3, UM_TOUCH_WRITTEN, 0, 3);
	fx_launch_end(&fx);
	return op;
}

static void kernels_access_other_devices_memory(void **state)
{
	int64_t memory = memory_of(0, 8), op;

	(void)state;
	op = put_visitor(memory);
	link_devices();
	fx_run(&fx);
	assert_int_equal(between[0][1], 4 * PAGE);
	assert_int_equal(between[1][0], 3 * 2 * 64);
	assert_int_equal(fx.totals.peer_remote, 4 * PAGE + 3 * 2 * 64);
	assert_int_equal(fx.totals.bytes_to_device + fx.totals.bytes_to_host, 0);
	expect_times(op, 0, PL + 4 * PP);
}

static void without_a_link_through_the_host_too(void **state)
{
	(void)state;
	put_visitor(memory_of(0, 8));
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_to_device, 4 * PAGE);
	assert_int_equal(fx.totals.remote_to_host, 3 * 2 * 64);
	assert_int_equal(fx.totals.peer_remote, 0);
}

/* The device's own memory is no link's. */
static void kernels_access_their_own_memory(void **state)
{
	(void)state;
	put_visitor(memory_of(1, 8));
	link_devices();
	fx_run(&fx);
	assert_int_equal(fx.totals.peer_remote + fx.totals.remote_to_device, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_device_has_a_null_stream),
		TEST(a_device_is_waited_for_alone),
		TEST(a_prefetch_is_in_the_order_of_its_stream),
		TEST(queries_that_found_it_done_are_waits),
		TEST(copies_take_the_link_between),
		TEST(without_one_they_go_through_the_host),
		TEST(kernels_access_other_devices_memory),
		TEST(without_a_link_through_the_host_too),
		TEST(kernels_access_their_own_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
