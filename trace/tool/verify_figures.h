/* The figures of umtrace verify: of a run as it was predicted, or as it was. */
#ifndef UM_VERIFY_FIGURES_H
#define UM_VERIFY_FIGURES_H

#include "sim/policy/policy.h"
#include "trace/db/trace_db.h"

enum um_verify_figure {
	UM_VERIFY_TO_DEVICE, /* bytes */
	UM_VERIFY_TO_HOST,
	UM_VERIFY_DEVICE_FAULTS,
	UM_VERIFY_HOST_FAULTS,
	UM_VERIFY_TIME, /* ns */
	UM_VERIFY_FIGURES
};
extern const char *const um_verify_names[UM_VERIFY_FIGURES]; /* "bytes to device", ... */
extern const char *const um_verify_keys[UM_VERIFY_FIGURES];  /* "bytes_to_device", ...: of JSON */

#define UM_VERIFY_UNKNOWN (-1.0)

struct um_verify_run {
	double value[UM_VERIFY_FIGURES]; /* UM_VERIFY_UNKNOWN: not known */
};

/*
 * Simulates the trace under the policy, which is not settled yet, on `machine` (NULL: the policy's, then the
 * trace's). Bytes are all those over the link; without `remote`, which is what a GPU tells, those that kernels
 * accessed in place are left out. With `rules` false only what the
 * policy says of machine and driver holds, and the program is as it was traced. As um_simulate().
 */
int um_verify_simulate(struct um_verify_run *out, struct um_db *trace, const char *policy,
		       const char *machine, bool rules, bool remote);
/* Sums of a trace measured on a GPU; the time is from its first call to its last. Of the database. */
int um_verify_measured(struct um_verify_run *out, struct um_db *trace);
/* *measured: whether the trace is of a GPU. */
int um_verify_is_measured(bool *measured, struct um_db *trace);

#endif
