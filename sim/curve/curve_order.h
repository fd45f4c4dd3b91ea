/*
 * One order of touches for all memories: whether a trace has it, and the simulation that tells it.
 */
#ifndef UM_CURVE_ORDER_H
#define UM_CURVE_ORDER_H

#include "curve.h"
#include "curve_model.h"

#include "sim/probe/probe.h"

struct um_curve_order {
	const struct um_curve_model_ops *model;
	struct um_curve_units units;
	uint64_t unit_bytes;
	uint64_t
		taken_bytes; /* of device memory by other allocations, before anything is touched */
};

/*
 * *why: NULL, or a literal that says why the order of touches is not the same at all memories, or
 * does not decide what is moved; then nothing else counts. Otherwise to be released. UM_ENOMEM, or
 * what reading the trace says.
 */
int um_curve_order_find(struct um_curve_order *, struct um_db *trace, const struct um_policy *,
			const struct um_machine_spec *, const char **why);
void um_curve_order_fini(struct um_curve_order *);

/*
 * Simulates with memory for everything, whose totals are in *totals, and has the model tell what
 * moves with memory for so many units (at least 1, ascending).
 */
int um_curve_order_run(struct um_curve_order *, const struct um_curve *, const uint32_t *capacities,
		       size_t count, struct um_curve_sums *, struct um_totals *totals);

#endif
