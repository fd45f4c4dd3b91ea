/*
 * belady: the order of touches is kept, and each memory goes through it in turn. Of the units on the
 * device the one whose next touch is last leaves: next touches are all different, so that they are a
 * set of numbers with a last one (bit_tree.h). Units that are not touched again leave before all
 * others, the lowest first, as driver/evict_belady.c has it.
 *
 * Memory: 8 bytes a touch (of one unit after another), and for a unit some 10.
 */
#include "bit_tree.h"
#include "curve_model.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define NEVER	   UINT32_MAX
#define EVENTS_MAX (UINT32_MAX - 1)

/* What happens to a unit, in the four bits beside its number. */
enum happening { TOUCHED, TO_HOST, FREED, FILLED };
#define HAPPENING_BITS 4

struct belady {
	struct um_curve_model base;
	const struct um_curve_units *units;
	const uint32_t *capacities;
	size_t count;
	uint32_t *events, *next; /* next touch of the same unit; NEVER */
	size_t event_count, event_capacity;
	/* of the memory that is being gone through */
	struct um_bit_tree last; /* events that are the next touch of a unit on the device */
	struct um_bit_tree done; /* units on the device that are not touched again */
	uint32_t *key;		 /* of units on the device: their next touch */
	uint8_t *here;
	uint16_t *pages; /* with data by now */
	uint32_t used;
	struct um_curve_sums *sums;
};

static void belady_destroy(struct um_curve_model *model)
{
	struct belady *belady = (struct belady *)model;

	if (!belady)
		return;
	free(belady->events);
	free(belady->next);
	free(belady->key);
	free(belady->here);
	free(belady->pages);
	um_bit_tree_fini(&belady->last);
	um_bit_tree_fini(&belady->done);
	free(belady);
}

static int belady_create(struct um_curve_model **out, const struct um_curve_units *units,
			 const uint32_t *capacities, size_t count)
{
	struct belady *belady = calloc(1, sizeof(*belady));

	if (!belady)
		return um_fail(UM_ENOMEM, "no memory for an order of touches");
	belady->base.ops = &um_curve_belady;
	belady->units = units;
	belady->capacities = capacities;
	belady->count = count;
	*out = &belady->base;
	return 0;
}

/* --- the order --- */

static uint32_t event_of(uint32_t unit, enum happening what)
{
	return unit << HAPPENING_BITS | what;
}

static enum happening what_of(uint32_t event)
{
	return (enum happening)(event & ((1u << HAPPENING_BITS) - 1));
}

static uint32_t unit_of(uint32_t event)
{
	return event >> HAPPENING_BITS;
}

static int add_event(struct belady *belady, uint32_t event)
{
	if (belady->event_count == EVENTS_MAX)
		return um_fail(UM_ELIMIT, "more than %u touches to look ahead over", EVENTS_MAX);
	if (belady->event_count == belady->event_capacity) {
		size_t capacity = belady->event_capacity ? belady->event_capacity * 2 : 1 << 16;
		uint32_t *grown = realloc(belady->events, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for an order of %zu touches",
				       capacity);
		belady->events = grown;
		belady->event_capacity = capacity;
	}
	belady->events[belady->event_count++] = event;
	return 0;
}

static int belady_touch(struct um_curve_model *model, uint32_t unit)
{
	struct belady *belady = (struct belady *)model;
	uint32_t event = event_of(unit, TOUCHED);

	/* Of touches that follow each other all but the first are hits. */
	if (belady->event_count && belady->events[belady->event_count - 1] == event)
		return 0;
	return add_event(belady, event);
}

static int belady_fill(struct um_curve_model *model, uint32_t unit, uint32_t pages)
{
	struct belady *belady = (struct belady *)model;
	int error = add_event(belady, event_of(unit, FILLED));

	return error ? error : add_event(belady, event_of(pages, FILLED));
}

static int belady_leave(struct um_curve_model *model, uint32_t unit, bool to_host)
{
	return add_event((struct belady *)model, event_of(unit, to_host ? TO_HOST : FREED));
}

/* --- one memory --- */

static void forget_next(struct belady *belady, uint32_t unit)
{
	if (belady->key[unit] == NEVER)
		um_bit_tree_clear(&belady->done, unit);
	else
		um_bit_tree_clear(&belady->last, belady->key[unit]);
}

static void note_next(struct belady *belady, uint32_t unit, uint32_t next)
{
	belady->key[unit] = next;
	if (next == NEVER)
		um_bit_tree_set(&belady->done, unit);
	else
		um_bit_tree_set(&belady->last, next);
}

static void take_out(struct belady *belady, uint32_t unit)
{
	forget_next(belady, unit);
	belady->here[unit] = false;
	belady->used--;
}

static uint32_t victim(const struct belady *belady)
{
	uint32_t unit = um_bit_tree_first(&belady->done);

	return unit != UM_BIT_TREE_NONE ? unit
					: unit_of(belady->events[um_bit_tree_last(&belady->last)]);
}

static void go_touch(struct belady *belady, uint32_t capacity, uint32_t unit, uint32_t next)
{
	if (belady->here[unit]) {
		forget_next(belady, unit);
	} else {
		belady->sums->device_faults++;
		belady->sums->pages_in += belady->pages[unit];
		if (belady->used == capacity) {
			uint32_t leaves = victim(belady);

			take_out(belady, leaves);
			belady->sums->pages_out += belady->pages[leaves];
		}
		belady->here[unit] = true;
		belady->used++;
	}
	note_next(belady, unit, next);
}

static void go_leave(struct belady *belady, uint32_t unit, bool to_host)
{
	if (!belady->here[unit])
		return;
	take_out(belady, unit);
	belady->sums->host_faults += to_host;
	belady->sums->pages_out += to_host ? belady->pages[unit] : 0;
}

static void go_through(struct belady *belady, uint32_t capacity)
{
	for (size_t i = 0; i < belady->event_count; i++) {
		uint32_t event = belady->events[i], unit = unit_of(event);

		switch (what_of(event)) {
		case TOUCHED:
			go_touch(belady, capacity, unit, belady->next[i]);
			break;
		case TO_HOST:
		case FREED:
			go_leave(belady, unit, what_of(event) == TO_HOST);
			break;
		case FILLED:
			belady->pages[unit] =
				(uint16_t)(belady->pages[unit] + unit_of(belady->events[++i]));
			break;
		}
	}
}

/* --- all memories --- */

/* From behind: the unit's next touch is the last that was seen. `key` is lent for that. */
static void find_next_touches(struct belady *belady)
{
	for (size_t i = belady->event_count; i-- > 0;) {
		uint32_t unit = unit_of(belady->events[i]);

		/* What follows FILLED is a count, and no unit that is touched. */
		if (what_of(belady->events[i]) != TOUCHED)
			continue;
		belady->next[i] = belady->key[unit];
		belady->key[unit] = (uint32_t)i;
	}
}

static int make_room(struct belady *belady)
{
	size_t units = (size_t)belady->units->count + 1;

	belady->next = malloc((belady->event_count + 1) * sizeof(*belady->next));
	belady->key = malloc(units * sizeof(*belady->key));
	belady->here = calloc(units, sizeof(*belady->here));
	belady->pages = calloc(units, sizeof(*belady->pages));
	if (!belady->next || !belady->key || !belady->here || !belady->pages)
		return um_fail(UM_ENOMEM, "no memory to look ahead over %zu touches",
			       belady->event_count);
	memset(belady->key, 0xff, units * sizeof(*belady->key));
	return 0;
}

static int clear_memory(struct belady *belady)
{
	size_t units = (size_t)belady->units->count + 1;

	um_bit_tree_fini(&belady->last);
	um_bit_tree_fini(&belady->done);
	memset(belady->here, 0, units * sizeof(*belady->here));
	memset(belady->pages, 0, units * sizeof(*belady->pages));
	belady->used = 0;
	int error = um_bit_tree_init(&belady->last, (uint32_t)belady->event_count);

	return error ? error : um_bit_tree_init(&belady->done, belady->units->count);
}

static int belady_finish(struct um_curve_model *model, struct um_curve_sums *sums)
{
	struct belady *belady = (struct belady *)model;
	int error = make_room(belady);

	if (error)
		return error;
	find_next_touches(belady);
	for (size_t i = 0; i < belady->count && !error; i++) {
		belady->sums = &sums[i];
		error = clear_memory(belady);
		if (!error)
			go_through(belady, belady->capacities[i]);
	}
	return error;
}

const struct um_curve_model_ops um_curve_belady = {
	.evict = "belady",
	.create = belady_create,
	.destroy = belady_destroy,
	.touch = belady_touch,
	.fill = belady_fill,
	.leave = belady_leave,
	.finish = belady_finish,
};
