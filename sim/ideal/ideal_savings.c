/*
 * Pages, or units, that ask with different weights are more than one greedy rule can choose among,
 * so what they can save is bounded from above, which bounds the rest from below:
 *
 * Bytes. A page's lines are rounded up to a power of two and laid down in layers: a page of 64 lines
 * is in the layer of 64 and in every smaller one. What any choice keeps, it keeps in each layer, no
 * more than fit there; so the sum over layers of the most that each can keep, times its height, is
 * at least what any choice saves. Where all pages have the same power of two it is what the best
 * saves. A layer that no page has asked for yet is as high as the one above, and is split off it.
 *
 * Faults. A unit's pages are rounded down to a power of two; units of each size are chosen among as
 * if those of other sizes took no memory, each size in room / size places.
 */
#include "ideal_savings.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

int um_moments_add(struct um_moments *moments, bool own)
{
	if (!moments->limited) {
		moments->count++;
		return 0;
	}
	if (moments->count == moments->capacity) {
		uint32_t capacity = moments->capacity ? moments->capacity * 2 : 16;
		struct um_moment *grown = capacity > moments->capacity
						  ? realloc(moments->all, capacity * sizeof(*grown))
						  : NULL;

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u moments", capacity);
		moments->all = grown;
		moments->capacity = capacity;
	}
	moments->all[moments->count++] = (struct um_moment){moments->room_pages, own};
	return 0;
}

/* --- bytes --- */

static uint64_t height(int size)
{
	return 1ull << size;
}

/* The smallest that is not smaller. */
static int size_of(unsigned lines)
{
	int size = 0;

	while (height(size) < lines)
		size++;
	return size;
}

int um_savings_moment(struct um_savings *savings, const struct um_moments *moments)
{
	uint64_t room = moments->room_pages;
	int error = 0;

	for (int i = 0; moments->limited && i < UM_SAVING_SIZES && !error; i++)
		if (savings->size[i].used)
			error = um_keep_moment(&savings->size[i].keep, room);
	return error;
}

/* As it was before anything asked. */
static int begin_layer(struct um_saving_size *layer, const struct um_moments *moments)
{
	int error = 0;

	layer->used = true;
	for (uint32_t i = 0; i < moments->count && !error; i++)
		error = um_keep_moment(&layer->keep, moments->all[i].room_pages);
	return error;
}

static int use_layer(struct um_savings *savings, const struct um_moments *moments, int size)
{
	struct um_saving_size *layer = &savings->size[size], *above = NULL;

	if (layer->used)
		return 0;
	for (int i = UM_SAVING_SIZES - 1; i > size; i--)
		if (savings->size[i].used)
			above = &savings->size[i];
	if (!above)
		return begin_layer(layer, moments);
	layer->used = true;
	layer->kept = above->kept;
	return um_keep_copy(&layer->keep, &above->keep);
}

int um_savings_ask(struct um_savings *savings, const struct um_moments *moments, uint32_t first,
		   unsigned lines, uint64_t pages)
{
	int size = size_of(lines), error;

	if (!moments->limited || !lines)
		return 0;
	savings->asked_lines += lines * pages;
	error = use_layer(savings, moments, size);
	for (int i = 0; i <= size && !error; i++)
		if (savings->size[i].used)
			savings->size[i].kept +=
				um_keep_since(&savings->size[i].keep, first, pages);
	return error;
}

uint64_t um_savings_lost_lines(const struct um_savings *savings, const struct um_moments *moments)
{
	uint64_t saved = 0, below = 0;

	if (!moments->limited)
		return 0;
	for (int i = 0; i < UM_SAVING_SIZES; i++)
		if (savings->size[i].used) {
			saved += savings->size[i].kept * (height(i) - below);
			below = height(i);
		}
	return saved < savings->asked_lines ? savings->asked_lines - saved : 0;
}

void um_savings_fini(struct um_savings *savings)
{
	for (int i = 0; i < UM_SAVING_SIZES; i++)
		um_keep_fini(&savings->size[i].keep);
}

/* --- faults --- */

static int demand_of(uint64_t pages)
{
	return 63 - __builtin_clzll(pages);
}

/* The page that is touched has a place; a device whose operation it is not touches none. */
static uint64_t room_within(const struct um_moment *moment)
{
	return moment->own && moment->room_pages ? moment->room_pages - 1 : moment->room_pages;
}

static int add_to_all(struct um_fault_savings *savings, uint64_t room)
{
	int error = 0;

	for (int i = 0; i < savings->sizes && !error; i++)
		if (savings->used[i])
			error = um_keep_moment(&savings->size[i], room >> i);
	return error;
}

int um_fault_savings_begin(struct um_fault_savings *savings, const struct um_moments *moments)
{
	return moments->limited ? add_to_all(savings, moments->all[moments->count - 1].room_pages)
				: 0;
}

int um_fault_savings_within(struct um_fault_savings *savings, const struct um_moments *moments)
{
	return moments->limited
		       ? add_to_all(savings, room_within(&moments->all[moments->count - 1]))
		       : 0;
}

/* With the latest operation begun and no more. */
static int begin_size(struct um_fault_savings *savings, const struct um_moments *moments, int size)
{
	struct um_keep *keep = &savings->size[size];
	int error = 0;

	savings->used[size] = true;
	if (size >= savings->sizes)
		savings->sizes = size + 1;
	for (uint32_t i = 0; i < moments->count && !error; i++) {
		error = um_keep_moment(keep, moments->all[i].room_pages >> size);
		if (!error && i + 1 < moments->count)
			error = um_keep_moment(keep, room_within(&moments->all[i]) >> size);
	}
	return error;
}

int um_fault_savings_ask(struct um_fault_savings *savings, const struct um_moments *moments,
			 uint32_t first, uint64_t pages, uint64_t units)
{
	int size = demand_of(pages), error = 0;

	if (!moments->limited)
		return 0;
	if (!savings->used[size])
		error = begin_size(savings, moments, size);
	if (error)
		return error;
	savings->asked += units;
	savings->kept += um_keep_since(&savings->size[size], 2 * first - 1, units);
	return 0;
}

void um_fault_savings_fini(struct um_fault_savings *savings)
{
	for (int i = 0; i < UM_DEMAND_SIZES; i++)
		um_keep_fini(&savings->size[i]);
}
