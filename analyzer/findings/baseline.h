/*
 * A trace as it was, replayed by its driver model, as a database: where calls and what the model makes of them
 * have one clock, which an emulated trace itself does not give (its calls have the CPU's times).
 */
#ifndef UM_BASELINE_H
#define UM_BASELINE_H

#include "finding.h"

/*
 * Writes ops, faults, traffic and events of the replay to `path`, which is empty or not there, and beside
 * them the trace's sites, allocations, parts, kernels, ranges and accesses. It has no row in `run`: it is for
 * queries, not for people. UM_ENOTSUP: the trace has no accesses; else as um_findings_load().
 */
int um_baseline_write(const char *path, struct um_db *trace, const struct um_findings_choice *);

#endif
