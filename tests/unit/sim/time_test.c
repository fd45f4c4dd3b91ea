/*
 * Simulated time against closed forms. A transfer of n pages takes L + n * P (LATENCY_NS, PAGE_NS);
 * a fault F before that; a launch and everything else nothing unless a test says so.
 */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define F	10000
#define L	LATENCY_NS
#define P	PAGE_NS
#define OPS_MAX 64

static struct trace_fixture fx;
static struct um_op_row ops[OPS_MAX]; /* as simulated, by id */

static void see_op(void *context, const struct um_op_row *row)
{
	(void)context;
	assert_true(row->op < OPS_MAX);
	ops[row->op] = *row;
}

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	fx.extra.op = see_op;
	memset(ops, 0, sizeof(ops));
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void expect_times(int64_t op, int64_t start, int64_t end)
{
	assert_int_equal(ops[op].op, op);
	assert_int_equal(ops[op].start_ns, start);
	assert_int_equal(ops[op].end_ns, end);
}

static int64_t put_data(int64_t pages)
{
	int64_t allocation = fx_alloc(&fx, "managed", pages * PAGE);

	fx_host(&fx, allocation, 0, pages, UM_TOUCH_WRITTEN);
	return allocation;
}

static int64_t put_reader(int64_t allocation, int64_t first, int64_t pages, int64_t stream)
{
	int64_t op = fx_launch(&fx, "reader", 1, stream);

	fx_touch_range(&fx, 0, allocation, first, pages, false);
	fx_launch_end(&fx);
	return op;
}

static void faults_are_served_one_after_the_other(void **state)
{
	int64_t data = put_data(64), op;

	(void)state;
	fx.fault_latency.integer = F;
	op = put_reader(data, 0, 64, 0);
	fx_run(&fx);
	expect_times(op, 0, 64 * (F + L + P));
	fx.policy.page_bytes = 65536;
	fx_run(&fx);
	expect_times(op, 0, 4 * (F + L + 16 * P));
	assert_int_equal(fx.totals.link_to_device_ns, 4 * (L + 16 * P));
	assert_int_equal(fx.totals.end_ns, 4 * (F + L + 16 * P));
}

static void the_host_waits_for_its_faults(void **state)
{
	int64_t data = put_data(16), op;

	(void)state;
	fx.fault_latency.integer = F;
	fx.policy.page_bytes = 65536;
	put_reader(data, 0, 16, 0);
	fx_sync(&fx);
	op = fx_host(&fx, data, 3, 1, UM_TOUCH_READ);
	fx_run(&fx);
	expect_times(op, F + L + 16 * P, 2 * (F + L + 16 * P));
	assert_int_equal(fx.totals.link_to_host_ns, L + 16 * P);
}

static void a_launch_takes_its_time_and_the_memory_its_bytes(void **state)
{
	int64_t data = fx_alloc(&fx, "device", 16 * PAGE), op;

	(void)state;
	fx.machine.launch_ns = 6000;
	fx.machine.memory_bytes_per_s = 1e9; /* a byte a ns */
	op = put_reader(data, 0, 16, 0);
	assert_int_equal(
		um_db_exec(fx.db, "UPDATE kernel SET bytes_read = 700, bytes_written = 300"), 0);
	fx_run(&fx);
	expect_times(op, 0, 6000 + 1000);
}

static void a_prefetch_is_one_transfer(void **state)
{
	int64_t data = put_data(1000), op;

	(void)state;
	op = fx_prefetch(&fx, data, 1000 * PAGE, 0, 0);
	fx_run(&fx);
	expect_times(op, 0, L + 1000 * P);
}

static void a_kernel_waits_for_the_pages_that_are_on_their_way(void **state)
{
	int64_t data = put_data(100), first, last;

	(void)state;
	fx_op(&fx, &(struct um_op_row){
			   .kind = "stream_create", .stream = 1, .flags = UM_OP_NON_BLOCKING});
	fx_op(&fx, &(struct um_op_row){
			   .kind = "stream_create", .stream = 2, .flags = UM_OP_NON_BLOCKING});
	fx_prefetch(&fx, data, 100 * PAGE, 0, 0);
	first = put_reader(data, 0, 10, 1); /* there after the first ten pages */
	last = put_reader(data, 90, 10, 2);
	fx_run(&fx);
	expect_times(first, 0, L + 10 * P);
	expect_times(last, 0, L + 100 * P);
	assert_int_equal(fx.totals.device_faults, 0);
}

static void eviction_delays_what_comes_in(void **state)
{
	int64_t data = put_data(2), op;

	(void)state;
	op = put_reader(data, 0, 2, 0);
	fx.policy.memory_bytes = PAGE;
	fx.fault_latency.integer = F;
	fx_run(&fx);
	/* page 0 in; page 0 out, then page 1 in */
	expect_times(op, 0, (F + L + P) + (F + L + P) + (L + P));
}

static void a_device_allocation_waits_for_what_it_evicts(void **state)
{
	int64_t data = put_data(8), device;

	(void)state;
	put_reader(data, 0, 8, 0);
	fx_sync(&fx);
	device = fx.ops + 1;
	fx_alloc(&fx, "device", 3 * PAGE);
	fx.policy.memory_bytes = 8 * PAGE;
	fx.policy.page_bytes = 4096;
	fx_run(&fx);
	expect_times(device, 8 * (L + P), 8 * (L + P) + L + 3 * P);
}

static int64_t put_async_copy(int64_t device, int64_t pinned, int64_t pages, int64_t stream)
{
	return fx_copy(&fx, device, pinned, pages * PAGE, stream, true);
}

static void two_streams_share_a_link(void **state)
{
	int64_t device = fx_alloc(&fx, "device", 64 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 64 * PAGE);
	int64_t first, second, back;

	(void)state;
	first = put_async_copy(device, pinned, 8, 1);
	second = put_async_copy(device, pinned, 4, 2);
	back = put_async_copy(pinned, device, 4, 3); /* the other direction is free */
	fx_run(&fx);
	expect_times(first, 0, L + 8 * P);
	expect_times(second, 0, (L + 8 * P) + (L + 4 * P));
	expect_times(back, 0, L + 4 * P);
}

static void the_null_stream_waits_and_is_waited_for(void **state)
{
	int64_t device = fx_alloc(&fx, "device", 64 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 64 * PAGE);
	int64_t blocking, null, after, free_running;

	(void)state;
	fx_op(&fx, &(struct um_op_row){
			   .kind = "stream_create", .stream = 9, .flags = UM_OP_NON_BLOCKING});
	blocking = put_async_copy(device, pinned, 1, 1);     /* in */
	null = put_async_copy(pinned, device, 1, 0);	     /* out */
	after = put_async_copy(device, pinned, 1, 2);	     /* in */
	free_running = put_async_copy(pinned, device, 1, 9); /* out */
	fx_run(&fx);
	expect_times(blocking, 0, L + P);
	expect_times(free_running, 0, L + P);
	expect_times(null, L + P, 2 * (L + P));
	expect_times(after, 2 * (L + P), 3 * (L + P));
}

static void a_stream_waits_for_an_event(void **state)
{
	int64_t device = fx_alloc(&fx, "device", 64 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 64 * PAGE);
	int64_t waiting, host;

	(void)state;
	put_async_copy(device, pinned, 3, 1);
	fx_op(&fx, &(struct um_op_row){.kind = "event_record", .event = 5, .stream = 1});
	put_async_copy(device, pinned, 20, 1); /* behind the recording */
	fx_op(&fx, &(struct um_op_row){.kind = "stream_wait", .event = 5, .stream = 2});
	waiting = put_async_copy(pinned, device, 1, 2);
	host = fx_op(&fx, &(struct um_op_row){.kind = "event_sync", .event = 5});
	fx_run(&fx);
	expect_times(waiting, L + 3 * P, (L + 3 * P) + (L + P));
	expect_times(host, 0, L + 3 * P);
}

static void the_host_waits_where_the_program_did(void **state)
{
	int64_t device = fx_alloc(&fx, "device", 64 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 64 * PAGE);
	int64_t async, stream, blocking, freed;

	(void)state;
	put_async_copy(device, pinned, 2, 1);
	async = fx_op(&fx, &(struct um_op_row){.kind = "attach"});
	stream = fx_op(&fx, &(struct um_op_row){.kind = "sync_stream", .stream = 1});
	blocking = fx_copy(&fx, device, pinned, 4 * PAGE, 1, false);
	put_async_copy(device, pinned, 8, 1);
	freed = fx_free(&fx, device);
	fx_run(&fx);
	expect_times(async, 0, 0);
	expect_times(stream, 0, L + 2 * P);
	expect_times(blocking, L + 2 * P, 2 * L + 6 * P);
	expect_times(freed, 2 * L + 6 * P, 3 * L + 14 * P);
}

static void remote_accesses_take_the_link_or_their_requests(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", 4 * PAGE), op;

	(void)state;
	op = put_reader(pinned, 0, 4, 0);
	fx_lines(&fx, pinned, 0, 4, UM_TOUCH_READ, UINT64_MAX, 0);
	fx_run(&fx);
	expect_times(op, 0, L + 4 * P);
	fx.machine.link.remote_requests_per_s = 1e7; /* one in 100 ns */
	fx_run(&fx);
	expect_times(op, 0, 4 * 64 * 100);
}

/*
 * Groups in flight: 4 units * 8 waves = 32 groups of a wave; what they fault on is served in order.
 */
static uint64_t fault_pages[256];
static size_t faults_seen;

static void see_fault(void *context, const struct um_fault_row *row)
{
	(void)context;
	assert_true(faults_seen < 256);
	assert_int_equal(row->pages, 1);
	assert_int_equal(row->faults, 1);
	fault_pages[faults_seen++] = (uint64_t)row->first_page;
}

static void groups_in_flight_take_turns(void **state)
{
	int64_t data = put_data(128);

	(void)state;
	fx.extra.fault = see_fault;
	fx_launch(&fx, "k", 64, 0);
	for (uint64_t group = 0; group < 64; group++)
		fx_touch_range(&fx, group, data, (int64_t)group * 2, 2, false);
	fx_launch_end(&fx);
	faults_seen = 0;
	fx_run(&fx);
	assert_int_equal(faults_seen, 128);
	for (uint64_t i = 0; i < 32; i++) {
		assert_int_equal(fault_pages[i], 2 * i);	  /* the first 32, one page each */
		assert_int_equal(fault_pages[32 + i], 2 * i + 1); /* then their second */
	}
	assert_int_equal(fault_pages[64], 64); /* group 32 came in for group 0 */
}

static void a_fault_is_of_the_page_that_was_touched(void **state)
{
	int64_t data = put_data(64);

	(void)state;
	fx.extra.fault = see_fault;
	fx.policy.page_bytes = 65536;
	fx_launch(&fx, "k", 1, 0);
	fx_touch(&fx, 0, data, 5, false);
	fx_touch(&fx, 0, data, 6, false);
	fx_touch(&fx, 0, data, 40, true);
	fx_launch_end(&fx);
	faults_seen = 0;
	fx_run(&fx);
	assert_int_equal(faults_seen, 2);
	assert_int_equal(fault_pages[0], 5);
	assert_int_equal(fault_pages[1], 40);
	assert_int_equal(fx.totals.bytes_to_device, 32 * PAGE);
}

static struct um_mapping_row mapped;

static void see_mapping(void *context, const struct um_mapping_row *row)
{
	(void)context;
	if (!strcmp(row->change, "remote"))
		mapped = *row;
}

static void a_mapping_tells_its_cause_and_batch(void **state)
{
	int64_t data = put_data(64);

	(void)state;
	fx.extra.mapping = see_mapping;
	fx.policy.page_bytes = 65536;
	fx_advise(&fx, data, "preferred_location", UM_HOST);
	put_reader(data, 0, 1, 0);
	put_reader(data, 37, 1, 0);
	fx_run(&fx);
	assert_int_equal(mapped.first_page, 32);
	assert_int_equal(mapped.pages, 16);
	assert_string_equal(mapped.cause, "device_fault");
	assert_int_equal(mapped.batch, 2);
	assert_int_equal(fx.totals.device_faults, 2);
}

static void groups_join_a_fault_that_waits(void **state)
{
	int64_t data = put_data(2), op;

	(void)state;
	fx.fault_latency.integer = F;
	op = fx_launch(&fx, "k", 32, 0);
	for (uint64_t group = 0; group < 32; group++)
		fx_touch_range(&fx, group, data, 0, 2, true);
	fx_launch_end(&fx);
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 2);
	expect_times(op, 0, 2 * (F + L + P));
}

/* --- the host's own time --- */

static int64_t raised_ns[8];
static size_t raised;

static void see_host_fault(void *context, const struct um_fault_row *row)
{
	(void)context;
	if (row->device == UM_HOST && raised < 8)
		raised_ns[raised++] = row->start_ns;
}

static void set_times(int64_t op, int64_t start, int64_t end)
{
	char text[128];

	snprintf(text, sizeof(text), "UPDATE op SET start_ns = %lld, end_ns = %lld WHERE op = %lld",
		 (long long)start, (long long)end, (long long)op);
	assert_int_equal(um_db_exec(fx.db, text), 0);
}

/* Calls take none; a host op takes what passed since the call before it ended, to its own end. */
static void the_host_takes_the_time_between_its_calls(void **state)
{
	int64_t data, host, first, second;

	(void)state;
	data = fx_alloc(&fx, "managed", 4 * PAGE);
	set_times(fx.ops, 1000, 5000);
	host = fx_host(&fx, data, 0, 4, UM_TOUCH_WRITTEN);
	set_times(host, 2000, 45000);
	first = fx_sync(&fx);
	set_times(first, 45700, 9000000);
	second = fx_sync(&fx);
	set_times(second, 9000300, 9000400);
	fx_run(&fx);
	expect_times(second, 0, 0);
	fx.host_time = true;
	fx_run(&fx);
	expect_times(host, 0, 40000);
	expect_times(first, 40700, 40700);
	expect_times(second, 41000, 41000);
}

/* No clock has them, and what passed since might be more than a number holds. */
static void times_below_0_are_not_known(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE), host, sync;

	(void)state;
	set_times(fx.ops, INT64_MIN + 1, INT64_MIN + 2);
	host = fx_host(&fx, data, 0, 4, UM_TOUCH_WRITTEN);
	set_times(host, INT64_MIN + 3, INT64_MAX);
	sync = fx_sync(&fx);
	set_times(sync, INT64_MAX, INT64_MAX);
	fx.host_time = true;
	fx_run(&fx);
	expect_times(host, 0, 0);
	expect_times(sync, 0, 0);
}

/* Of 4 pages a quarter each, whether they fault or not; what is not known, or runs back, is none. */
static void the_host_s_time_goes_between_its_pages(void **state)
{
	int64_t data = put_data(4), read, after;

	(void)state;
	fx_prefetch(&fx, data, 4 * PAGE, 0, 0);
	fx_sync(&fx);
	set_times(fx.ops, 0, 1000);
	read = fx_host(&fx, data, 0, 4, UM_TOUCH_READ);
	set_times(read, 500, 41000);
	after = fx_sync(&fx);
	set_times(after, 30000, 50000);
	fx_op(&fx, &(struct um_op_row){.kind = "sync_device"});
	assert_int_equal(um_db_exec(fx.db, "UPDATE op SET start_ns = NULL WHERE op = "
					   "(SELECT max(op) FROM op)"),
			 0);
	fx.host_time = true;
	fx.extra.fault = see_host_fault;
	raised = 0;
	fx_run(&fx);
	assert_int_equal(raised, 4);
	for (int i = 1; i < 4; i++)
		assert_int_equal(raised_ns[i] - raised_ns[i - 1], 10000 + L + P);
	assert_int_equal(ops[read].end_ns - ops[read].start_ns, 40000 + 4 * (L + P));
	assert_int_equal(ops[fx.ops].start_ns, ops[read].end_ns);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

static int64_t put_range(const char *name)
{
	int64_t op = fx_op(&fx, &(struct um_op_row){.kind = "range", .result = UM_NULL});

	assert_int_equal(um_db_insert(fx.db, &um_table_user_range,
				      &(struct um_user_range_row){op, UM_NULL, name}),
			 0);
	return op;
}

static void end_range(int64_t range, int64_t last_op)
{
	assert_int_equal(um_db_update(fx.db, "UPDATE user_range SET last_op = ? WHERE op = ?",
				      (int64_t[]){last_op, range}, 2),
			 0);
}

/* A range is the host's: it ends when its last call has returned. */
static void ranges_are_on_the_simulated_clock(void **state)
{
	int64_t data = put_data(16), outer = put_range("outer"), inner = put_range("inner");
	int64_t mark = put_range("mark"), launch = put_reader(data, 0, 16, 0);
	int64_t sync = fx_sync(&fx), open = put_range("open"), last;

	(void)state;
	fx.fault_latency.integer = F;
	fx.policy.page_bytes = 65536;
	end_range(mark, mark);
	end_range(inner, launch);
	end_range(outer, sync);
	last = put_reader(data, 0, 16, 0);
	fx_run(&fx);
	expect_times(launch, 0, F + L + 16 * P);
	expect_times(mark, 0, 0);
	expect_times(inner, 0, 0);
	expect_times(outer, 0, F + L + 16 * P);
	expect_times(open, F + L + 16 * P, UM_NULL);
	expect_times(last, F + L + 16 * P, F + L + 16 * P);
	assert_string_equal(ops[outer].kind, "range");
	/* Of a damaged trace: one that ends before it begins does so at once, and keeps no other open. */
	end_range(open, 1);
	fx_run(&fx);
	expect_times(open, F + L + 16 * P, F + L + 16 * P);
	expect_times(outer, 0, F + L + 16 * P);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(faults_are_served_one_after_the_other),
		TEST(the_host_waits_for_its_faults),
		TEST(a_launch_takes_its_time_and_the_memory_its_bytes),
		TEST(a_prefetch_is_one_transfer),
		TEST(a_kernel_waits_for_the_pages_that_are_on_their_way),
		TEST(eviction_delays_what_comes_in),
		TEST(a_device_allocation_waits_for_what_it_evicts),
		TEST(two_streams_share_a_link),
		TEST(the_null_stream_waits_and_is_waited_for),
		TEST(a_stream_waits_for_an_event),
		TEST(the_host_waits_where_the_program_did),
		TEST(remote_accesses_take_the_link_or_their_requests),
		TEST(groups_in_flight_take_turns),
		TEST(a_fault_is_of_the_page_that_was_touched),
		TEST(a_mapping_tells_its_cause_and_batch),
		TEST(groups_join_a_fault_that_waits),
		TEST(the_host_takes_the_time_between_its_calls),
		TEST(times_below_0_are_not_known),
		TEST(the_host_s_time_goes_between_its_pages),
		TEST(ranges_are_on_the_simulated_clock),
	};

	return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
