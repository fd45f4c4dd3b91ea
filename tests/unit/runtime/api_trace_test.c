/* Every call of a known program leaves its records, and two runs leave the same but for times. */
#include "api_fixture.h"

#include "trace/spool/spool_ring.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RECORDS 400

struct run {
	struct um_record *record[MAX_RECORDS];
	size_t count;
	int status;
};

static const struct um_spool_config config = {
	.requests = 1,
	.host_watch = UM_HOST_WATCH_NONE,
	.devices = 2,
	.compute_units = 3,
	.memory_bytes = 1 << 20,
	.memory_bytes_per_s = 1000000000,
	.to_device_bytes_per_s = 4000000000,
	.to_host_bytes_per_s = 2000000000,
	.link_latency_ns = 300,
	.launch_ns = 5000,
	.device_name = "Toy",
	.device_arch = "gfx908",
};

static void keep(struct run *run, const struct um_record *record)
{
	assert_true(run->count < MAX_RECORDS);
	run->record[run->count] = malloc(record->bytes);
	memcpy(run->record[run->count++], record, record->bytes);
}

/* All that can be read now. */
static void drain(struct run *run, struct um_spool_reader *reader)
{
	const struct um_record *record;
	int error = 0;

	while ((record = um_spool_next(reader, &error)))
		keep(run, record);
	assert_int_equal(error, 0);
}

static pid_t start(const char *spool)
{
	char variable[4200];
	char *argv[] = {(char[]){"api_trace_program"}, NULL}, *environment[] = {variable, NULL};
	pid_t child;

	snprintf(variable, sizeof(variable), "UMTRACE_SPOOL=%s", spool);
	assert_int_equal(posix_spawn(&child, UM_TEST_PROGRAM, NULL, NULL, argv, environment), 0);
	return child;
}

static struct run trace(void)
{
	struct um_spool_reader *reader;
	struct run run = {0};

	assert_int_equal(um_spool_create(&reader, NULL, UM_SPOOL_DEFAULT_BYTES, &config), 0);
	pid_t child = start(um_spool_path(reader));

	while (waitpid(child, &run.status, WNOHANG) == 0) {
		um_spool_wait(reader, 20);
		drain(&run, reader);
	}
	drain(&run, reader);
	um_spool_destroy(reader);
	return run;
}

static void forget(struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		free(run->record[i]);
}

/* The n-th record of a kind, from 0; NULL if there is none. */
static const void *nth(const struct run *run, enum um_record_kind kind, size_t n)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->record[i]->kind == kind && n-- == 0)
			return run->record[i];
	return NULL;
}

/* Ops as they ended, in their order. */
static const struct um_record_op *op(const struct run *run, size_t n)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct um_record_op *o = (const void *)run->record[i];

		if (o->header.kind == UM_RECORD_OP && o->end_ns && n-- == 0)
			return o;
	}
	fail_msg("there is no op %zu", n);
	return NULL;
}

enum { MANAGED_VARIABLE = 1, MANAGED, DEVICE, POOLED, MAPPED };

struct expected {
	enum um_op_kind kind;
	unsigned flags, stream, allocation, source;
	uint64_t offset, source_offset, bytes;
	int device;
	unsigned advice, event, value;
	hipError_t result;
	unsigned graph_launch; /* that it belongs to; 0: none */
};

static const struct expected expected[] = {
	{.kind = UM_OP_ALLOC, .allocation = MANAGED_VARIABLE, .bytes = 4},
	{.kind = UM_OP_ALLOC, .allocation = MANAGED, .bytes = 12289, .device = 1},
	{.kind = UM_OP_STREAM_CREATE,
	 .flags = UM_OP_NON_BLOCKING,
	 .stream = 1,
	 .device = 1,
	 .value = 1},
	{.kind = UM_OP_ALLOC, .allocation = DEVICE, .bytes = 1000, .device = 1},
	{.kind = UM_OP_ADVISE,
	 .allocation = MANAGED,
	 .offset = 5000,
	 .bytes = 100,
	 .device = -1,
	 .advice = hipMemAdviseSetPreferredLocation},
	{.kind = UM_OP_PREFETCH,
	 .flags = UM_OP_ASYNC,
	 .stream = 1,
	 .allocation = MANAGED,
	 .bytes = 8192,
	 .device = 1,
	 .value = 1},
	{.kind = UM_OP_ATTACH,
	 .stream = 1,
	 .allocation = MANAGED,
	 .bytes = 12289,
	 .device = 1,
	 .value = hipMemAttachHost},
	{.kind = UM_OP_MEMSET,
	 .allocation = MANAGED,
	 .offset = 8,
	 .bytes = 16,
	 .device = 1,
	 .value = 0x41},
	{.kind = UM_OP_COPY,
	 .flags = UM_OP_ASYNC,
	 .stream = 1,
	 .allocation = DEVICE,
	 .source = MANAGED,
	 .source_offset = 8,
	 .bytes = 100,
	 .device = 1,
	 .value = hipMemcpyDefault},
	{.kind = UM_OP_COPY,
	 .source = DEVICE,
	 .source_offset = 4,
	 .bytes = 8,
	 .device = 1,
	 .value = hipMemcpyDeviceToHost},
	{.kind = UM_OP_FREE, .allocation = DEVICE, .bytes = 1000, .device = 1},
	{.kind = UM_OP_EVENT_RECORD, .flags = UM_OP_ASYNC, .device = 1, .event = 2},
	{.kind = UM_OP_LAUNCH, .flags = UM_OP_ASYNC, .device = 1},
	{.kind = UM_OP_EVENT_RECORD, .flags = UM_OP_ASYNC, .device = 1, .event = 3},
	{.kind = UM_OP_COPY,
	 .source = MANAGED,
	 .bytes = 2000,
	 .device = 1,
	 .value = hipMemcpyDeviceToHost},
	{.kind = UM_OP_EVENT_RECORD, .flags = UM_OP_ASYNC, .device = 1, .event = 4},
	{.kind = UM_OP_EVENT_RECORD, .flags = UM_OP_ASYNC, .stream = 1, .device = 1, .event = 1},
	{.kind = UM_OP_STREAM_WAIT, .flags = UM_OP_ASYNC, .device = 1, .event = 1},
	{.kind = UM_OP_EVENT_SYNC, .device = 1, .event = 1},
	{.kind = UM_OP_SYNC_STREAM, .stream = 1, .device = 1},
	{.kind = UM_OP_CALLBACK, .flags = UM_OP_ASYNC, .stream = 1, .device = 1},
	{.kind = UM_OP_ALLOC, .stream = 1, .allocation = POOLED, .bytes = 5000, .device = 1},
	/* A graph that is launched twice; nothing while it is captured. */
	{.kind = UM_OP_MEMSET,
	 .flags = UM_OP_ASYNC,
	 .stream = 1,
	 .allocation = POOLED,
	 .bytes = 8,
	 .device = 1,
	 .value = 3,
	 .graph_launch = 1},
	{.kind = UM_OP_CALLBACK, .flags = UM_OP_ASYNC, .stream = 1, .device = 1, .graph_launch = 1},
	{.kind = UM_OP_MEMSET,
	 .flags = UM_OP_ASYNC,
	 .allocation = POOLED,
	 .bytes = 8,
	 .device = 1,
	 .value = 3,
	 .graph_launch = 2},
	{.kind = UM_OP_CALLBACK, .flags = UM_OP_ASYNC, .device = 1, .graph_launch = 2},
	{.kind = UM_OP_FREE, .stream = 1, .allocation = POOLED, .bytes = 5000, .device = 1},
	{.kind = UM_OP_ALLOC, .allocation = MAPPED, .bytes = 8192, .device = 1},
	{.kind = UM_OP_FREE, .allocation = MAPPED, .bytes = 8192, .device = 1},
	{.kind = UM_OP_ALLOC, .bytes = 2 << 20, .device = 1, .result = hipErrorOutOfMemory},
	{.kind = UM_OP_STREAM_DESTROY,
	 .flags = UM_OP_NON_BLOCKING,
	 .stream = 1,
	 .device = 1,
	 .value = 1},
	{.kind = UM_OP_SYNC_DEVICE, .device = 1},
};
#define EXPECTED (sizeof(expected) / sizeof(*expected))

static void check_op(const struct um_record_op *got, const struct expected *want)
{
	assert_int_equal(got->kind, want->kind);
	assert_int_equal(got->flags, want->flags);
	assert_int_equal(got->stream, want->stream);
	assert_int_equal(got->allocation, want->allocation);
	assert_int_equal(got->source_allocation, want->source);
	assert_int_equal(got->offset, want->offset);
	assert_int_equal(got->source_offset, want->source_offset);
	assert_int_equal(got->bytes, want->bytes);
	assert_int_equal(got->device, want->device);
	assert_int_equal(got->advice, want->advice);
	assert_int_equal(got->event, want->event);
	assert_int_equal(got->value, want->value);
	assert_int_equal(got->result, want->result);
	assert_int_equal(got->thread, 1);
	assert_true(got->site > 0);
	assert_true(got->start_ns && got->end_ns >= got->start_ns);
}

static void test_ops(void **state)
{
	const struct run *run = *state;
	uint32_t last = 0;

	for (size_t i = 0; i < EXPECTED; i++) {
		const struct um_record_op *got = op(run, i);

		check_op(got, &expected[i]);
		assert_true(got->op > last);
		last = got->op;
	}
}

static void test_ends_as_the_program_does(void **state)
{
	const struct run *run = *state;

	assert_true(WIFEXITED(run->status));
	assert_int_equal(WEXITSTATUS(run->status), 7);
	assert_non_null(nth(run, UM_RECORD_HELLO, 0));
	assert_int_equal(run->record[0]->kind, UM_RECORD_HELLO);
	assert_int_equal(run->record[run->count - 1]->kind, UM_RECORD_BYE);
}

static void test_allocations(void **state)
{
	const struct run *run = *state;
	const struct um_record_allocation *variable = nth(run, UM_RECORD_ALLOCATION, 0);
	const struct um_record_allocation *managed = nth(run, UM_RECORD_ALLOCATION, 1);
	const struct um_record_allocation *device = nth(run, UM_RECORD_ALLOCATION, 2);

	assert_non_null(device);
	assert_non_null(nth(run, UM_RECORD_ALLOCATION, MAPPED - 1));
	assert_null(nth(run, UM_RECORD_ALLOCATION, MAPPED));
	assert_string_equal(variable->name, "managed_number");
	assert_int_equal(variable->allocation, MANAGED_VARIABLE);
	assert_int_equal(managed->kind, UM_ALLOCATION_MANAGED);
	assert_int_equal(managed->flags, hipMemAttachHost);
	assert_int_equal(managed->device, 1);
	assert_int_equal(managed->bytes, 12289);
	assert_int_equal(managed->op, op(run, 1)->op);
	assert_int_equal(managed->site, op(run, 1)->site);
	assert_int_equal(managed->address % 4096, 0);
	assert_string_equal(managed->name, "");
	assert_int_equal(device->kind, UM_ALLOCATION_DEVICE);
}

static void test_kernel(void **state)
{
	const struct run *run = *state;
	const struct um_record_kernel *before = nth(run, UM_RECORD_KERNEL, 0);
	const struct um_record_kernel *kernel = nth(run, UM_RECORD_KERNEL, 1);
	const struct um_record_pages *pages = nth(run, UM_RECORD_PAGES, 0);

	assert_non_null(kernel);
	assert_int_equal(before->op, kernel->op);
	assert_int_equal(before->ended, 0);
	assert_int_equal(before->reads, 0);
	assert_string_equal(before->name, kernel->name);
	assert_int_equal(kernel->ended, 1);
	assert_int_equal(kernel->op, op(run, 12)->op);
	assert_string_equal(kernel->name, "_Z5scalePfj");
	assert_string_equal(kernel->name + sizeof("_Z5scalePfj"), "");
	assert_int_equal(kernel->grid[0], 16);
	assert_int_equal(kernel->block[0], 64);
	assert_int_equal(kernel->lds_bytes, 512 + 256);
	assert_int_equal(kernel->reads, 1024);
	assert_int_equal(kernel->writes, 1024);
	assert_int_equal(kernel->bytes_read, 4096);
	assert_non_null(pages);
	assert_int_equal(pages->op, kernel->op);
	assert_int_equal(pages->runs, 1);
	assert_int_equal(pages->run[0].allocation, MANAGED);
	assert_int_equal(pages->run[0].lines_written, UINT64_MAX);
}

/*
 * The launch is where <<<>>> stands, not in the stub that clang makes; all sites differ, but those of
 * one launch of a graph.
 */
static void test_sites(void **state)
{
	const struct run *run = *state;

	for (size_t i = 0; i < EXPECTED; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_equal(op(run, i)->site == op(run, j)->site,
					 expected[i].graph_launch &&
						 expected[i].graph_launch ==
							 expected[j].graph_launch);
}

static void test_refusal_is_a_loss(void **state)
{
	const struct um_record_loss *loss;
	size_t n = 0;

	do
		loss = nth(*state, UM_RECORD_LOSS, n++);
	while (loss && loss->kind != UM_LOSS_UNSUPPORTED);
	assert_non_null(loss);
	assert_string_equal(loss->text, "hipIpcCloseMemHandle");
}

/* --- twice the same --- */

static void clear_op(struct um_record_op *o)
{
	o->start_ns = 0;
	o->end_ns = 0;
}

/* Frames that align themselves, as AddressSanitizer's, begin at this or that distance from the CFA. */
static void clear_places(struct um_record_variable *variable)
{
	variable->offset = 0;
	for (uint32_t i = 0; i < variable->pointers; i++) {
		variable->pointer[i].offset = 0;
		variable->pointer[i].before = 0;
	}
}

/* What differs from run to run: times, the process, addresses. */
static void clear_times(struct um_record *record)
{
	switch (record->kind) {
	case UM_RECORD_HELLO:
		((struct um_record_hello *)record)->pid = 0;
		((struct um_record_hello *)record)->start_ns = 0;
		break;
	case UM_RECORD_OP:
		clear_op((struct um_record_op *)record);
		break;
	case UM_RECORD_ALLOCATION:
		((struct um_record_allocation *)record)->address = 0;
		break;
	case UM_RECORD_VARIABLE:
		clear_places((struct um_record_variable *)record);
		break;
	case UM_RECORD_BYE:
		((struct um_record_bye *)record)->end_ns = 0;
		break;
	}
}

static void test_repeatable(void **state)
{
	struct run *run = *state, again = trace();

	assert_int_equal(again.count, run->count);
	for (size_t i = 0; i < run->count; i++) {
		clear_times(run->record[i]);
		clear_times(again.record[i]);
		assert_int_equal(again.record[i]->bytes, run->record[i]->bytes);
		assert_memory_equal(again.record[i], run->record[i], run->record[i]->bytes);
	}
	forget(&again);
}

static struct run first;

static int set_up(void **state)
{
	first = trace();
	*state = &first;
	return 0;
}

static int tear_down(void **state)
{
	forget(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_as_the_program_does),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_allocations),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_refusal_is_a_loss),
		cmocka_unit_test(test_repeatable), /* last: it clears times */
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
