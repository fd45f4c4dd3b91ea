/*
 * Many simulations of one trace in one pass. The trace's operations and accesses are decoded once
 * and shared, read-only, by all simulations (sim/source/trace_cache.h); several threads take turns
 * at them. What one simulation gives depends neither on the others nor on the threads.
 */
#ifndef UM_SWEEP_H
#define UM_SWEEP_H

#include "sim/machine/machine.h"
#include "sim/policy/policy.h"
#include "sim/probe/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_SWEEP_THREADS_MAX 256

/* A policy that is settled, on its machine. Both are the caller's, are only read, and last. */
struct um_sweep_point {
	const struct um_policy *policy;
	const struct um_machine_spec *machine;
};

/* What was asked for and is not simulated. */
struct um_sweep_note {
	char *what;
	const char *why; /* a literal */
};

/* What came of one point; lives for the call that it is given to. */
struct um_sweep_result {
	int error;	     /* 0, or UM_E*: then only the message means anything */
	const char *message; /* "" where error is 0 */
	struct um_totals totals;
	const struct um_sweep_note *notes;
	size_t note_count;
};

struct um_sweep {
	const char *trace_path;
	const struct um_sweep_point *points;
	size_t count;
	unsigned threads; /* 1 to UM_SWEEP_THREADS_MAX */
	bool host_time;	  /* as um_simulation has it */
	/* Of what is decoded and nobody uses just now; 0: UM_TRACE_CACHE_BYTES. */
	uint64_t cache_bytes;
	/*
	 * Each point once, on the caller's thread, as it is done: which is first is not said. Not 0
	 * stops the sweep, and is returned.
	 */
	int (*result)(void *context, size_t point, const struct um_sweep_result *);
	/*
	 * Some ten times a second on the caller's thread, for progress; may be NULL. `done`: of all
	 * points' operations, from 0 to 1. Not 0 stops the sweep, and is returned.
	 */
	int (*tick)(void *context, double done);
	void *context;
};

/*
 * UM_EINVAL, UM_ENOMEM, UM_EIO of what all points share, and what the callbacks return; a point that
 * fails alone is told by its result, and the others go on.
 */
int um_sweep_run(const struct um_sweep *);

#endif
