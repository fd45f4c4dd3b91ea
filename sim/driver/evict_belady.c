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
#include "evict_array.h"
#include "evict_future.h"

#include "trace/base/error.h"

#include <stdlib.h>

struct belady {
	struct um_evict_order base;
	struct um_evict_array heap; /* the first to leave is at 0 */
	struct um_foresight *foresight;
};

static void belady_destroy(struct um_evict_order *base)
{
	struct belady *belady = (struct belady *)base;

	if (!belady)
		return;
	um_evict_array_fini(&belady->heap);
	um_foresight_destroy(belady->foresight);
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

/* --- the heap --- */

static bool leaves_before(const struct um_evict_unit *a, const struct um_evict_unit *b)
{
	if (a->next_touch != b->next_touch)
		return a->next_touch > b->next_touch;
	if (a->pages.allocation != b->pages.allocation)
		return a->pages.allocation < b->pages.allocation;
	return a->pages.first_page < b->pages.first_page;
}

static void move_up(struct um_evict_array *heap, uint32_t place)
{
	while (place &&
	       leaves_before(um_evict_at(heap, place), um_evict_at(heap, (place - 1) / 2))) {
		um_evict_swap(heap, place, (place - 1) / 2);
		place = (place - 1) / 2;
	}
}

static void move_down(struct um_evict_array *heap, uint32_t place, uint32_t count)
{
	uint32_t child;

	while ((child = 2 * place + 1) < count) {
		if (child + 1 < count &&
		    leaves_before(um_evict_at(heap, child + 1), um_evict_at(heap, child)))
			child++;
		if (!leaves_before(um_evict_at(heap, child), um_evict_at(heap, place)))
			return;
		um_evict_swap(heap, place, child);
		place = child;
	}
}

static void settle(struct um_evict_array *heap, uint32_t place)
{
	move_up(heap, place);
	move_down(heap, place, heap->count);
}

/* --- the order --- */

static int belady_arrived(struct um_evict_order *base, const struct um_page_range *pages)
{
	struct belady *belady = (struct belady *)base;
	struct um_evict_array *heap = &belady->heap;
	int error = um_evict_array_add(heap, pages);

	if (error)
		return error;
	um_evict_at(heap, heap->count - 1)->next_touch =
		um_foresight_next(belady->foresight, pages);
	move_up(heap, heap->count - 1);
	return 0;
}

static void belady_touched(struct um_evict_order *base, const struct um_page_range *pages)
{
	struct belady *belady = (struct belady *)base;
	struct um_evict_array *heap = &belady->heap;
	um_page page = pages->first_page, end = pages->first_page + pages->pages;
	uint32_t number;

	um_foresight_pass(belady->foresight, pages);
	while ((number = um_evict_units_next(&heap->all, pages->allocation, &page, end))) {
		struct um_evict_unit *unit = &heap->all.units[number];

		unit->next_touch = um_foresight_next(belady->foresight, &unit->pages);
		settle(heap, unit->place);
	}
}

static void belady_left(struct um_evict_order *base, um_alloc_id id, um_page first_page)
{
	struct um_evict_array *heap = &((struct belady *)base)->heap;
	uint32_t number = um_evict_units_begun(&heap->all, id, first_page), place;

	if (!number)
		return;
	place = heap->all.units[number].place;
	um_evict_swap(heap, place, heap->count - 1);
	um_evict_array_remove_last(heap);
	if (place < heap->count)
		settle(heap, place);
}

/* Those that are spared go behind the heap until the one that is not is found. */
static bool belady_victim(struct um_evict_order *base, struct um_page_range *unit,
			  um_evict_spares_fn spares, void *context)
{
	struct um_evict_array *heap = &((struct belady *)base)->heap;
	uint32_t left = heap->count;
	bool found;

	while (left && spares && spares(context, &um_evict_at(heap, 0)->pages)) {
		um_evict_swap(heap, 0, --left);
		move_down(heap, 0, left);
	}
	found = left;
	if (found)
		*unit = um_evict_at(heap, 0)->pages;
	for (; left < heap->count; left++)
		move_up(heap, left);
	return found;
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
	.left = belady_left,
	.victim = belady_victim,
};
