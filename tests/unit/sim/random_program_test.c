/*
 * Random programs with every kind of operation, under every page size and tight memory: the machine
 * asserts its invariants on the way, nothing hangs, and two runs agree.
 */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PROGRAMS    150
#define OPERATIONS  60
#define ALLOCATIONS 4
#define PAGES_MAX   700

static struct trace_fixture fx;
static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (uint32_t)(seed >> 33) % limit;
}

struct block {
	int64_t id, pages;
};
static struct block blocks[ALLOCATIONS];

static struct block *some_block(void)
{
	return &blocks[below(ALLOCATIONS)];
}

/* A part of the block: *first, returns pages. */
static int64_t some_part(const struct block *block, int64_t *first)
{
	*first = below((uint32_t)block->pages);
	return 1 + below((uint32_t)(block->pages - *first));
}

static void put_alloc(struct block *block)
{
	static const char *const kinds[] = {"managed", "managed", "managed", "pinned"};

	block->pages = 1 + below(PAGES_MAX);
	block->id = fx_alloc(&fx, kinds[below(4)], block->pages * PAGE - below(PAGE));
}

static void put_realloc(void)
{
	struct block *block = some_block();

	fx_free(&fx, block->id);
	put_alloc(block);
}

static void put_host(void)
{
	static const int64_t touches[] = {
		UM_TOUCH_READ, UM_TOUCH_WRITTEN, UM_TOUCH_READ | UM_TOUCH_WRITTEN,
		UM_TOUCH_READ | UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST};
	struct block *block = some_block();
	int64_t first, pages = some_part(block, &first);

	fx_host(&fx, block->id, first, pages, touches[below(4)]);
}

static void put_advice(void)
{
	static const char *const kinds[] = {"read_mostly",	  "unset_read_mostly",
					    "preferred_location", "unset_preferred_location",
					    "accessed_by",	  "unset_accessed_by",
					    "coarse_grain"};
	struct block *block = some_block();
	int64_t first, pages = some_part(block, &first);

	fx_op(&fx, &(struct um_op_row){.kind = "advise",
				       .advice = kinds[below(7)],
				       .allocation = block->id,
				       .offset_bytes = first * PAGE + below(PAGE),
				       .bytes = pages * PAGE,
				       .device = (int64_t)below(3) - 1});
}

static void put_prefetch(void)
{
	struct block *block = some_block();
	int64_t first, pages = some_part(block, &first);

	fx_op(&fx, &(struct um_op_row){.kind = "prefetch",
				       .flags = UM_OP_ASYNC,
				       .stream = below(3),
				       .allocation = block->id,
				       .offset_bytes = first * PAGE,
				       .bytes = pages * PAGE - below(PAGE),
				       .device = (int64_t)below(3) - 1});
}

static void put_touches(uint64_t group)
{
	struct block *block = some_block();
	int64_t first, pages = some_part(block, &first);
	bool write = below(2);

	switch (below(3)) {
	case 0:
		fx_touch_range(&fx, group, block->id, first, pages, write);
		break;
	case 1:
		for (int64_t i = pages; i-- > 0;)
			fx_touch(&fx, group, block->id, first + i, write);
		break;
	default:
		for (int i = 0; i < 20; i++)
			fx_touch(&fx, group, block->id, below((uint32_t)block->pages), below(2));
	}
}

static void put_launch(void)
{
	int64_t groups = 1 + below(50);
	int64_t op = fx_launch(&fx, "k", groups, below(3));
	char sql[80];

	for (uint64_t group = 0; group < (uint64_t)groups; group++)
		for (uint32_t i = 0; i < 1 + below(3); i++)
			put_touches(group);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		fx_lines(&fx, blocks[i].id, 0, blocks[i].pages, UM_TOUCH_READ | UM_TOUCH_WRITTEN,
			 0xff, 1);
	fx_launch_end(&fx);
	snprintf(sql, sizeof(sql), "UPDATE op SET device = %u WHERE op = %lld", below(2),
		 (long long)op);
	assert_int_equal(um_db_exec(fx.db, sql), 0);
}

static void put_copy(void)
{
	struct block *target = some_block(), *source = some_block();
	int64_t pages = target->pages < source->pages ? target->pages : source->pages;

	fx_copy(&fx, below(5) ? target->id : 0, below(5) ? source->id : 0,
		pages * PAGE - below(PAGE), below(3), below(2));
}

static void put_memset(void)
{
	struct block *block = some_block();
	int64_t first, pages = some_part(block, &first);

	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .flags = below(2) ? UM_OP_ASYNC : 0,
				       .allocation = block->id,
				       .offset_bytes = first * PAGE + 1,
				       .bytes = pages * PAGE - 1,
				       .stream = below(3)});
}

static void put_sync(void)
{
	static const char *const kinds[] = {"sync_device", "sync_stream", "event_record",
					    "event_sync", "stream_wait"};

	fx_op(&fx, &(struct um_op_row){
			   .kind = kinds[below(5)], .stream = below(3), .event = 1 + below(2)});
}

static void put_program(void)
{
	static void (*const kinds[])(void) = {put_realloc, put_host,   put_host, put_advice,
					      put_advice,  put_launch, put_copy, put_prefetch,
					      put_launch,  put_memset, put_sync};

	um_db_begin(fx.db);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		put_alloc(&blocks[i]);
	for (int i = 0; i < OPERATIONS; i++)
		kinds[below(sizeof(kinds) / sizeof(*kinds))]();
	um_db_commit(fx.db);
}

static void random_programs_run(void **state)
{
	static const uint64_t page_bytes[] = {4096, 65536, 2097152};

	(void)state;
	for (uint64_t program = 1; program <= PROGRAMS; program++) {
		struct um_totals first;

		seed = program;
		fx_open(&fx);
		fx.machine.devices = 2;
		fx.machine.compute_units = 1 + below(4);
		fx.fault_latency.integer = below(2) * 1000;
		put_program();
		fx.policy.page_bytes = page_bytes[below(3)];
		fx.policy.memory_bytes = (512 + below(1000)) * (uint64_t)PAGE;
		if (fx_simulate(&fx))
			fail_msg("program %llu: %s", (unsigned long long)program,
				 um_error_message());
		first = fx.totals;
		fx_run(&fx);
		assert_memory_equal(&first, &fx.totals, sizeof(first));
		fx_close(&fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_run)};

	return cmocka_run_group_tests_name("random_program", tests, NULL, NULL);
}
