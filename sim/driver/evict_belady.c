/*
 * belady: the unit whose next touch is the farthest away leaves first (Belady: A study of
 * replacement algorithms for a virtual-storage computer, 1966, his MIN). What no driver can do: it
 * looks ahead in the trace.
 *
 * It faults as seldom as any order can where each fault brings one unit, units are of one size and
 * one group is in flight, so that the trace's order is the simulation's; elsewhere it is a good
 * guess and no bound (sim/ideal has those). What is next is what evict_future.h says. Of units that
 * are next at the same time, or never, the one at the lowest page leaves first: neighbours leave
 * together.
 */
#include "evict.h"
#include "evict_future.h"
#include "evict_units.h"

#include "trace/base/error.h"

#include <stdlib.h>

/* Children of a place in the heap: half as many levels as with two, and each as near in memory. */
#define CHILDREN 4

struct place {
	uint64_t next_touch;
	uint32_t number;
};

struct belady {
	struct um_evict_order base;
	struct um_evict_units all;
	struct um_foresight *foresight;
	struct place *heap; /* [0, count); the first to leave is at 0 */
	uint32_t *places;   /* of a unit there, by number */
	uint32_t count, capacity;
};

static void belady_destroy(struct um_evict_order *base)
{
	struct belady *belady = (struct belady *)base;

	if (!belady)
		return;
	um_evict_units_fini(&belady->all);
	um_foresight_destroy(belady->foresight);
	free(belady->heap);
	free(belady->places);
	free(belady);
}

static int belady_create(struct um_evict_order **out, const struct um_evict_choice *choice,
			 um_device_id device)
{
	struct belady *belady = calloc(1, sizeof(*belady));
	int error;

	if (!belady)
		return um_fail(UM_ENOMEM, "no memory for an eviction order");
	belady->base.ops = choice->ops;
	error = um_foresight_create(&belady->foresight, choice->future, device);
	if (error)
		belady_destroy(&belady->base);
	else
		*out = &belady->base;
	return error;
}

static int grow(struct belady *belady)
{
	uint32_t capacity = um_evict_units_room(&belady->all);
	struct place *heap = realloc(belady->heap, (size_t)capacity * sizeof(*heap));
	uint32_t *places = realloc(belady->places, (size_t)capacity * sizeof(*places));

	belady->heap = heap ? heap : belady->heap;
	belady->places = places ? places : belady->places;
	if (!heap || !places)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units", capacity);
	belady->capacity = capacity;
	return 0;
}

/* --- the heap --- */

static bool leaves_before(const struct belady *belady, struct place a, struct place b)
{
	struct um_page_range left, right;

	if (a.next_touch != b.next_touch)
		return a.next_touch > b.next_touch;
	left = um_evict_units_range(&belady->all, a.number);
	right = um_evict_units_range(&belady->all, b.number);
	if (left.allocation != right.allocation)
		return left.allocation < right.allocation;
	return left.first_page < right.first_page;
}

static void put(struct belady *belady, uint32_t at, struct place place)
{
	belady->heap[at] = place;
	belady->places[place.number] = at;
}

/* Puts it where nothing is, there or nearer to the first. */
static void put_up(struct belady *belady, uint32_t at, struct place place)
{
	while (at && leaves_before(belady, place, belady->heap[(at - 1) / CHILDREN])) {
		put(belady, at, belady->heap[(at - 1) / CHILDREN]);
		at = (at - 1) / CHILDREN;
	}
	put(belady, at, place);
}

/* The child that leaves before the others, in a heap of `count`; `count` if there is none. */
static uint32_t first_child(const struct belady *belady, uint32_t at, uint32_t count)
{
	uint64_t begin = (uint64_t)at * CHILDREN + 1, end = begin + CHILDREN;
	uint32_t first = count;

	for (uint64_t child = begin; child < end && child < count; child++)
		if (first == count ||
		    leaves_before(belady, belady->heap[child], belady->heap[first]))
			first = (uint32_t)child;
	return first;
}

/* The same, there or farther from the first. */
static void put_down(struct belady *belady, uint32_t at, struct place place, uint32_t count)
{
	uint32_t child;

	while ((child = first_child(belady, at, count)) < count &&
	       leaves_before(belady, belady->heap[child], place)) {
		put(belady, at, belady->heap[child]);
		at = child;
	}
	put(belady, at, place);
}

static void put_anew(struct belady *belady, uint32_t at, struct place place)
{
	if (at && leaves_before(belady, place, belady->heap[(at - 1) / CHILDREN]))
		put_up(belady, at, place);
	else
		put_down(belady, at, place, belady->count);
}

/* --- the order --- */

static int belady_arrived(struct um_evict_order *base, const struct um_page_range *pages)
{
	struct belady *belady = (struct belady *)base;
	uint32_t number;
	int error = um_evict_units_add(&belady->all, pages, &number);

	if (!error && belady->capacity < belady->all.capacity)
		error = grow(belady);
	if (error)
		return error;
	put_up(belady, belady->count++,
	       (struct place){um_foresight_next(belady->foresight, pages), number});
	return 0;
}

static void look_again(struct belady *belady, uint32_t number)
{
	struct um_page_range pages = um_evict_units_range(&belady->all, number);
	struct place place = {um_foresight_next(belady->foresight, &pages), number};
	uint32_t at = belady->places[number];

	if (place.next_touch != belady->heap[at].next_touch)
		put_anew(belady, at, place);
}

static void belady_touched(struct um_evict_order *base, const struct um_page_range *pages)
{
	struct belady *belady = (struct belady *)base;
	um_page page = pages->first_page, end = pages->first_page + pages->pages;

	um_foresight_pass(belady->foresight, pages);
	while (page < end) {
		uint32_t number = um_evict_units_next(&belady->all, pages->allocation, &page, end);

		if (!number)
			break;
		look_again(belady, number);
	}
}

static void belady_ahead(const struct um_evict_order *base, um_alloc_id id, um_page first_page)
{
	const struct belady *belady = (const struct belady *)base;
	uint32_t number = um_evict_units_number(&belady->all, id, first_page);

	um_foresight_ahead(belady->foresight, id, first_page);
	if (!number)
		return;
	__builtin_prefetch(&belady->all.pages[number], 1);
	__builtin_prefetch(&belady->places[number], 1);
}

static void belady_left(struct um_evict_order *base, um_alloc_id id, um_page first_page)
{
	struct belady *belady = (struct belady *)base;
	uint32_t number = um_evict_units_begun(&belady->all, id, first_page), at;

	if (!number)
		return;
	at = belady->places[number];
	if (at < --belady->count)
		put_anew(belady, at, belady->heap[belady->count]);
	um_evict_units_remove(&belady->all, number);
}

static bool belady_victim(struct um_evict_order *base, struct um_page_range *unit)
{
	const struct belady *belady = (const struct belady *)base;

	if (belady->count)
		*unit = um_evict_units_range(&belady->all, belady->heap[0].number);
	return belady->count;
}

const struct um_evict_ops um_evict_belady = {
	.name = "belady",
	.summary = "the unit whose next touch is farthest away first: it knows the trace",
	.hypothetical = "no driver knows what comes",
	.needs_future = true,
	.create = belady_create,
	.destroy = belady_destroy,
	.arrived = belady_arrived,
	.touched = belady_touched,
	.ahead = belady_ahead,
	.left = belady_left,
	.victim = belady_victim,
};
