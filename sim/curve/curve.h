/*
 * Traffic against memory: what a program's managed memory moves under one policy at each of several
 * sizes of device memory. Every point is what a replay with that much memory gives, exactly, however
 * it was found:
 *
 * - in one simulation with memory for everything, which tells the order of touches, where that order
 *   is the same whatever the memory is (curve_order.c says when) and driver and eviction order are
 *   ones that an order of touches decides: demand with lru, whose stack distances give every memory
 *   at once (Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for storage hierarchies, 1970),
 *   with fault order or with belady, each memory's own list beside the others;
 * - elsewhere by a replay at each memory, all of one decoding of the trace (sim/sweep/sweep.h).
 */
#ifndef UM_CURVE_H
#define UM_CURVE_H

#include "sim/policy/policy.h"
#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_curve_point {
	uint64_t memory_bytes; /* given: of each device */
	int error;	       /* UM_E* of its replay; then only the message means anything */
	char message[512];
	uint64_t device_faults, host_faults;
	uint64_t bytes_to_device, bytes_to_host; /* over links, whatever for */
};

enum um_curve_method {
	UM_CURVE_REPLAYS, /* one at each memory */
	UM_CURVE_STACK,	  /* one order of touches, stack distances */
	UM_CURVE_LISTS,	  /* one order of touches, a list each memory */
};

struct um_curve {
	struct um_db *trace;
	const struct um_policy *policy;	       /* settled; its memory does not matter */
	const struct um_machine_spec *machine; /* a point may have more memory than it */
	struct um_curve_point *points;	       /* by memory, ascending, none twice */
	size_t count;
	bool only_replays; /* whatever would do otherwise */
	unsigned threads;  /* replays side by side; 0: one */
	/* For a terminal, of the simulations that it takes; may be NULL. */
	void (*progress)(void *context, size_t done, size_t all);
	/* As um_simulation.ignored, of each simulation, on the caller's thread; may be NULL. */
	void (*ignored)(void *context, const char *what, const char *why);
	void *context;
	/* What comes of it beside the points. */
	enum um_curve_method method;
	const char *why_replays; /* a literal; NULL: that is not the method */
};

/*
 * Fills the points. UM_ENOMEM, or what reading the trace says; a point that fails alone has its error.
 */
int um_curve_run(struct um_curve *);

/*
 * A knee: where one point down in memory multiplies the bytes over the links (both ways) by
 * UM_CURVE_KNEE or more, and by no less than one part in UM_CURVE_SMALL of the most that any point
 * moves; steps that follow each other are one.
 */
#define UM_CURVE_KNEE  1.25
#define UM_CURVE_SMALL 100

struct um_curve_knee {
	size_t above, below; /* points, below < above: between them it rises */
};

static inline uint64_t um_curve_bytes(const struct um_curve_point *point)
{
	return point->bytes_to_device + point->bytes_to_host;
}

/*
 * The knees, the one at the most memory first, as many as fit; returns how many there are. Points
 * that failed are passed over.
 */
size_t um_curve_knees(const struct um_curve_point *, size_t count, struct um_curve_knee *out,
		      size_t capacity);

#endif
