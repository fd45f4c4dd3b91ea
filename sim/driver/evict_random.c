/*
 * random: any unit, each as likely as the others. Drawn from a seed (the policy's evict_seed), a row
 * of its own for each device, so that the same simulation gives the same victims.
 */
#include "evict.h"
#include "evict_units.h"

#include "trace/base/error.h"

#include <stdlib.h>

struct random_order {
	struct um_evict_order base;
	struct um_evict_units all;
	uint32_t *numbers; /* [0, count), in no order */
	uint32_t *places;  /* of a unit there, by number */
	uint32_t count, capacity;
	uint64_t state;
};

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
#define SPLITMIX_STEP 0x9e3779b97f4a7c15u

static uint64_t draw(struct random_order *order)
{
	uint64_t x = order->state += SPLITMIX_STEP;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Of [0, limit): the upper half of a draw, scaled. */
static uint32_t draw_below(struct random_order *order, uint32_t limit)
{
	return (uint32_t)((draw(order) >> 32) * limit >> 32);
}

static int random_create(struct um_evict_order **out, const struct um_evict_choice *choice,
			 um_device_id device)
{
	struct random_order *order = calloc(1, sizeof(*order));

	if (!order)
		return um_fail(UM_ENOMEM, "no memory for an eviction order");
	order->base.ops = choice->ops;
	order->state = (uint64_t)device;
	order->state = draw(order) ^ choice->seed;
	*out = &order->base;
	return 0;
}

static void random_destroy(struct um_evict_order *base)
{
	struct random_order *order = (struct random_order *)base;

	if (!order)
		return;
	um_evict_units_fini(&order->all);
	free(order->numbers);
	free(order->places);
	free(order);
}

static int grow(struct random_order *order)
{
	uint32_t capacity = um_evict_units_room(&order->all);
	uint32_t *numbers = realloc(order->numbers, (size_t)capacity * sizeof(*numbers));
	uint32_t *places = realloc(order->places, (size_t)capacity * sizeof(*places));

	order->numbers = numbers ? numbers : order->numbers;
	order->places = places ? places : order->places;
	if (!numbers || !places)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units", capacity);
	order->capacity = capacity;
	return 0;
}

static void put(struct random_order *order, uint32_t place, uint32_t number)
{
	order->numbers[place] = number;
	order->places[number] = place;
}

static int random_arrived(struct um_evict_order *base, const struct um_page_range *unit)
{
	struct random_order *order = (struct random_order *)base;
	uint32_t number;
	int error = um_evict_units_add(&order->all, unit, &number);

	if (!error && order->capacity < order->all.capacity)
		error = grow(order);
	if (!error)
		put(order, order->count++, number);
	return error;
}

static void random_left(struct um_evict_order *base, um_alloc_id id, um_page first_page)
{
	struct random_order *order = (struct random_order *)base;
	uint32_t number = um_evict_units_begun(&order->all, id, first_page);

	if (!number)
		return;
	order->count--;
	put(order, order->places[number], order->numbers[order->count]);
	um_evict_units_remove(&order->all, number);
}

static bool random_victim(struct um_evict_order *base, struct um_page_range *unit)
{
	struct random_order *order = (struct random_order *)base;

	if (order->count)
		*unit = um_evict_units_range(&order->all,
					     order->numbers[draw_below(order, order->count)]);
	return order->count;
}

const struct um_evict_ops um_evict_random = {
	.name = "random",
	.summary = "any unit, drawn from evict_seed",
	.hypothetical = "no driver draws lots",
	.takes_seed = true,
	.create = random_create,
	.destroy = random_destroy,
	.arrived = random_arrived,
	.left = random_left,
	.victim = random_victim,
};
