/*
 * What driver.h and machine.h promise a driver model, through small drivers that use it the way the
 * real ones need to: faults in batches with duplicates, replays, ranges reserved whole, queues that
 * stop, calls that take their time.
 */
#include "trace_fixture.h"

#include "sim/driver/fault_buffer.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPS_MAX	  64
#define BATCH	  8
#define BATCH_NS  10000
#define ROWS_MAX  64
#define ALLOC_MAX 8

static struct trace_fixture fx;
static struct um_op_row ops[OPS_MAX]; /* as simulated, by id */
static struct um_fault_row rows[ROWS_MAX];
static size_t row_count;

/* --- a driver that does next to nothing; tests put more in its place --- */

static struct plain {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_alloc allocs[ALLOC_MAX];
	size_t alloc_count;
	bool busy;
	uint64_t batches;
	size_t taken[ROWS_MAX]; /* by batch */
	struct um_fault held;
	uint32_t clients[4];
	unsigned kernel_ends;
	uint32_t last_op;
} plain;

static struct um_driver_ops plain_ops;

static int plain_create(struct um_driver **out, const struct um_driver_env *env)
{
	memset(&plain, 0, sizeof(plain));
	plain.base.ops = &plain_ops;
	plain.env = env;
	*out = &plain.base;
	return 0;
}

static int plain_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	(void)driver;
	assert_int_equal(*done_at, um_machine_now(plain.env->machine));
	assert_true(plain.alloc_count < ALLOC_MAX);
	plain.allocs[plain.alloc_count++] = *alloc;
	return 0;
}

static int plain_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	(void)driver;
	(void)id;
	(void)done_at;
	return 0;
}

static int plain_on_pressure(struct um_driver *driver, const struct um_pressure *pressure,
			     um_ns *done_at)
{
	(void)driver;
	(void)done_at;
	return um_fail(UM_ELIMIT, "device %d has no %llu bytes", pressure->device,
		       (unsigned long long)pressure->bytes);
}

/* Brings pages to whoever faulted, at once. */
static um_ns bring(const struct um_page_range *range, um_device_id device, um_ns at)
{
	struct um_why why = {UM_CAUSE_DEVICE_FAULT, 0, plain.batches};
	um_ns end = at;

	if (device != UM_HOST)
		assert_int_equal(um_machine_reserve(plain.env->machine, range, device), 0);
	assert_int_equal(um_machine_migrate(plain.env->machine, range, device, &why, at, &end), 0);
	assert_int_equal(um_machine_map(plain.env->machine, range, device, UM_MAP_LOCAL, &why), 0);
	return end;
}

static int plain_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct um_fault fault;
	int error = 0;

	(void)driver;
	while (um_fault_buffer_take(faults, &fault, 1) && !error) {
		struct um_page_range page = {fault.allocation, fault.page, 1};

		error = um_fault_buffer_done(
			faults, &page,
			bring(&page, fault.device, um_machine_now(plain.env->machine)));
	}
	return error;
}

static void plain_destroy(struct um_driver *driver)
{
	(void)driver;
}

static const struct um_param no_params[] = {{.name = NULL}};

static void see_op(void *context, const struct um_op_row *row)
{
	(void)context;
	assert_true(row->op < OPS_MAX);
	ops[row->op] = *row;
}

static void see_fault(void *context, const struct um_fault_row *row)
{
	(void)context;
	assert_true(row_count < ROWS_MAX);
	rows[row_count++] = *row;
}

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	fx.extra.op = see_op;
	fx.extra.fault = see_fault;
	plain_ops = (struct um_driver_ops){
		.name = "plain",
		.params = no_params,
		.default_page_bytes = PAGE,
		.create = plain_create,
		.on_alloc = plain_on_alloc,
		.on_free = plain_on_free,
		.on_pressure = plain_on_pressure,
		.on_faults = plain_on_faults,
		.destroy = plain_destroy,
	};
	fx.policy.driver = &plain_ops;
	row_count = 0;
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

static int64_t put_reader(int64_t allocation, int64_t groups, int64_t pages)
{
	int64_t op = fx_launch(&fx, "reader", groups, 0);

	for (int64_t group = 0; group < groups; group++)
		fx_touch_range(&fx, (uint64_t)group, allocation, 0, pages, false);
	fx_launch_end(&fx);
	return op;
}

/* --- batches --- */

/* What came in since is flushed, and one replay lets everything go on. */
static int end_batch(void *context, uint64_t device)
{
	struct um_fault_buffer *faults =
		um_fault_buffer_of(plain.env->faults, (um_device_id)device);

	(void)context;
	plain.busy = false;
	um_fault_buffer_flush(faults);
	return um_fault_buffer_replay(faults, um_machine_now(plain.env->machine));
}

static size_t count_on(const struct um_fault *faults, size_t count, um_page page)
{
	size_t on = 0;

	for (size_t i = 0; i < count; i++)
		on += faults[i].page == page;
	return on;
}

static struct um_page_range chunk_of(const struct um_fault *fault)
{
	um_page pages = um_machine_pages(plain.env->machine, fault->allocation);
	um_page first = fault->page & ~15u;

	return (struct um_page_range){fault->allocation, first,
				      pages - first < 16 ? pages - first : 16};
}

/* Up to BATCH entries, duplicates included. Chunks of 16 pages are reserved whole. */
static int begin_batch(struct um_fault_buffer *faults, um_device_id device)
{
	um_ns end = um_machine_now(plain.env->machine) + BATCH_NS;
	struct um_fault batch[BATCH];
	size_t count = um_fault_buffer_take(faults, batch, BATCH);

	plain.busy = true;
	plain.taken[plain.batches++] = count;
	for (size_t i = 0; i < count; i++) {
		struct um_page_range chunk = chunk_of(&batch[i]);
		struct um_page_range page = {batch[i].allocation, batch[i].page, 1};

		plain.clients[batch[i].client]++;
		if (count_on(batch, i, batch[i].page))
			continue;
		um_machine_reserve(plain.env->machine, &chunk, device);
		bring(&page, device, um_machine_now(plain.env->machine));
		um_fault_buffer_report(faults, &batch[i], count_on(batch, count, batch[i].page),
				       plain.batches, end);
	}
	return um_engine_schedule(plain.env->engine, end, end_batch, NULL, (uint64_t)device);
}

static int batch_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	um_device_id device = um_fault_buffer_oldest(faults)->device;

	if (device == UM_HOST)
		return plain_on_faults(driver, faults);
	return plain.busy ? 0 : begin_batch(faults, device);
}

static void batches_hold_entries_with_their_duplicates(void **state)
{
	int64_t data = put_data(2), op;

	(void)state;
	plain_ops.on_faults = batch_on_faults;
	op = put_reader(data, 32, 2);
	fx_run(&fx);
	/* 32 groups fault on page 0: 8 are taken, 24 flushed. Then they all fault on page 1. */
	assert_int_equal(plain.batches, 2);
	assert_int_equal(plain.taken[0], BATCH);
	assert_int_equal(plain.taken[1], BATCH);
	assert_int_equal(row_count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].first_page, i);
		assert_int_equal(rows[i].pages, 1);
		assert_int_equal(rows[i].faults, BATCH);
		assert_int_equal(rows[i].batch, i + 1);
		assert_int_equal(rows[i].start_ns, i * BATCH_NS);
		assert_int_equal(rows[i].end_ns, (i + 1) * BATCH_NS);
		assert_string_equal(rows[i].access, "read");
	}
	expect_times(op, 0, 2 * BATCH_NS);
}

static void flushed_faults_come_again_after_the_replay(void **state)
{
	int64_t data = put_data(20), op;

	(void)state;
	plain_ops.on_faults = batch_on_faults;
	op = fx_launch(&fx, "reader", 20, 0);
	for (uint64_t group = 0; group < 20; group++)
		fx_touch(&fx, group, data, (int64_t)group, false);
	fx_launch_end(&fx);
	fx_run(&fx);
	assert_int_equal(plain.batches, 3);
	assert_int_equal(plain.taken[2], 20 - 2 * BATCH);
	assert_int_equal(row_count, 20);
	assert_int_equal(rows[BATCH].start_ns, BATCH_NS); /* raised anew */
	expect_times(op, 0, 3 * BATCH_NS);
	/* groups 0 to 3 are on units 0 to 3, and so on: 5 groups each */
	for (int unit = 0; unit < 4; unit++)
		assert_int_equal(plain.clients[unit], 5);
}

static void a_chunk_takes_memory_for_one_page(void **state)
{
	int64_t data = put_data(64);

	(void)state;
	plain_ops.on_faults = batch_on_faults;
	fx_launch(&fx, "reader", 3, 0);
	for (uint64_t group = 0; group < 3; group++)
		fx_touch(&fx, group, data, (int64_t)group * 16, false);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_alloc(&fx, "device", 17 * PAGE);
	fx.policy.memory_bytes = 64 * PAGE;
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT); /* 3 chunks of 16 leave 16 pages */
	assert_int_equal(fx.totals.bytes_to_device, 3 * PAGE);
}

/* --- entries without replays --- */

static int serve_held(void *context, uint64_t argument)
{
	struct um_page_range page = {plain.held.allocation, plain.held.page, 1};
	struct um_fault_buffer *faults = context;
	um_ns now = um_machine_now(plain.env->machine);

	(void)argument;
	return um_fault_buffer_done(faults, &page, bring(&page, 0, now));
}

/* Throttles: takes the first fault and leaves it alone for a while. */
static int hold_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	if (plain.held.allocation || um_fault_buffer_oldest(faults)->device == UM_HOST)
		return plain_on_faults(driver, faults);
	um_fault_buffer_take(faults, &plain.held, 1);
	if (um_fault_buffer_waiting(faults) && plain_on_faults(driver, faults))
		return UM_ENOMEM;
	return um_engine_schedule(plain.env->engine, um_machine_now(plain.env->machine) + BATCH_NS,
				  serve_held, faults, 0);
}

static void what_is_taken_may_wait_while_others_are_served(void **state)
{
	int64_t data = put_data(2), op;

	(void)state;
	plain_ops.on_faults = hold_on_faults;
	op = fx_launch(&fx, "reader", 2, 0);
	fx_touch(&fx, 0, data, 0, false);
	fx_touch(&fx, 1, data, 1, false);
	fx_launch_end(&fx);
	fx_run(&fx);
	assert_int_equal(plain.held.page, 0);
	expect_times(op, 0, BATCH_NS + LATENCY_NS + PAGE_NS);
	assert_int_equal(fx.totals.bytes_to_device, 2 * PAGE);
}

static int wake(void *context, uint64_t argument)
{
	char *order = context;

	order[strlen(order)] = (char)argument;
	return 0;
}

static void raise(struct um_fault_buffers *all, um_device_id device, um_page page,
		  enum um_fault_access access, char *order, char letter)
{
	struct um_fault fault = {.device = device,
				 .allocation = 1,
				 .page = page,
				 .pages_ahead = 1,
				 .access = access};

	assert_int_equal(um_fault_buffers_raise(all, &fault, wake, order, (uint64_t)letter), 0);
}

static int ignore_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	(void)driver;
	(void)faults;
	plain.batches++;
	return 0;
}

static void buffers_keep_what_they_are_not_told_to_let_go(void **state)
{
	struct um_observer observer = {.fault = see_fault};
	struct um_page_range pages = {1, 5, 3};
	struct um_fault_buffers *all;
	struct um_fault_buffer *first;
	struct um_fault fault;
	struct um_engine *engine;
	struct um_probe *probe;
	char order[16] = "";

	(void)state;
	plain_ops.on_faults = ignore_faults;
	plain_create(&(struct um_driver *){NULL}, NULL);
	um_engine_create(&engine);
	um_probe_create(&probe);
	um_probe_add(probe, &observer);
	assert_int_equal(um_fault_buffers_create(&all, engine, probe, 2), 0);
	um_fault_buffers_attach(all, &plain.base);
	raise(all, 0, 6, UM_FAULT_READ, order, 'a');
	raise(all, 0, 9, UM_FAULT_READ, order, 'b');
	raise(all, 1, 6, UM_FAULT_WRITE, order, 'c');
	raise(all, 0, 5, UM_FAULT_ATOMIC, order, 'd');
	raise(all, 0, 6, UM_FAULT_WRITE, order, 'e');
	assert_int_equal(um_engine_run(engine), 0);
	assert_int_equal(plain.batches, 2); /* once for each buffer with faults */

	first = um_fault_buffer_of(all, 0);
	assert_int_equal(um_fault_buffer_waiting(first), 4);
	assert_int_equal(um_fault_buffer_waiting(um_fault_buffer_of(all, UM_HOST)), 0);
	assert_null(um_fault_buffer_oldest(um_fault_buffer_of(all, UM_HOST)));
	assert_int_equal(um_fault_buffer_oldest(um_fault_buffer_of(all, 1))->number, 3);
	assert_int_equal(um_fault_buffer_take(first, &fault, 1), 1);
	assert_int_equal(fault.page, 6);
	assert_int_equal(um_fault_buffer_done(first, &pages, 70), 0); /* a taken one too */
	assert_int_equal(um_engine_run(engine), 0);
	assert_string_equal(order, "ade");
	assert_int_equal(um_engine_now(engine), 70);
	assert_int_equal(um_fault_buffer_waiting(first), 1);
	assert_int_equal(um_fault_buffer_replay(first, 80), 0);
	assert_int_equal(um_fault_buffer_replay(first, 90), 0); /* nothing stalls any more */
	assert_int_equal(um_engine_run(engine), 0);
	assert_string_equal(order, "adeb");
	assert_int_equal(um_engine_now(engine), 80);
	assert_int_equal(um_fault_buffer_waiting(first), 1); /* its entry is still there */
	um_fault_buffer_flush(first);
	assert_int_equal(um_fault_buffer_waiting(first), 0);
	assert_int_equal(um_fault_buffer_take(first, &fault, 1), 0);

	fault.access = UM_FAULT_ATOMIC;
	um_fault_buffer_report(first, &fault, 3, 7, 100);
	assert_string_equal(rows[0].access, "atomic");
	assert_int_equal(rows[0].faults, 3);
	um_fault_buffers_destroy(all);
	um_probe_destroy(probe);
	um_engine_destroy(engine);
}

static void many_faults_on_many_pages_find_their_way(void **state)
{
	struct um_page_range even = {1, 0, 1}, all_pages = {1, 0, 1000};
	struct um_fault_buffers *all;
	struct um_fault_buffer *buffer;
	struct um_engine *engine;
	struct um_probe *probe;
	char *order = calloc(1, 4001);

	(void)state;
	plain_ops.on_faults = ignore_faults;
	plain_create(&(struct um_driver *){NULL}, NULL);
	um_engine_create(&engine);
	um_probe_create(&probe);
	um_fault_buffers_create(&all, engine, probe, 1);
	um_fault_buffers_attach(all, &plain.base);
	buffer = um_fault_buffer_of(all, 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			raise(all, 0, i * 7 % 1000, UM_FAULT_READ, order, i * 7 % 2 ? 'o' : 'e');
		for (even.first_page = 0; even.first_page < 1000; even.first_page += 2)
			um_fault_buffer_done(buffer, &even, um_engine_now(engine));
		um_engine_run(engine);
		assert_int_equal(um_fault_buffer_waiting(buffer), 500);
		assert_int_equal(strspn(order + round * 1000, "e"), 500);
		um_fault_buffer_done(buffer, &all_pages, um_engine_now(engine));
		um_engine_run(engine);
		assert_int_equal(um_fault_buffer_waiting(buffer), 0);
		assert_int_equal(strspn(order + round * 1000 + 500, "o"), 500);
	}
	um_fault_buffers_destroy(all);
	um_probe_destroy(probe);
	um_engine_destroy(engine);
	free(order);
}

/* --- launches and queues --- */

static int later_launch(struct um_driver *driver, const struct um_launch *launch, um_ns *start_at)
{
	(void)driver;
	assert_int_equal(launch->device, 0);
	plain.last_op = launch->op;
	*start_at += 700;
	return 0;
}

static int note_end(struct um_driver *driver, const struct um_launch *launch)
{
	(void)driver;
	assert_int_equal(launch->op, plain.last_op);
	plain.kernel_ends++;
	return 0;
}

static void a_launch_begins_when_the_driver_lets_it(void **state)
{
	int64_t data = put_data(1), op, fill;

	(void)state;
	plain_ops.on_launch = later_launch;
	plain_ops.on_kernel_end = note_end;
	fx.machine.launch_ns = 6000;
	op = put_reader(data, 1, 1);
	fill = fx_op(&fx, &(struct um_op_row){.kind = "memset", .allocation = data, .bytes = PAGE});
	fx_run(&fx);
	expect_times(op, 0, 6000 + 700 + LATENCY_NS + PAGE_NS);
	expect_times(fill, ops[op].end_ns, ops[op].end_ns + 6000 + 700 + 1); /* 4096 / 10^18 s */
	assert_int_equal(plain.kernel_ends, 2);
}

static int change_queues(void *context, uint64_t stop)
{
	(void)context;
	if (!stop)
		return um_machine_resume(plain.env->machine, 0);
	um_machine_stop(plain.env->machine, 0);
	return 0;
}

/* Queues are stopped at 1000, 1000 ns long, and at 3000 once more, 500 ns long. */
static int stopping_launch(struct um_driver *driver, const struct um_launch *launch,
			   um_ns *start_at)
{
	struct um_engine *engine = plain.env->engine;
	um_ns now = um_machine_now(plain.env->machine);

	(void)driver;
	(void)launch;
	(void)start_at;
	return um_engine_schedule(engine, now + 1000, change_queues, NULL, 1) ||
	       um_engine_schedule(engine, now + 2000, change_queues, NULL, 0) ||
	       um_engine_schedule(engine, now + 3000, change_queues, NULL, 1) ||
	       um_engine_schedule(engine, now + 3500, change_queues, NULL, 0);
}

static void stopped_queues_delay_what_computes(void **state)
{
	int64_t data = fx_alloc(&fx, "device", PAGE), op;

	(void)state;
	plain_ops.on_launch = stopping_launch;
	fx.machine.memory_bytes_per_s = 1e9; /* a byte a ns */
	op = put_reader(data, 1, 1);
	assert_int_equal(um_db_exec(fx.db, "UPDATE kernel SET bytes_read = 3000"), 0);
	fx_run(&fx);
	expect_times(op, 0, 3000 + 1000 + 500);
}

static void stopped_queues_delay_what_touches(void **state)
{
	int64_t data = put_data(3), op;

	(void)state;
	plain_ops.on_launch = stopping_launch;
	op = put_reader(data, 1, 3);
	fx_run(&fx);
	/* Page 0 is there at 1500 but touched at 2000; page 1 at 3500, when queues are resumed. */
	expect_times(op, 0, 3500 + LATENCY_NS + PAGE_NS);
}

static void stopped_queues_delay_a_launch(void **state)
{
	int64_t data = put_data(1), op;

	(void)state;
	plain_ops.on_launch = stopping_launch;
	fx.machine.launch_ns = 1500;
	op = put_reader(data, 1, 1);
	fx_run(&fx);
	expect_times(op, 0, 3500); /* begun at 2000; the page is there at 3500 */
}

/* --- calls --- */

static int slow_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	int error = plain_on_alloc(driver, alloc, done_at);

	*done_at += 1000;
	return error;
}

static int slow_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	(void)driver;
	(void)id;
	*done_at += 2000;
	return 0;
}

/* Migrates before it returns, as a driver that sets attributes does. */
static int slow_on_advice(struct um_driver *driver, const struct um_advice *advice, um_ns *done_at)
{
	(void)driver;
	*done_at = bring(&advice->range, advice->device, *done_at);
	return 0;
}

static void calls_take_the_time_that_the_driver_says(void **state)
{
	int64_t data, copied, advice, launch, freed;

	(void)state;
	plain_ops.on_alloc = slow_on_alloc;
	plain_ops.on_free = slow_on_free;
	plain_ops.on_advice = slow_on_advice;
	data = put_data(4);
	advice = fx_advise(&fx, data, "preferred_location", 0);
	launch = put_reader(data, 1, 4);
	copied = fx_copy(&fx, 0, data, PAGE, 1, true); /* is over before the allocation is */
	freed = fx_free(&fx, data);
	fx_run(&fx);
	expect_times(1, 0, 1000);
	expect_times(advice, 1000, 1000 + LATENCY_NS + 4 * PAGE_NS);
	expect_times(launch, ops[advice].end_ns, ops[advice].end_ns);
	expect_times(freed, ops[copied].start_ns, ops[copied].end_ns + 2000);
	assert_int_equal(row_count, 0);
}

static void without_an_answer_advice_and_prefetches_are_ignored(void **state)
{
	int64_t data = put_data(4);

	(void)state;
	fx_advise(&fx, data, "read_mostly", 0);
	fx_run(&fx);
	assert_string_equal(fx.ignored, "advice");
	fx_prefetch(&fx, data, 4 * PAGE, 0, 0);
	fx_run(&fx);
	assert_string_equal(fx.ignored, "prefetches");
	assert_int_equal(fx.totals.bytes_to_device, 0);
}

static void addresses_are_as_the_driver_aligns_them(void **state)
{
	static const uint64_t alignments[] = {0, 4096, 1 << 30};
	static const uint64_t expected[] = {2 << 20, 4096, 1 << 30};

	(void)state;
	for (int i = 0; i < 5; i++)
		fx_alloc(&fx, "managed", 5000 * (i + 1));
	for (int i = 0; i < 3; i++) {
		plain_ops.alignment_bytes = alignments[i];
		fx_run(&fx);
		assert_int_equal(plain.alloc_count, 5);
		for (size_t n = 0; n < 5; n++)
			assert_int_equal(plain.allocs[n].address % expected[i], 0);
		for (size_t n = 1; n < 5; n++)
			assert_true(plain.allocs[n].address >=
				    plain.allocs[n - 1].address + plain.allocs[n - 1].bytes);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batches_hold_entries_with_their_duplicates),
		TEST(flushed_faults_come_again_after_the_replay),
		TEST(a_chunk_takes_memory_for_one_page),
		TEST(what_is_taken_may_wait_while_others_are_served),
		TEST(buffers_keep_what_they_are_not_told_to_let_go),
		TEST(many_faults_on_many_pages_find_their_way),
		TEST(a_launch_begins_when_the_driver_lets_it),
		TEST(stopped_queues_delay_what_computes),
		TEST(stopped_queues_delay_what_touches),
		TEST(stopped_queues_delay_a_launch),
		TEST(calls_take_the_time_that_the_driver_says),
		TEST(without_an_answer_advice_and_prefetches_are_ignored),
		TEST(addresses_are_as_the_driver_aligns_them),
	};

	return cmocka_run_group_tests_name("driver_contract", tests, NULL, NULL);
}
