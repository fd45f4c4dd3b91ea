#include "check_pairs.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <stdlib.h>
#include <string.h>

static int add_pair(struct um_check_pairs *pairs, size_t here, size_t there)
{
	int error = um_check_room(&pairs->pairs, pairs->count, &pairs->room, sizeof(*pairs->pairs));

	if (!error)
		pairs->pairs[pairs->count++] = (struct um_check_pair){here, there};
	return error;
}

static int add_only_there(struct um_check_pairs *pairs, size_t there)
{
	int error = um_check_room(&pairs->only_there, pairs->only_there_count,
				  &pairs->only_there_room, sizeof(*pairs->only_there));

	if (!error)
		pairs->only_there[pairs->only_there_count++] = there;
	return error;
}

void um_check_pairs_free(struct um_check_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->only_there);
	*pairs = (struct um_check_pairs){0};
}

/* --- launches --- */

static int by_op(const void *left, const void *right)
{
	const struct um_check_launch *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

/* The place of the first launch at or behind an op. */
static size_t first_launch(const struct um_check_side *side, size_t op)
{
	const struct um_check_launch key = {.op = op};

	return um_sorted_first(side->launches, side->launch_count, sizeof(*side->launches), &key,
			       by_op);
}

int um_check_pair_launches(struct um_check_pairs *pairs, const struct um_check_side *here,
			   const struct um_check_part *here_part, const struct um_check_side *there,
			   const struct um_check_part *there_part)
{
	size_t at = first_launch(here, here_part->first), end = first_launch(here, here_part->end);
	size_t other = first_launch(there, there_part->first);
	size_t other_end = first_launch(there, there_part->end);
	int error = 0;

	*pairs = (struct um_check_pairs){0};
	for (; at < end && !error; at++)
		error = add_pair(pairs, at, other < other_end ? other++ : SIZE_MAX);
	for (; other < other_end && !error; other++)
		error = add_only_there(pairs, other);
	return error;
}

/* --- allocations --- */

struct candidate {
	const struct um_check_allocation *allocation;
	size_t place;
};

static int by_kind_and_size(const struct um_check_allocation *a,
			    const struct um_check_allocation *b)
{
	int kinds = strcmp(a->kind, b->kind);

	return kinds ? kinds : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_kind_size_and_order(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = by_kind_and_size(a->allocation, b->allocation);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Those that were made in the part; malloc'ed. */
static struct candidate *candidates_of(size_t *count, const struct um_check_side *side,
				       const struct um_check_part *part)
{
	struct candidate *all = calloc(side->allocation_count + 1, sizeof(*all));

	*count = 0;
	for (size_t i = 0; all && i < side->allocation_count; i++)
		if (side->allocations[i].op >= part->first && side->allocations[i].op < part->end)
			all[(*count)++] = (struct candidate){&side->allocations[i], i};
	if (all)
		qsort(all, *count, sizeof(*all), by_kind_size_and_order);
	return all;
}

static int by_here(const void *left, const void *right)
{
	const struct um_check_pair *a = left, *b = right;

	return (a->here > b->here) - (a->here < b->here);
}

static int merge(struct um_check_pairs *pairs, const struct candidate *here, size_t here_count,
		 const struct candidate *there, size_t there_count)
{
	size_t i = 0, k = 0;
	int error = 0;

	while ((i < here_count || k < there_count) && !error) {
		int order = i == here_count ? 1
			    : k == there_count
				    ? -1
				    : by_kind_and_size(here[i].allocation, there[k].allocation);

		if (order > 0)
			error = add_only_there(pairs, there[k++].place);
		else if (order < 0)
			error = add_pair(pairs, here[i++].place, SIZE_MAX);
		else
			error = add_pair(pairs, here[i++].place, there[k++].place);
	}
	if (pairs->count)
		qsort(pairs->pairs, pairs->count, sizeof(*pairs->pairs), by_here);
	return error;
}

int um_check_pair_allocations(struct um_check_pairs *pairs, const struct um_check_side *here,
			      const struct um_check_part *here_part,
			      const struct um_check_side *there,
			      const struct um_check_part *there_part)
{
	size_t here_count, there_count;
	struct candidate *ours = candidates_of(&here_count, here, here_part);
	struct candidate *theirs = candidates_of(&there_count, there, there_part);
	int error = ours && theirs ? 0 : um_fail(UM_ENOMEM, "no memory for allocations");

	*pairs = (struct um_check_pairs){0};
	if (!error)
		error = merge(pairs, ours, here_count, theirs, there_count);
	free(ours);
	free(theirs);
	return error;
}
