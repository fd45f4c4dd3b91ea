/*
 * Tells a group that waits for somebody else (another group, the host) from one that works.
 *
 * A lane that waits reads the same few lines for ever. So a group spins when every lane that has
 * filled its column has touched at most UM_SPIN_LINES lines in it, the same ones as in the windows
 * before and with the same contents; or when its lanes have done nothing but um_yield() for a
 * while. Such a group gives its turn to others. That costs little, so being wrong about it is
 * harmless. Calling a launch dead is not: exec.c waits longer for that.
 *
 * Entries without hooks show their um_yield() only; umhipcc puts one into every loop that may wait.
 */
#ifndef UM_LANE_SPIN_H
#define UM_LANE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* In one window; a lane that works touches more, or others the next time. */
#define UM_SPIN_LINES 16u
/* Lines whose contents are watched for a group. */
#define UM_SPIN_WATCHED 32u

struct um_group;

struct um_spin {
	uint64_t first;	    /* hash of the first full lane's lines */
	uint64_t signature; /* of the lines in the last window and what they held */
	uint32_t repeats;   /* windows in a row with that signature */
	uint32_t yields;    /* rounds of um_yield() in this turn */
	uint64_t steps;	    /* hooks and yields of this turn */
	bool worked;	    /* this turn did something else than to spin */
	uint32_t lines;
	uint32_t line[UM_SPIN_WATCHED];
	uint64_t contents; /* of the lines when the turn ended */
	uint32_t lane;	   /* one that spins, for the message */
};

/* A turn begins. */
void um_spin_begin(struct um_spin *);
/* No lane is ready, some are full or yielded; the window is still there. True: give up the turn. */
bool um_spin_round(struct um_group *);
/* Where a line of the window lies. */
const void *um_spin_address(uint32_t line);
/* A hash of what the watched lines hold now. */
uint64_t um_spin_contents(const struct um_spin *);

#endif
