/*
 * What is asked of this file is the largest number of intervals of moments such that no more than
 * room(m) of them cover a moment m. The intervals are offered in the order of their last moments.
 *
 * Rule: grant an interval if it fits in with those granted before.
 *
 * It grants as many as can be. Take a best set O that agrees with the rule on the first k intervals
 * offered, and let I = [a, b] be the next. If the rule refuses I, O cannot hold it either, since O
 * holds what was granted before. If the rule grants I and O lacks it, then O with I may be too much
 * at some moments of I; let m be the first of those. What the rule has granted before leaves room
 * there, so that O has an interval J offered after I that covers m. J ends at b or later, so it
 * covers all moments from m to b: O without J and with I fits, is as large, and agrees on k + 1.
 *
 * To tell whether intervals that end at the latest moment fit, it is enough to know, for each moment
 * a, the least room that is left in [a, latest]. That never falls as a rises, so it is kept by its
 * steps: freed[m] is how much it rises at m, and it is the sum of freed[1 .. a] at a. Granting [a,
 * latest] lowers it by one from a on, and before a where it was as high already: it takes one from
 * the last step at or before a. A new moment with room r cuts what is above r and puts the step up
 * to r at itself. So the steps are what a set of `room` places does that are taken by one interval
 * after the other: an interval takes the place that became free last before it began.
 */
#include "ideal_keep.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static int grow(struct um_keep *keep)
{
	uint32_t capacity = keep->capacity ? keep->capacity * 2 : 16;
	uint64_t *freed = realloc(keep->freed, capacity * sizeof(*freed));
	uint32_t *left;

	if (freed)
		keep->freed = freed;
	left = realloc(keep->left, capacity * sizeof(*left));
	if (left)
		keep->left = left;
	if (!freed || !left || capacity < keep->capacity)
		return um_fail(UM_ENOMEM, "no memory for %u moments", capacity);
	keep->capacity = capacity;
	return 0;
}

/* The last moment at or before `moment` with places, 0 if there is none; halves paths as it goes. */
static uint32_t last_freed(struct um_keep *keep, uint32_t moment)
{
	while (moment && keep->left[moment] != moment) {
		uint32_t next = keep->left[moment];

		keep->left[moment] = keep->left[next];
		moment = next;
	}
	return moment;
}

/* Takes up to `wanted` places that are free at `moment`, the latest first; returns how many. */
static uint64_t take(struct um_keep *keep, uint32_t moment, uint64_t wanted)
{
	uint64_t taken = 0;

	while (taken < wanted && (moment = last_freed(keep, moment))) {
		uint64_t here = keep->freed[moment];

		here = here < wanted - taken ? here : wanted - taken;
		keep->freed[moment] -= here;
		taken += here;
		if (!keep->freed[moment])
			keep->left[moment] = moment - 1;
	}
	keep->places -= taken;
	return taken;
}

int um_keep_moment(struct um_keep *keep, uint64_t room)
{
	uint32_t moment = keep->moments + 1;

	/* Slot 0 is the end of every search. */
	if (moment >= keep->capacity && grow(keep))
		return UM_ENOMEM;
	keep->left[0] = 0;
	if (keep->places > room)
		take(keep, moment - 1, keep->places - room);
	keep->freed[moment] = room - keep->places;
	keep->left[moment] = keep->freed[moment] ? moment : moment - 1;
	keep->places = room;
	keep->moments = moment;
	return 0;
}

uint64_t um_keep_since(struct um_keep *keep, uint32_t first, uint64_t wanted)
{
	return first > keep->moments ? wanted : take(keep, first, wanted);
}

int um_keep_copy(struct um_keep *to, const struct um_keep *from)
{
	size_t used = from->capacity ? from->moments + 1u : 0;

	*to = *from;
	to->freed = malloc(from->capacity * sizeof(*to->freed) + 1);
	to->left = malloc(from->capacity * sizeof(*to->left) + 1);
	if (!to->freed || !to->left)
		return um_fail(UM_ENOMEM, "no memory for %u moments", from->moments);
	if (used) {
		memcpy(to->freed, from->freed, used * sizeof(*to->freed));
		memcpy(to->left, from->left, used * sizeof(*to->left));
	}
	return 0;
}

void um_keep_fini(struct um_keep *keep)
{
	free(keep->freed);
	free(keep->left);
}
