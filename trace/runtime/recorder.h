/*
 * Turns the hooks' accesses into what the spool carries: page masks, coalesced requests, atomics
 * and the ordered stream (../spool/access_stream.h).
 *
 * Each lane appends its accesses to its own column of a window; when every lane of the group waits,
 * has ended or has filled its column, the window is read row by row: the k-th access of every lane,
 * then the (k+1)-th. Requests are the distinct lines of a row within a wave and instruction: exact
 * where the lanes of a wave make the same accesses, an approximation under divergence.
 *
 * exec.c calls begin, group_begin, flush and end; hooks.c fills the window (window.h).
 */
#ifndef UM_RECORDER_H
#define UM_RECORDER_H

#include "exec.h"

#include <stdbool.h>
#include <stdint.h>

/* Repeat filter of the stream: see access_stream.h. */
#define UM_STREAM_FILTER_PAGES 32u

/*
 * Starts recording for `op`; with op 0 the window is used, so that spinning is seen, and what is in
 * it forgotten. UM_ENOMEM at first use.
 */
int um_recorder_begin(uint32_t op, uint32_t lanes_per_group);
/* The group that has its turn. Starts the repeat filter anew, unless it had the turn before. */
void um_recorder_group_begin(uint64_t linear_group);
/* Every lane has stopped: reads the window and empties it. */
void um_recorder_flush(void);
/* Counts accesses that are not in the window as such: um_access_range(), outside the arena. */
void um_recorder_count(unsigned kind, uint64_t accesses, uint64_t bytes);
void um_recorder_outside(void);
/* Sends PAGES and what is left of STREAM, resets the touched pages. `totals` may be NULL. */
void um_recorder_end(struct um_launch_totals *totals);

/* Whether to tell coalesced requests (struct um_spool_config; umtrace --no-requests). */
extern bool um_recorder_requests;

#endif
