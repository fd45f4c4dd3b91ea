/*
 * What can be worked out on paper, on made traces and a machine with round figures (trace_fixture.h): a transfer
 * of n pages takes L + n * P, a fault F before that, a kernel C where a test says so, nothing else any time.
 * One driver, demand, but where a test is about another.
 */
#include "tests/unit/sim/trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define F	10000
#define L	LATENCY_NS
#define P	PAGE_NS
#define OPS_MAX 128

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

/* On device memory: computes for so long, as its lanes read a byte a ns. */
static int64_t put_busy(int64_t stream, int64_t ns)
{
	char text[128];
	int64_t op = fx_launch(&fx, "busy", 1, stream);

	fx_launch_end(&fx);
	fx.machine.memory_bytes_per_s = 1e9;
	snprintf(text, sizeof(text), "UPDATE kernel SET bytes_read = %lld WHERE op = %lld",
		 (long long)ns, (long long)op);
	assert_int_equal(um_db_exec(fx.db, text), 0);
	return op;
}

static int64_t put_reader(int64_t data, int64_t pages, int64_t stream)
{
	int64_t op = fx_launch(&fx, "reader", 1, stream);

	fx_touch_range(&fx, 0, data, 0, pages, false);
	fx_launch_end(&fx);
	return op;
}

/* --- prefetches --- */

/* n kernels of C on one stream, before each a prefetch of the next one's data on another: of the n
 * transfers only the first is seen, where a kernel takes as long as one. */
static int64_t end_of_pipeline(int64_t kernel_ns, int kernels, int64_t pages)
{
	int64_t data[8], last = 0;

	for (int i = 0; i < kernels; i++)
		data[i] = put_data(pages);
	for (int i = 0; i < kernels; i++)
		fx_prefetch(&fx, data[i], pages * PAGE, 0, 2);
	for (int i = 0; i < kernels; i++) {
		char text[128];

		last = put_reader(data[i], pages, 1);
		fx.machine.memory_bytes_per_s = 1e9;
		snprintf(text, sizeof(text), "UPDATE kernel SET bytes_read = %lld WHERE op = %lld",
			 (long long)kernel_ns, (long long)last);
		assert_int_equal(um_db_exec(fx.db, text), 0);
	}
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
	return ops[last].end_ns;
}

/* The first kernel waits for its data, page by page, and computes meanwhile: it ends after max(T, C). Each
 * other's data are there when it begins. */
static void a_prefetch_fully_overlapped(void **state)
{
	const int64_t transfer = L + 8 * P, compute = 2 * transfer;

	(void)state;
	assert_int_equal(end_of_pipeline(compute, 6, 8), 6 * compute);
}

/* Where kernels take no time the link is all that there is. */
static void a_prefetch_fully_exposed(void **state)
{
	(void)state;
	assert_int_equal(end_of_pipeline(0, 6, 8), 6 * (L + 8 * P));
}

/* On the kernels' own stream nothing overlaps: the sum of both. */
static void a_prefetch_on_the_kernels_stream_is_exposed(void **state)
{
	const int64_t compute = 50000;
	int64_t first = put_data(8), second = put_data(8), last;

	(void)state;
	fx_prefetch(&fx, first, 8 * PAGE, 0, 1);
	put_busy(1, compute);
	fx_prefetch(&fx, second, 8 * PAGE, 0, 1);
	last = put_busy(1, compute);
	fx_run(&fx);
	expect_times(last, 2 * (L + 8 * P) + compute, 2 * (L + 8 * P + compute));
}

/* --- queues --- */

/* Two streams of n copies each, put in turn: the link takes them in that order, one after the other, so that
 * each stream's i-th ends after 2 i + 1 or 2 i + 2 services, and half of the time each waits. */
static void two_streams_share_a_link(void **state)
{
	const int64_t service = L + 4 * P;
	int64_t device = fx_alloc(&fx, "device", 64 * PAGE);
	int64_t pinned = fx_alloc(&fx, "pinned", 64 * PAGE), copy[2][5];

	(void)state;
	for (int i = 0; i < 5; i++)
		for (int stream = 0; stream < 2; stream++)
			copy[stream][i] = fx_copy(&fx, device, pinned, 4 * PAGE, stream + 1, true);
	fx_run(&fx);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(ops[copy[0][i]].end_ns, (2 * i + 1) * service);
		assert_int_equal(ops[copy[1][i]].end_ns, (2 * i + 2) * service);
	}
	assert_int_equal(fx.totals.link_to_device_ns, 10 * service);
}

/* A batch of n groups that fault at once on pages of their own, at a server of F + L + P each: the k-th waits
 * for k - 1 services, and all of them n (n + 1) / 2 services in all. */
static uint64_t waited_ns, served;

static void see_fault(void *context, const struct um_fault_row *row)
{
	(void)context;
	served++;
	waited_ns += (uint64_t)(row->end_ns - row->start_ns);
}

static void a_batch_queues_at_one_server(void **state)
{
	const uint64_t n = 32, service = F + L + P;
	int64_t data = put_data((int64_t)n), op;

	(void)state;
	fx.extra.fault = see_fault;
	fx.fault_latency.integer = F;
	op = fx_launch(&fx, "k", (int64_t)n, 0);
	for (uint64_t group = 0; group < n; group++)
		fx_touch(&fx, group, data, (int64_t)group, false);
	fx_launch_end(&fx);
	served = waited_ns = 0;
	fx_run(&fx);
	assert_int_equal(served, n);
	assert_int_equal(waited_ns, n * (n + 1) / 2 * service);
	expect_times(op, 0, (int64_t)(n * service));
}

/* --- eviction --- */

/* Belady, Nelson, Shedler (1969): with more memory fault order can have more faults. */
static const char anomaly[] = "123412512345";
/* Silberschatz, Galvin, Gagne, Operating System Concepts: 15 faults of FIFO, 12 of LRU, 9 at the least, with
 * three frames. */
static const char concepts[] = "70120304230321201701";

static uint64_t faults_of(const char *string, const char *order, int64_t frames)
{
	char text[160];
	int64_t data = put_data(10);

	fx_launch(&fx, "string", 1, 0);
	for (const char *page = string; *page; page++)
		fx_touch(&fx, 0, data, *page - '0', false);
	fx_launch_end(&fx);
	snprintf(text, sizeof(text),
		 "driver: demand\npage_size: 4KiB\nevict: %s\nmemory: %lldKiB\n", order,
		 (long long)frames * 4);
	fx_policy(&fx, text);
	fx_run(&fx);
	return fx.totals.device_faults;
}

static uint64_t faults_alone(const char *string, const char *order, int64_t frames)
{
	uint64_t faults;

	fx_close(&fx);
	fx_open(&fx);
	faults = faults_of(string, order, frames);
	return faults;
}

static void textbook_strings(void **state)
{
	(void)state;
	assert_int_equal(faults_alone(concepts, "fifo", 3), 15);
	assert_int_equal(faults_alone(concepts, "lru", 3), 12);
	assert_int_equal(faults_alone(concepts, "belady", 3), 9);
}

static void belady_s_anomaly_is_of_fault_order_and_not_of_lru(void **state)
{
	(void)state;
	assert_int_equal(faults_alone(anomaly, "fifo", 3), 9);
	assert_int_equal(faults_alone(anomaly, "fifo", 4), 10);
	assert_int_equal(faults_alone(anomaly, "lru", 3), 10);
	assert_int_equal(faults_alone(anomaly, "lru", 4), 8);
	/* A stack algorithm has no more faults with more memory, whatever there is of it. */
	for (int64_t frames = 1; frames < 6; frames++)
		assert_true(faults_alone(anomaly, "lru", frames + 1) <=
			    faults_alone(anomaly, "lru", frames));
}

/* --- two devices --- */

/* n kernels in turn on two devices write the same u units of 16 pages: each brings them from the other, through
 * the host, but the first, which brings them from there. */
static void two_devices_play_ping_pong(void **state)
{
	const int64_t n = 6, u = 3, way = L + 16 * P;
	int64_t data = put_data(16 * u), last = 0;

	(void)state;
	fx.machine.devices = 2;
	fx.policy.page_bytes = 65536;
	fx.fault_latency.integer = F;
	for (int64_t i = 0; i < n; i++) {
		fx.device = i % 2;
		last = fx_launch(&fx, "writer", 1, 0);
		fx_touch_range(&fx, 0, data, 0, 16 * u, true);
		fx_launch_end(&fx);
		fx_sync(&fx);
	}
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, n * u);
	assert_int_equal(fx.totals.bytes_to_device, n * u * 16 * PAGE);
	assert_int_equal(fx.totals.bytes_to_host, (n - 1) * u * 16 * PAGE);
	assert_int_equal(ops[last].end_ns, u * (F + way) + (n - 1) * u * (F + 2 * way));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_prefetch_fully_overlapped),
		TEST(a_prefetch_fully_exposed),
		TEST(a_prefetch_on_the_kernels_stream_is_exposed),
		TEST(two_streams_share_a_link),
		TEST(a_batch_queues_at_one_server),
		TEST(textbook_strings),
		TEST(belady_s_anomaly_is_of_fault_order_and_not_of_lru),
		TEST(two_devices_play_ping_pong),
	};

	return cmocka_run_group_tests_name("closed_forms", tests, NULL, NULL);
}
