#include "placement.h"

#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>

#define PAGE_BYTES 4096u

struct block {
	uint64_t used_pages;
};

/* A run of pages of a block, used or a hole; or all of a large request, which has no block. */
struct um_placed_memory {
	struct block *block;
	struct um_placed_memory *lower, *upper;	  /* beside it in the block */
	struct um_placed_memory *earlier, *later; /* holes of the same size */
	uint64_t pages;
	bool is_hole;
};

struct holes {
	struct um_placed_memory *oldest, *newest;
};

struct um_placement {
	uint64_t memory_pages, block_pages, asked_pages, held_pages;
	struct holes *holes; /* by pages, up to block_pages - 1 */
};

/* --- holes --- */

static void add_hole(struct um_placement *placement, struct um_placed_memory *hole)
{
	struct holes *holes = &placement->holes[hole->pages];

	hole->is_hole = true;
	hole->later = NULL;
	hole->earlier = holes->newest;
	if (holes->newest)
		holes->newest->later = hole;
	else
		holes->oldest = hole;
	holes->newest = hole;
}

static void take_hole(struct um_placement *placement, struct um_placed_memory *hole)
{
	struct holes *holes = &placement->holes[hole->pages];

	if (hole->earlier)
		hole->earlier->later = hole->later;
	else
		holes->oldest = hole->later;
	if (hole->later)
		hole->later->earlier = hole->earlier;
	else
		holes->newest = hole->earlier;
	hole->earlier = NULL;
	hole->later = NULL;
	hole->is_hole = false;
}

static struct um_placed_memory *best_hole(const struct um_placement *placement, uint64_t pages)
{
	for (uint64_t size = pages; size < placement->block_pages; size++)
		if (placement->holes[size].oldest)
			return placement->holes[size].oldest;
	return NULL;
}

/* What lies above takes the place of the two. */
static void swallow_upper(struct um_placed_memory *run)
{
	struct um_placed_memory *upper = run->upper;

	run->pages += upper->pages;
	run->upper = upper->upper;
	if (run->upper)
		run->upper->lower = run;
	free(upper);
}

/* --- blocks --- */

static bool has_room(const struct um_placement *placement, uint64_t pages)
{
	return pages <= placement->memory_pages - placement->held_pages;
}

static int take_block(struct um_placement *placement, uint64_t pages, struct um_placed_memory **out)
{
	struct um_placed_memory *run = calloc(1, sizeof(*run));
	struct block *block = calloc(1, sizeof(*block));

	if (!run || !block) {
		free(run);
		free(block);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	run->block = block;
	run->pages = pages;
	placement->held_pages += pages;
	*out = run;
	return 0;
}

/* Leaves the first pages; the rest becomes a hole. */
static int cut(struct um_placement *placement, struct um_placed_memory *run, uint64_t pages)
{
	struct um_placed_memory *rest;

	if (run->pages == pages)
		return 0;
	rest = calloc(1, sizeof(*rest));
	if (!rest)
		return um_fail(UM_ENOMEM, "out of memory");
	rest->block = run->block;
	rest->pages = run->pages - pages;
	rest->lower = run;
	rest->upper = run->upper;
	if (rest->upper)
		rest->upper->lower = rest;
	run->upper = rest;
	run->pages = pages;
	add_hole(placement, rest);
	return 0;
}

static int put_small(struct um_placement *placement, uint64_t pages, struct um_placed_memory **out)
{
	struct um_placed_memory *run = best_hole(placement, pages);
	int error = 0;

	if (run)
		take_hole(placement, run);
	else if (has_room(placement, placement->block_pages))
		error = take_block(placement, placement->block_pages, &run);
	if (error || !run)
		return error;
	run->block->used_pages += pages;
	*out = run; /* also where it cannot be cut: it is in its block then, and goes with it */
	return cut(placement, run, pages);
}

static int put_large(struct um_placement *placement, uint64_t pages, struct um_placed_memory **out)
{
	uint64_t rounded = (pages + placement->block_pages - 1) / placement->block_pages *
			   placement->block_pages;

	if (!has_room(placement, rounded))
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return um_fail(UM_ENOMEM, "out of memory");
	(*out)->pages = pages;
	placement->held_pages += rounded;
	return 0;
}

static uint64_t rounding(const struct um_placement *placement, const struct um_placed_memory *large)
{
	uint64_t over = large->pages % placement->block_pages;

	return over ? placement->block_pages - over : 0;
}

/* --- for the caller --- */

int um_placement_create(struct um_placement **out, uint64_t memory_bytes, uint64_t block_bytes)
{
	struct um_placement *placement = calloc(1, sizeof(*placement));

	*out = placement;
	if (!placement)
		return um_fail(UM_ENOMEM, "out of memory");
	placement->memory_pages = memory_bytes / PAGE_BYTES;
	placement->block_pages = block_bytes / PAGE_BYTES;
	placement->holes = calloc(placement->block_pages, sizeof(*placement->holes));
	return placement->holes ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static void free_block_of(struct um_placed_memory *run)
{
	free(run->block);
	while (run->lower)
		run = run->lower;
	while (run) {
		struct um_placed_memory *upper = run->upper;

		free(run);
		run = upper;
	}
}

/* Blocks that are still shared go with the last of what is in them: the caller removes it all. */
void um_placement_destroy(struct um_placement *placement)
{
	if (!placement)
		return;
	free(placement->holes);
	free(placement);
}

int um_placement_put(struct um_placement *placement, uint64_t bytes, struct um_placed_memory **out)
{
	uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	int error;

	*out = NULL;
	error = pages <= placement->block_pages ? put_small(placement, pages, out)
						: put_large(placement, pages, out);
	if (*out)
		placement->asked_pages += pages;
	return error;
}

void um_placement_remove(struct um_placement *placement, struct um_placed_memory *run)
{
	if (!run)
		return;
	placement->asked_pages -= run->pages;
	if (!run->block) {
		placement->held_pages -= run->pages + rounding(placement, run);
		free(run);
		return;
	}
	run->block->used_pages -= run->pages;
	if (run->lower && run->lower->is_hole) {
		run = run->lower;
		take_hole(placement, run);
		swallow_upper(run);
	}
	if (run->upper && run->upper->is_hole) {
		take_hole(placement, run->upper);
		swallow_upper(run);
	}
	if (run->lower || run->upper) {
		add_hole(placement, run);
		return;
	}
	placement->held_pages -= run->pages;
	free_block_of(run);
}

uint64_t um_placement_asked_bytes(const struct um_placement *placement)
{
	return placement->asked_pages * PAGE_BYTES;
}

uint64_t um_placement_held_bytes(const struct um_placement *placement)
{
	return placement->held_pages * PAGE_BYTES;
}

uint64_t um_placement_unused_bytes(const struct um_placement *placement,
				   const struct um_placed_memory *run)
{
	double share;

	if (!run->block)
		return rounding(placement, run) * PAGE_BYTES;
	share = (double)run->pages / (double)run->block->used_pages;
	return (uint64_t)((double)(placement->block_pages - run->block->used_pages) * share) *
	       PAGE_BYTES;
}
