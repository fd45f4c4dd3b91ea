/*
 * Turns the hooks' accesses into what the spool carries: page masks, coalesced requests, atomics
 * and the ordered stream (../spool/access_stream.h).
 *
 * Each lane appends its accesses to its own column of a window; when every lane of the group waits,
 * has ended or has filled its column, the window is read row by row: the k-th access of every lane,
 * then the (k+1)-th. Requests are the distinct lines of a row within a wave and instruction: exact
 * where the lanes of a wave make the same accesses, an approximation under divergence.
 *
 * exec.c calls begin, group_begin, flush, group_end, end; the hooks live here.
 */
#ifndef UM_RECORDER_H
#define UM_RECORDER_H

#include "exec.h"

/* Repeat filter of the stream: see access_stream.h. */
#define UM_STREAM_FILTER_PAGES 32u

struct um_recorder_window; /* private to recorder and exec: cursor of the running lane */

/* Starts recording for `op`. UM_ENOMEM at first use. */
int um_recorder_begin(uint32_t op, uint32_t lanes_per_group);
void um_recorder_group_begin(uint64_t linear_group);
/* The lane whose accesses follow, by number in the group. */
void um_recorder_lane(uint32_t lane);
/* Every lane has stopped: empties the window. */
void um_recorder_flush(void);
void um_recorder_group_end(void);
/* Sends PAGES and what is left of STREAM, resets the touched pages. */
void um_recorder_end(struct um_launch_totals *totals);

/* Whether to tell coalesced requests (struct um_spool_config; umtrace --no-requests). */
extern bool um_recorder_requests;

#endif
