/*
 * How many things can be kept at most, from one moment to a later one, where each moment has so
 * much room: the heart of the bounds under a capacity.
 *
 * Moments come in order. A thing asks at the latest moment that there is to have been kept since an
 * earlier one; each is alike and takes one place at every moment from the one to the other. Of all
 * things that ask, um_keep_since() grants as many as can be granted together: no choice of which to
 * keep, however much it knew, keeps more (the proof is in ideal_keep.c).
 */
#ifndef UM_IDEAL_KEEP_H
#define UM_IDEAL_KEEP_H

#include <stdint.h>

struct um_keep {
	uint32_t moments, capacity;
	uint64_t places; /* all of `freed`: what is free at the last moment */
	uint64_t *freed; /* [moment, from 1]: places that are free from that moment on */
	uint32_t *left;	 /* where to look for a moment with such places, at it or before */
};

/* A moment behind all others, with that much room. UM_ENOMEM. */
int um_keep_moment(struct um_keep *, uint64_t room);
/*
 * `wanted` things ask to have been kept at every moment from `first` (1 and up) to the last that
 * there is; returns how many are. All are, if `first` is behind the last: no moment is between.
 */
uint64_t um_keep_since(struct um_keep *, uint32_t first, uint64_t wanted);
/* Into one that is all 0. UM_ENOMEM. */
int um_keep_copy(struct um_keep *to, const struct um_keep *from);
void um_keep_fini(struct um_keep *);

#endif
