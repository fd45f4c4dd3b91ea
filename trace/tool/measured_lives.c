/*
 * Addresses are used again, so it is swept over time: allocations come in as they are born and go as
 * they die; those that live lie in order of their addresses.
 */
#include "measured_private.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct um_lives {
	size_t count; /* of each of the three */
	const struct um_measured_allocation **born, **died, **living;
	size_t next_born, next_died, living_count;
};

static int compare_born(const void *left, const void *right)
{
	const struct um_measured_allocation *a =
		*(const struct um_measured_allocation *const *)left;
	const struct um_measured_allocation *b =
		*(const struct um_measured_allocation *const *)right;

	if (a->born_ns != b->born_ns)
		return a->born_ns < b->born_ns ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static int compare_died(const void *left, const void *right)
{
	const struct um_measured_allocation *a =
		*(const struct um_measured_allocation *const *)left;
	const struct um_measured_allocation *b =
		*(const struct um_measured_allocation *const *)right;

	if (a->died_ns != b->died_ns)
		return a->died_ns < b->died_ns ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

/* Only what a driver moves: device memory stays where it is. */
static void collect(struct um_lives *lives, struct um_measured *measured)
{
	for (size_t i = 0; i < measured->allocation_count; i++) {
		struct um_measured_allocation *one = measured->allocations + i;
		const struct um_measured_op *op = um_measured_op(measured, one->op);
		const struct um_measured_op *freed = um_measured_op(measured, one->freed_op);

		one->born_ns = op ? op->call_ns : 0;
		one->died_ns = freed ? freed->call_end_ns : INT64_MAX;
		if (one->kind == UM_ALLOCATION_DEVICE || !one->bytes || one->died_ns < one->born_ns)
			continue;
		lives->born[lives->count] = lives->died[lives->count] = one;
		lives->count++;
	}
	qsort(lives->born, lives->count, sizeof(*lives->born), compare_born);
	qsort(lives->died, lives->count, sizeof(*lives->died), compare_died);
}

int um_lives_create(struct um_lives **out, struct um_measured *measured)
{
	struct um_lives *lives = calloc(1, sizeof(*lives));
	size_t room = measured->allocation_count + 1;

	*out = lives;
	if (!lives)
		return um_fail(UM_ENOMEM, "out of memory");
	lives->born = calloc(room, sizeof(*lives->born));
	lives->died = calloc(room, sizeof(*lives->died));
	lives->living = calloc(room, sizeof(*lives->living));
	if (!lives->born || !lives->died || !lives->living)
		return um_fail(UM_ENOMEM, "out of memory for %zu allocations", room);
	collect(lives, measured);
	return 0;
}

void um_lives_destroy(struct um_lives *lives)
{
	if (!lives)
		return;
	free(lives->born);
	free(lives->died);
	free(lives->living);
	free(lives);
}

void um_lives_rewind(struct um_lives *lives)
{
	lives->next_born = lives->next_died = lives->living_count = 0;
}

/* How many of the living lie at or below `address`. */
static size_t count_below(const struct um_lives *lives, uint64_t address)
{
	size_t low = 0, high = lives->living_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lives->living[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void bear(struct um_lives *lives, const struct um_measured_allocation *one)
{
	size_t at = count_below(lives, one->address);

	memmove(lives->living + at + 1, lives->living + at,
		(lives->living_count - at) * sizeof(*lives->living));
	lives->living[at] = one;
	lives->living_count++;
}

static void bury(struct um_lives *lives, const struct um_measured_allocation *one)
{
	size_t at = count_below(lives, one->address);

	while (at > 0 && lives->living[at - 1] != one &&
	       lives->living[at - 1]->address == one->address)
		at--;
	if (at == 0 || lives->living[at - 1] != one)
		return;
	memmove(lives->living + at - 1, lives->living + at,
		(lives->living_count - at) * sizeof(*lives->living));
	lives->living_count--;
}

static void go_to(struct um_lives *lives, int64_t at_ns)
{
	while (lives->next_born < lives->count && lives->born[lives->next_born]->born_ns <= at_ns) {
		const struct um_measured_allocation *one = lives->born[lives->next_born++];

		/* Whoever had the address has gone, though its free may not have returned yet. */
		while (lives->next_died < lives->count &&
		       lives->died[lives->next_died]->died_ns < one->born_ns)
			bury(lives, lives->died[lives->next_died++]);
		bear(lives, one);
	}
	while (lives->next_died < lives->count && lives->died[lives->next_died]->died_ns < at_ns)
		bury(lives, lives->died[lives->next_died++]);
}

const struct um_measured_allocation *um_lives_find(struct um_lives *lives, int64_t at_ns,
						   uint64_t address, uint64_t bytes)
{
	go_to(lives, at_ns);
	size_t below = count_below(lives, address);

	if (below > 0 &&
	    address - lives->living[below - 1]->address < lives->living[below - 1]->bytes)
		return lives->living[below - 1];
	if (below < lives->living_count && lives->living[below]->address - address < bytes)
		return lives->living[below];
	return NULL;
}
