#include "random_trace.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGES_MAX   4096
#define BLOCK_PAGES 512 /* of 2 MiB */

uint32_t random_below(struct random_trace *random, uint32_t limit)
{
	random->state =
		random->state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (uint32_t)(random->state >> 33) % limit;
}

static bool one_in(struct random_trace *random, uint32_t n)
{
	return random_below(random, n) == 0;
}

void random_trace_open(struct random_trace *random, struct trace_fixture *fx)
{
	memset(random, 0, sizeof(*random));
	random->fx = fx;
	random->touched = calloc(RANDOM_BLOCKS, PAGES_MAX);
	assert_non_null(random->touched);
	fx_open(fx);
}

void random_trace_close(struct random_trace *random)
{
	fx_close(random->fx);
	free(random->touched);
}

static void begin(struct random_trace *random, uint64_t seed)
{
	static const char *const tables[] = {"DELETE FROM access_chunk", "DELETE FROM page_access",
					     "DELETE FROM kernel", "DELETE FROM op",
					     "DELETE FROM allocation"};

	random->state = seed;
	random_below(random, 2);
	random->launches = 0;
	random->fx->ops = random->fx->allocations = random->fx->device = 0;
	um_db_begin(random->fx->db);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		assert_int_equal(um_db_exec(random->fx->db, tables[i]), 0);
}

static void end(struct random_trace *random)
{
	assert_int_equal(um_db_commit(random->fx->db), 0);
}

/* --- what operations are about --- */

static struct random_block *some_block(struct random_trace *random)
{
	return &random->blocks[random_below(random, RANDOM_BLOCKS)];
}

static bool is_managed(const struct random_block *block)
{
	return !strcmp(block->kind, "managed");
}

/* A part of the block: *first, returns pages. */
static int64_t some_part(struct random_trace *random, const struct random_block *block,
			 int64_t *first)
{
	*first = one_in(random, 3) ? 0 : random_below(random, (uint32_t)block->pages);
	if (one_in(random, 3))
		return block->pages - *first;
	return 1 + random_below(random, (uint32_t)(block->pages - *first));
}

static void put_alloc(struct random_trace *random, struct random_block *block)
{
	static const char *const kinds[] = {"managed", "managed", "managed",
					    "managed", "pinned",  "device"};

	block->kind = block == random->blocks ? "managed" : kinds[random_below(random, 6)];
	block->pages = 1 + random_below(random, (uint32_t)random->most_pages);
	random->fx->device = random_below(random, random->devices);
	block->id =
		fx_alloc(random->fx, block->kind, block->pages * PAGE - random_below(random, PAGE));
}

/* --- operations --- */

static void put_realloc(struct random_trace *random)
{
	struct random_block *block = some_block(random);

	fx_free(random->fx, block->id);
	put_alloc(random, block);
}

static void put_host(struct random_trace *random)
{
	static const int64_t touches[] = {UM_TOUCH_READ, UM_TOUCH_WRITTEN,
					  UM_TOUCH_READ | UM_TOUCH_WRITTEN};
	struct random_block *block = some_block(random);
	int64_t first, pages;

	if (!is_managed(block))
		return; /* of others the host's accesses are not watched */
	pages = some_part(random, block, &first);
	fx_host(random->fx, block->id, first, pages, touches[random_below(random, 3)]);
}

static void put_advice(struct random_trace *random)
{
	static const char *const kinds[] = {"read_mostly",	  "unset_read_mostly",
					    "preferred_location", "unset_preferred_location",
					    "accessed_by",	  "unset_accessed_by",
					    "coarse_grain"};
	struct random_block *block = some_block(random);
	int64_t first, pages = some_part(random, block, &first);

	if (random->advises)
		fx_advise_pages(random->fx, block->id, first, pages, kinds[random_below(random, 7)],
				(int64_t)random_below(random, random->devices + 1) - 1);
}

static void put_prefetch(struct random_trace *random)
{
	struct random_block *block = some_block(random);
	int64_t first, pages = some_part(random, block, &first);

	if (!random->prefetches)
		return;
	fx_op(random->fx,
	      &(struct um_op_row){.kind = "prefetch",
				  .flags = UM_OP_ASYNC,
				  .stream = random_below(random, random->streams),
				  .allocation = block->id,
				  .offset_bytes = first * PAGE,
				  .bytes = pages * PAGE - random_below(random, PAGE),
				  .device =
					  (int64_t)random_below(random, random->devices + 1) - 1});
}

static void touch(struct random_trace *random, uint64_t group, size_t which, int64_t page,
		  bool write)
{
	fx_touch(random->fx, group, random->blocks[which].id, page, write);
	random->touched[which * PAGES_MAX + (size_t)page] |= write ? 2 : 1;
}

static void put_touches(struct random_trace *random, uint64_t group)
{
	size_t which = random_below(random, RANDOM_BLOCKS);
	struct random_block *block = &random->blocks[which];
	int64_t first, pages = some_part(random, block, &first);
	bool write = one_in(random, 2);

	switch (random_below(random, 3)) {
	case 0:
		for (int64_t i = 0; i < pages; i++)
			touch(random, group, which, first + i, write);
		break;
	case 1:
		for (int64_t i = pages; i-- > 0;)
			touch(random, group, which, first + i, write);
		break;
	default:
		for (int i = 0; i < 8; i++)
			touch(random, group, which, random_below(random, (uint32_t)block->pages),
			      one_in(random, 2));
	}
}

static uint64_t some_lines(struct random_trace *random)
{
	switch (random_below(random, 4)) {
	case 0:
		return 1ull << random_below(random, 64);
	case 1:
		return 0xffull << random_below(random, 56);
	case 2:
		return (uint64_t)random_below(random, UINT32_MAX) << 32 | 1;
	default:
		return UINT64_MAX;
	}
}

/* What was read may have been written before, so that the stream has no touch that reads. */
static int64_t touch_of(unsigned char touched, bool read_back)
{
	int64_t touch = (touched & 1 ? UM_TOUCH_READ : 0) | (touched & 2 ? UM_TOUCH_WRITTEN : 0);

	return touched == 2 && read_back ? UM_TOUCH_READ | UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST
					 : touch;
}

static void put_lines(struct random_trace *random, size_t which)
{
	unsigned char *touched = random->touched + which * PAGES_MAX;
	uint64_t read = some_lines(random), written = some_lines(random);
	bool read_back = one_in(random, 3);
	int64_t pages = random->blocks[which].pages;

	for (int64_t page = 0, next; page < pages; page = next) {
		int64_t touch = touch_of(touched[page], read_back);

		for (next = page + 1; next < pages && touched[next] == touched[page];)
			next++;
		if (touch)
			fx_lines(random->fx, random->blocks[which].id, page, next - page, touch,
				 touch & UM_TOUCH_READ ? read : 0,
				 touch & UM_TOUCH_WRITTEN ? written : 0);
	}
	memset(touched, 0, PAGES_MAX);
}

static void put_launch(struct random_trace *random)
{
	uint32_t groups = 1 + random_below(random, 5);

	random->launches++;
	random->fx->device = random_below(random, random->devices);
	fx_launch(random->fx, "k", groups, random_below(random, random->streams));
	for (uint64_t group = 0; group < groups; group++)
		for (uint32_t i = 0; i < 1 + random_below(random, 2); i++)
			put_touches(random, group);
	for (size_t i = 0; i < RANDOM_BLOCKS; i++)
		put_lines(random, i);
	fx_launch_end(random->fx);
}

/* It says that it touched something, but nobody saw what. */
static void put_untraced_launch(struct random_trace *random)
{
	struct um_kernel_row row = {.name = "untraced",
				    .recorded = 0,
				    .grid_x = 1,
				    .grid_y = 1,
				    .grid_z = 1,
				    .block_x = 64,
				    .block_y = 1,
				    .block_z = 1,
				    .reads = UM_NULL};

	row.op = fx_op(random->fx,
		       &(struct um_op_row){.kind = "launch",
					   .flags = UM_OP_ASYNC | UM_OP_UNTRACED,
					   .stream = random_below(random, random->streams)});
	assert_int_equal(um_db_insert(random->fx->db, &um_table_kernel, &row), 0);
}

static void put_copy(struct random_trace *random)
{
	struct random_block *target = some_block(random), *source = some_block(random);
	int64_t pages = target->pages < source->pages ? target->pages : source->pages;

	fx_copy(random->fx, one_in(random, 5) ? 0 : target->id, one_in(random, 5) ? 0 : source->id,
		pages * PAGE - random_below(random, PAGE), random_below(random, random->streams),
		one_in(random, 2));
}

static void put_memset(struct random_trace *random)
{
	struct random_block *block = some_block(random);
	int64_t first, pages = some_part(random, block, &first);
	uint32_t offset = random_below(random, PAGE);

	fx_op(random->fx, &(struct um_op_row){.kind = "memset",
					      .flags = one_in(random, 2) ? UM_OP_ASYNC : 0,
					      .allocation = block->id,
					      .offset_bytes = first * PAGE + offset,
					      .bytes = pages * PAGE - offset,
					      .device = random_below(random, random->devices),
					      .stream = random_below(random, random->streams)});
}

static void put_sync(struct random_trace *random)
{
	static const char *const kinds[] = {"sync_device", "sync_device",  "sync_stream",
					    "sync_stream", "event_record", "event_record",
					    "event_sync",  "stream_wait"};

	fx_op(random->fx,
	      &(struct um_op_row){.kind = kinds[random_below(random, 8)],
				  .result = one_in(random, 8), /* then it did not wait */
				  .stream = random_below(random, random->streams),
				  .event = 1 + random_below(random, 2)});
}

static void put_streams(struct random_trace *random)
{
	for (int64_t stream = 1; stream < random->streams; stream++)
		fx_op(random->fx,
		      &(struct um_op_row){.kind = "stream_create",
					  .flags = one_in(random, 2) ? UM_OP_NON_BLOCKING : 0,
					  .stream = stream});
}

void random_trace_put(struct random_trace *random, uint64_t seed)
{
	static void (*const kinds[])(struct random_trace *) = {
		put_realloc, put_host,	 put_host,     put_host,   put_launch,
		put_launch,  put_launch, put_launch,   put_sync,   put_sync,
		put_copy,    put_memset, put_prefetch, put_advice, put_untraced_launch};

	begin(random, seed);
	put_streams(random);
	for (size_t i = 0; i < RANDOM_BLOCKS; i++)
		put_alloc(random, &random->blocks[i]);
	for (uint32_t i = 0; i < random->operations; i++)
		kinds[random_below(random, sizeof(kinds) / sizeof(*kinds))](random);
	end(random);
}

/* --- sparse ones --- */

static void put_sparse_blocks(struct random_trace *random)
{
	for (size_t i = 0; i < RANDOM_BLOCKS; i++) {
		struct random_block *block = &random->blocks[i];
		int64_t first, pages;

		block->kind = "managed";
		block->pages = 1 + random_below(random, 3 * BLOCK_PAGES);
		block->id = fx_alloc(random->fx, block->kind, block->pages * PAGE);
		for (int part = 0; part < 2; part++) {
			pages = some_part(random, block, &first);
			fx_host(random->fx, block->id, first, pages, UM_TOUCH_WRITTEN);
		}
	}
}

static void put_sparse_launch(struct random_trace *random, int64_t offset)
{
	fx_launch(random->fx, "k", 1, 0);
	for (size_t i = 0; i < RANDOM_BLOCKS; i++) {
		for (int64_t page = offset; page < random->blocks[i].pages; page += BLOCK_PAGES)
			if (one_in(random, 2))
				touch(random, 0, i, page, one_in(random, 2));
		put_lines(random, i);
	}
	fx_launch_end(random->fx);
	fx_sync(random->fx);
}

static void put_sparse_host(struct random_trace *random, int64_t offset)
{
	static const int64_t touches[] = {UM_TOUCH_READ, UM_TOUCH_WRITTEN};

	for (size_t i = 0; i < RANDOM_BLOCKS; i++)
		for (int64_t page = offset; page < random->blocks[i].pages; page += BLOCK_PAGES)
			if (one_in(random, 4))
				fx_host(random->fx, random->blocks[i].id, page, 1,
					touches[random_below(random, 2)]);
}

void random_trace_put_sparse(struct random_trace *random, uint64_t seed)
{
	int64_t offset;

	begin(random, seed);
	offset = random_below(random, BLOCK_PAGES);
	put_sparse_blocks(random);
	for (uint32_t i = 0; i < 2 + random_below(random, 4); i++) {
		put_sparse_launch(random, offset);
		put_sparse_host(random, offset);
	}
	end(random);
}
