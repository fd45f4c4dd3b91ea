/*
 * The recorder's window: what the lanes of the running group accessed and nobody has looked at yet.
 *
 * Lanes lie in tiles of 16. A tile is rows of 16 entries, one for each lane, so that a lane's next
 * access is always 16 entries further, a tile that is filled lane after lane stays in the first
 * cache, and a row of a tile is one cache line. Between tiles lies one row that is never used:
 * without it the same rows of all tiles would share one cache set.
 *
 * An entry is a line of the arena (or of pageable memory behind it) and the descriptor of the access (device_abi.h). Descriptors of 0
 * bytes continue an access that began in another line, and count as none.
 */
#ifndef UM_WINDOW_H
#define UM_WINDOW_H

#include "../compiler/device/device_abi.h"
#include "../spool/spool_record.h"

#include <stdint.h>

#define UM_WINDOW_TILE	   16u
#define UM_GROUP_LANES_MAX 1024u
#define UM_GROUP_WAVES_MAX (UM_GROUP_LANES_MAX / UM_WAVE_LANES)
#define UM_WINDOW_TILES	   (UM_GROUP_LANES_MAX / UM_WINDOW_TILE)
/* 256 KiB of lines and descriptors: with the kernel's own data inside a second-level cache. */
#define UM_WINDOW_ENTRIES (32u * 1024u)
/* For small groups: a tile of this many rows fits into the first cache. */
#define UM_WINDOW_ROWS_MAX 512u
/* The entry before the first lane's is read (never used), and a row lies between tiles. */
#define UM_WINDOW_FIRST UM_WINDOW_TILE
#define UM_WINDOW_SPAN	(UM_WINDOW_FIRST + UM_WINDOW_ENTRIES + UM_WINDOW_TILES * UM_WINDOW_TILE)

struct um_window {
	uintptr_t base;	 /* of the arena; beyond every address while there is none */
	uint32_t cursor; /* entry that the running lane writes next */
	uint32_t limit;	 /* entry at which its column ends */
	uint32_t lane;	 /* that runs, in its group */
	uint32_t lanes;
	uint32_t rows;
	uint32_t start[UM_GROUP_LANES_MAX]; /* first entry of each lane */
	uint32_t next[UM_GROUP_LANES_MAX];  /* its cursor while it does not run */
	uint32_t line[UM_WINDOW_SPAN] __attribute__((aligned(64)));
	uint32_t descriptor[UM_WINDOW_SPAN] __attribute__((aligned(64)));
};

extern struct um_window um_window;

static inline void um_window_lane(uint32_t lane)
{
	um_window.next[um_window.lane] = um_window.cursor;
	um_window.lane = lane;
	um_window.cursor = um_window.next[lane];
	um_window.limit = um_window.start[lane] + um_window.rows * UM_WINDOW_TILE;
}

/* How many accesses of a lane that does not run are in the window. */
static inline uint32_t um_window_count(uint32_t lane)
{
	return (um_window.next[lane] - um_window.start[lane]) / UM_WINDOW_TILE;
}

/* Lays the columns of `lanes` lanes out, all empty; the first lane runs. */
void um_window_shape(uint32_t lanes);
/* Empties every column. */
void um_window_clear(void);

#endif
