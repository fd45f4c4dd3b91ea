/* What recording costs: times.tsv beside a measured trace. A part of calibrate.h. */
#ifndef UM_CALIBRATE_TIMES_H
#define UM_CALIBRATE_TIMES_H

#include "calibrate_trace.h"
#include "least_squares.h"

enum um_times_mode { UM_TIMES_UNTRACED, UM_TIMES_OFF, UM_TIMES_ALL, UM_TIMES_MODES };

/* The medians of the repetitions of a configuration; 0: there are none. */
struct um_times_row {
	char *name; /* owned */
	double all_ns[UM_TIMES_MODES], gpu_ns[UM_TIMES_MODES];
};
struct um_times {
	struct um_times_row *rows;
	size_t count;
};

/*
 * Lines of mode, repetition, name, ns of the whole, ns of the GPU's steps, with tabs between; other
 * modes and lines without the last are passed over. UM_ENOENT, UM_EIO; UM_EFORMAT (with the line), also
 * of one whose GPU steps took no time.
 */
int um_times_read(struct um_times *, const char *path);
void um_times_free(struct um_times *);
/* NULL: there is none of that name. */
const struct um_times_row *um_times_find(const struct um_times *, const char *name);

/*
 * Samples of one term each, the times of a configuration with and without: a record of a transfer
 * (umtrace --faults=off against nothing), a page that faulted (--faults=all against off), and a fault
 * of the host that moves something (all against nothing, less the GPU's steps). UM_ENOMEM.
 */
int um_calibrate_records(struct um_samples *, const struct um_measured *, const struct um_times *);
int um_calibrate_fault_records(struct um_samples *, const struct um_measured *,
			       const struct um_times *);
int um_calibrate_cpu_fault_records(struct um_samples *, const struct um_measured *,
				   const struct um_times *);

#endif
