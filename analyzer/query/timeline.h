/*
 * What crossed the link, when and why, and what faulted: in bins along the axis, so that a million rows
 * are as many figures as a thousand.
 */
#ifndef UM_TIMELINE_H
#define UM_TIMELINE_H

#include "bins.h"
#include "placed.h"
#include "summary.h"

enum um_direction { UM_TO_DEVICE, UM_TO_HOST, UM_BETWEEN_DEVICES, UM_DIRECTIONS };
/* Allocations whose share is kept bin by bin: those with most bytes over the link. */
#define UM_TIMELINE_TRACKED 96u

struct um_timeline {
	struct um_axis axis;
	/* Bytes; NULL: there was nothing of it. */
	struct um_bins *bytes[UM_DIRECTIONS][UM_TRAFFIC_CAUSES];
	struct um_bins *faults[2]; /* of devices, of the host; NULL: none */
	/* Of the tracked allocations: bytes over the link whatever the way, faults of whomever. */
	size_t tracked_count;
	int64_t tracked[UM_TIMELINE_TRACKED]; /* allocation.allocation */
	struct um_bins *tracked_bytes[UM_TIMELINE_TRACKED];
	struct um_bins *tracked_faults[UM_TIMELINE_TRACKED];
	int64_t unknown_transfers; /* rows whose bytes the file does not know */
};

/* Ranks the allocations of the summary; the rest is zero. */
void um_timeline_init(struct um_timeline *, const struct um_axis *, const struct um_summary *);
void um_timeline_fini(struct um_timeline *);
/* UM_ENOMEM. */
int um_timeline_add(struct um_timeline *, const struct um_placed *);
/*
 * Of each bin the tracked allocation that has most of `of` (tracked_bytes, tracked_faults): its rank, or
 * -1 where none has any. `out` has room for the bins. UM_ENOMEM.
 */
int um_timeline_foremost(const struct um_timeline *, struct um_bins *const *of, int32_t *out);

#endif
