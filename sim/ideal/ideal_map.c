#include "ideal_map.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_PAGES 512u /* 2 MiB */
#define VALUE_MAX   32u	 /* bytes */

struct um_page_block {
	unsigned char *values; /* one each page; NULL: all are `all` */
	_Alignas(8) unsigned char all[VALUE_MAX];
};

struct walk {
	struct um_page_map *map;
	um_page_map_fn call;
	void *context;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int make_blocks(struct um_page_map *map)
{
	map->blocks = calloc(map->pages / BLOCK_PAGES + 1, sizeof(*map->blocks));
	return map->blocks ? 0
			   : um_fail(UM_ENOMEM, "no memory for the state of %llu pages",
				     (unsigned long long)map->pages);
}

static int spread(const struct um_page_map *map, struct um_page_block *block, size_t pages)
{
	unsigned char *values = malloc(pages * map->value_bytes);

	if (!values)
		return um_fail(UM_ENOMEM, "no memory for the state of pages");
	for (size_t i = 0; i < pages; i++)
		memcpy(values + i * map->value_bytes, block->all, map->value_bytes);
	block->values = values;
	return 0;
}

/* How many pages from `at` on, at most `pages`, are alike. */
static uint64_t alike(const struct um_page_map *map, const unsigned char *at, uint64_t pages)
{
	uint64_t count = 1;

	while (count < pages &&
	       !memcmp(at, at + (size_t)count * map->value_bytes, map->value_bytes))
		count++;
	return count;
}

/* Pages that were held alike, changed as one; the others of the run are given what came of it. */
static int change_run(const struct walk *walk, unsigned char *at, uint64_t first, uint64_t pages)
{
	size_t bytes = walk->map->value_bytes;
	int error = walk->call(walk->context, at, first, pages);

	for (size_t i = 1; i < pages && !error; i++)
		memcpy(at + i * bytes, at, bytes);
	return error;
}

static void gather(const struct um_page_map *map, struct um_page_block *block, uint64_t pages)
{
	if (alike(map, block->values, pages) < pages)
		return;
	memcpy(block->all, block->values, map->value_bytes);
	free(block->values);
	block->values = NULL;
}

static int walk_block(const struct walk *walk, struct um_page_block *block, uint64_t first,
		      uint64_t pages)
{
	uint64_t at = 0;
	int error = 0;

	while (at < pages && !error) {
		unsigned char *value =
			block->values + (first + at) % BLOCK_PAGES * walk->map->value_bytes;
		uint64_t run = alike(walk->map, value, pages - at);

		error = change_run(walk, value, first + at, run);
		at += run;
	}
	return error;
}

int um_page_map_walk(struct um_page_map *map, uint64_t first, uint64_t pages, um_page_map_fn call,
		     void *context)
{
	const struct walk walk = {map, call, context};
	uint64_t end = first + pages;
	int error = map->blocks ? 0 : make_blocks(map);

	assert(map->value_bytes <= VALUE_MAX && end <= map->pages);
	for (uint64_t step; first < end && !error; first += step) {
		struct um_page_block *block = &map->blocks[first / BLOCK_PAGES];
		uint64_t before = first % BLOCK_PAGES;
		uint64_t all = smaller(map->pages - first + before, BLOCK_PAGES);

		step = smaller(end - first, BLOCK_PAGES - before);
		if (step == all && !block->values) {
			error = call(context, block->all, first, step);
			continue;
		}
		if (!block->values)
			error = spread(map, block, all);
		if (!error)
			error = walk_block(&walk, block, first, step);
		if (!error && step == all)
			gather(map, block, all);
	}
	return error;
}

void um_page_map_fini(struct um_page_map *map)
{
	for (uint64_t i = 0; map->blocks && i < map->pages / BLOCK_PAGES + 1; i++)
		free(map->blocks[i].values);
	free(map->blocks);
}
