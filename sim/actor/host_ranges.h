/*
 * Ranges that the program named (NVTX, roctx), on the simulation's clock: one begins when the host
 * comes to it, and ends when the host is done with the last call that was made in it, whenever a device
 * runs what that asked for.
 */
#ifndef UM_HOST_RANGES_H
#define UM_HOST_RANGES_H

#include "simulation.h"

struct um_host_ranges;

/* Reads which op each ends with, from the trace. UM_ENOMEM, UM_EFORMAT. */
int um_host_ranges_create(struct um_host_ranges **out, struct um_db *trace);
void um_host_ranges_destroy(struct um_host_ranges *); /* NULL is legal */
/* The host has come to the range; false: the trace does not name it, and it is an op like others. */
bool um_host_ranges_begin(struct um_host_ranges *, const struct um_op_row *, um_ns now);
/*
 * The host is done with what comes before `op`: reports the ranges that had ended by then. UM_NULL: with
 * everything, so that those are left that never ended.
 */
void um_host_ranges_end(struct um_host_ranges *, struct um_probe *, int64_t op, um_ns now);

#endif
