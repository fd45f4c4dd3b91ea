/* One configuration on its machine and the trace. A part of sweep_plan.c. */
#ifndef UM_SWEEP_SETTLE_H
#define UM_SWEEP_SETTLE_H

#include "sweep_plan.h"

/* Of the traced run, what configurations depend on. */
struct um_sweep_traced {
	struct um_db *trace;
	char *machine, *machine_text, *xnack; /* NULL: not told */
};

/* UM_EFORMAT, UM_ENOMEM. um_sweep_traced_fini() in any case. */
int um_sweep_traced_read(struct um_sweep_traced *out, struct um_db *trace);
void um_sweep_traced_fini(struct um_sweep_traced *);

/*
 * Fills in all but `from`, which comes in. UM_EINVAL: it cannot be; what it has then is the caller's to
 * release.
 */
int um_sweep_settle(struct um_sweep_configuration *, const struct um_policy_value *values,
		    size_t count, const struct um_sweep_traced *);

#endif
