/*
 * lru at all memories at once: a unit is on the device if, and only if, its stack distance is at
 * most the memory (Mattson et al., 1970). The stack is a row of slots, the most recent last; a
 * unit's distance is how many slots are taken from its own on, counted by a Fenwick tree over words
 * of 64 slots. When the row is full, what is taken moves together.
 *
 * A unit that goes to the host, or is freed, leaves a hole, since nothing that was pushed out comes
 * back for it. Whoever comes to the top without having been above the topmost hole fills that, and
 * leaves one where it was: a memory below the hole's distance has no room there, one above has.
 */
#include "bit_tree.h"
#include "curve_model.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define NO_SLOT	  UINT32_MAX
#define SLOTS_MIN 4096u

/* Of events by the first memory that is large enough; added up at the end. */
struct by_memory {
	uint64_t missed, missed_in, missed_out; /* at all smaller ones */
	uint64_t host_faults, host_out;		/* at this and all larger ones */
};

struct lru {
	struct um_curve_model base;
	const struct um_curve_units *units;
	const uint32_t *capacities;
	size_t count;
	struct by_memory *by_memory; /* [count]: larger than all */
	uint32_t *slot_of;	     /* by unit; NO_SLOT */
	uint32_t *unit_at;	     /* by slot */
	uint64_t *taken;	     /* a bit a slot */
	uint32_t *tree;		     /* Fenwick, of words of `taken`, from 1 */
	uint32_t words, next, marks; /* slots taken in all */
	struct um_bit_tree holes;
	uint32_t hole_count;
};

static void lru_destroy(struct um_curve_model *model)
{
	struct lru *lru = (struct lru *)model;

	if (!lru)
		return;
	free(lru->by_memory);
	free(lru->slot_of);
	free(lru->unit_at);
	free(lru->taken);
	free(lru->tree);
	um_bit_tree_fini(&lru->holes);
	free(lru);
}

/* Twice as many slots as units: moving together costs a constant a touch. */
static uint32_t slots_for(uint32_t units)
{
	uint32_t slots = units < SLOTS_MIN / 2 ? SLOTS_MIN : 2 * units;

	return (slots + 63) / 64 * 64;
}

static int lru_create(struct um_curve_model **out, const struct um_curve_units *units,
		      const uint32_t *capacities, size_t count)
{
	struct lru *lru = calloc(1, sizeof(*lru));
	uint32_t slots = slots_for(units->count);

	if (!lru)
		return um_fail(UM_ENOMEM, "no memory for stack distances");
	lru->base.ops = &um_curve_lru;
	lru->units = units;
	lru->capacities = capacities;
	lru->count = count;
	lru->words = slots / 64;
	lru->by_memory = calloc(count + 1, sizeof(*lru->by_memory));
	lru->slot_of = malloc(((size_t)units->count + 1) * sizeof(*lru->slot_of));
	lru->unit_at = malloc(slots * sizeof(*lru->unit_at));
	lru->taken = calloc(lru->words, sizeof(*lru->taken));
	lru->tree = calloc((size_t)lru->words + 1, sizeof(*lru->tree));
	if (!lru->by_memory || !lru->slot_of || !lru->unit_at || !lru->taken || !lru->tree ||
	    um_bit_tree_init(&lru->holes, slots)) {
		lru_destroy(&lru->base);
		return um_fail(UM_ENOMEM, "no memory for stack distances of %u units",
			       units->count);
	}
	memset(lru->slot_of, 0xff, units->count * sizeof(*lru->slot_of));
	*out = &lru->base;
	return 0;
}

/* --- the row of slots --- */

static void add_to_tree(struct lru *lru, uint32_t word, uint32_t difference)
{
	for (uint32_t i = word + 1; i <= lru->words; i += i & -i)
		lru->tree[i] += difference;
}

static uint32_t taken_before_word(const struct lru *lru, uint32_t word)
{
	uint32_t sum = 0;

	for (uint32_t i = word; i; i &= i - 1)
		sum += lru->tree[i];
	return sum;
}

static uint32_t distance_of(const struct lru *lru, uint32_t slot)
{
	uint64_t below = lru->taken[slot / 64] & ((UINT64_C(1) << slot % 64) - 1);

	return lru->marks - taken_before_word(lru, slot / 64) -
	       (uint32_t)__builtin_popcountll(below);
}

static void take_slot(struct lru *lru, uint32_t slot)
{
	lru->taken[slot / 64] |= UINT64_C(1) << slot % 64;
	add_to_tree(lru, slot / 64, 1);
	lru->marks++;
}

static void free_slot(struct lru *lru, uint32_t slot)
{
	lru->taken[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	add_to_tree(lru, slot / 64, UINT32_MAX); /* less one */
	lru->marks--;
}

static void put_hole(struct lru *lru, uint32_t slot)
{
	um_bit_tree_set(&lru->holes, slot);
	lru->unit_at[slot] = UM_BIT_TREE_NONE;
	lru->hole_count++;
}

static void move_slot(struct lru *lru, uint32_t from, uint32_t to)
{
	uint32_t unit = lru->unit_at[from];

	lru->unit_at[to] = unit;
	if (unit != UM_BIT_TREE_NONE) {
		lru->slot_of[unit] = to;
	} else if (from != to) {
		um_bit_tree_clear(&lru->holes, from);
		um_bit_tree_set(&lru->holes, to);
	}
}

static void move_together(struct lru *lru)
{
	uint32_t kept = 0;

	for (uint32_t slot = 0; slot < lru->next; slot++)
		if (lru->taken[slot / 64] >> slot % 64 & 1)
			move_slot(lru, slot, kept++);
	memset(lru->taken, 0, lru->words * sizeof(*lru->taken));
	memset(lru->tree, 0, ((size_t)lru->words + 1) * sizeof(*lru->tree));
	lru->marks = 0;
	for (uint32_t slot = 0; slot < kept; slot++)
		take_slot(lru, slot);
	lru->next = kept;
}

/* --- events --- */

/* The first memory that holds so many units. */
static struct by_memory *memory_for(struct lru *lru, uint32_t distance)
{
	size_t low = 0, high = lru->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lru->capacities[middle] < distance)
			low = middle + 1;
		else
			high = middle;
	}
	return &lru->by_memory[low];
}

/* The unit, which is at `slot` or NO_SLOT, is to be on top: where it was, or what it fills, is free. */
static void leave_place(struct lru *lru, uint32_t slot)
{
	uint32_t hole = lru->hole_count ? um_bit_tree_last(&lru->holes) : UM_BIT_TREE_NONE;
	bool fills = hole != UM_BIT_TREE_NONE && (slot == NO_SLOT || hole > slot);

	if (fills) {
		um_bit_tree_clear(&lru->holes, hole);
		lru->hole_count--;
		free_slot(lru, hole);
	}
	if (slot == NO_SLOT)
		return;
	if (fills)
		put_hole(lru, slot);
	else
		free_slot(lru, slot);
}

static int lru_touch(struct um_curve_model *model, uint32_t unit)
{
	struct lru *lru = (struct lru *)model;
	uint32_t slot = lru->slot_of[unit];
	struct by_memory *fits;

	if (slot != NO_SLOT && slot + 1 == lru->next)
		return 0; /* it is on top, at any memory */
	fits = slot == NO_SLOT ? &lru->by_memory[lru->count]
			       : memory_for(lru, distance_of(lru, slot));
	fits->missed++;
	fits->missed_in += lru->units->pages[unit];
	fits->missed_out += slot == NO_SLOT ? 0 : lru->units->pages[unit];
	leave_place(lru, slot);
	if (lru->next == lru->words * 64)
		move_together(lru);
	lru->slot_of[unit] = lru->next;
	lru->unit_at[lru->next] = unit;
	take_slot(lru, lru->next++);
	return 0;
}

static int lru_leave(struct um_curve_model *model, uint32_t unit, bool to_host)
{
	struct lru *lru = (struct lru *)model;
	uint32_t slot = lru->slot_of[unit];
	struct by_memory *fits;

	if (slot == NO_SLOT)
		return 0;
	fits = memory_for(lru, distance_of(lru, slot));
	fits->missed_out += lru->units->pages[unit];
	fits->host_faults += to_host;
	fits->host_out += to_host ? lru->units->pages[unit] : 0;
	put_hole(lru, slot);
	lru->slot_of[unit] = NO_SLOT;
	return 0;
}

/* What smaller memories have pushed out and nobody asked for again. */
static void count_pushed_out(struct lru *lru)
{
	for (uint32_t unit = 0; unit < lru->units->count; unit++)
		if (lru->slot_of[unit] != NO_SLOT)
			memory_for(lru, distance_of(lru, lru->slot_of[unit]))->missed_out +=
				lru->units->pages[unit];
}

static int lru_finish(struct um_curve_model *model, struct um_curve_sums *sums)
{
	struct lru *lru = (struct lru *)model;
	struct by_memory missed = {0}, host = {0};

	count_pushed_out(lru);
	for (size_t i = 0; i < lru->count; i++) {
		host.host_faults += lru->by_memory[i].host_faults;
		host.host_out += lru->by_memory[i].host_out;
		sums[i].host_faults += host.host_faults;
		sums[i].pages_out += host.host_out;
	}
	for (size_t i = lru->count; i-- > 0;) {
		missed.missed += lru->by_memory[i + 1].missed;
		missed.missed_in += lru->by_memory[i + 1].missed_in;
		missed.missed_out += lru->by_memory[i + 1].missed_out;
		sums[i].device_faults += missed.missed;
		sums[i].pages_in += missed.missed_in;
		sums[i].pages_out += missed.missed_out;
	}
	return 0;
}

const struct um_curve_model_ops um_curve_lru = {
	.evict = "lru",
	.create = lru_create,
	.destroy = lru_destroy,
	.touch = lru_touch,
	.leave = lru_leave,
	.finish = lru_finish,
};
