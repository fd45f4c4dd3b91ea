/*
 * What an order of touches comes to at each of several memories, under one eviction order: the units
 * that a device touches and that leave it, one after the other, as they do where all fits. A model
 * says which would have been away already, or have been pushed out, with memory for `capacity`
 * units; all units are of one size.
 */
#ifndef UM_CURVE_MODEL_H
#define UM_CURVE_MODEL_H

#include "curve_units.h"

/* Of one memory. Pages are those with data, which cross the link. */
struct um_curve_sums {
	uint64_t device_faults, host_faults;
	uint64_t pages_in, pages_out;
};

struct um_curve_model;

struct um_curve_model_ops {
	/* Beside what the units take, each memory and unit takes so much, with `touches` touches. */
	const char *evict; /* name of the eviction order */
	size_t bytes_a_unit_and_memory;
	/* `units` and `capacities` (each at least 1, ascending) last as long as the model. */
	int (*create)(struct um_curve_model **out, const struct um_curve_units *units,
		      const uint32_t *capacities, size_t count);
	void (*destroy)(struct um_curve_model *); /* NULL is legal */
	/* Before the pages that it touches first have data. UM_ENOMEM, UM_ELIMIT. */
	int (*touch)(struct um_curve_model *, uint32_t unit);
	/* So many pages of the unit have data that had none; NULL: it looks at units->pages. */
	int (*fill)(struct um_curve_model *, uint32_t unit, uint32_t pages);
	/* The unit, where it is on the device, goes to the host, or is freed. */
	int (*leave)(struct um_curve_model *, uint32_t unit, bool to_host);
	/* Adds to the sums of each memory. */
	int (*finish)(struct um_curve_model *, struct um_curve_sums *);
};

struct um_curve_model { /* first member of every model's own struct */
	const struct um_curve_model_ops *ops;
};

extern const struct um_curve_model_ops um_curve_lru, um_curve_fifo, um_curve_belady;

#endif
