/* What the report page shows of one database: its summary, and what stands on the axis of its charts. */
#ifndef UM_REPORT_RUN_H
#define UM_REPORT_RUN_H

#include "heatmap.h"
#include "occupancy.h"
#include "spans.h"
#include "summary.h"
#include "timeline.h"

/* How much is kept: of several databases each has less, so that the page stays small. */
struct um_report_detail {
	size_t bins;	/* along the axis */
	size_t columns; /* of a heat map */
	size_t spans;	/* of each kind */
};

struct um_report_run {
	struct um_summary *summary;
	struct um_axis axis;
	struct um_timeline timeline;
	struct um_heatmaps heat;
	struct um_occupancy occupancy;
	struct um_spans spans;
	int64_t unplaced; /* rows that could not be placed on the axis */
	bool is_replayed; /* what stands on the axis is of `replay` */
};

/*
 * `replay` (NULL: none) is what the charts are of, where the database has no clock for all
 * (um_axis_find_kind()): the same ops, replayed, with times. `skip_frames` as of um_stacks_load(). As um_summary_load().
 */
int um_report_run_load(struct um_report_run **out, struct um_db *, struct um_db *replay,
		       const char *const *skip_frames, const struct um_report_detail *);
void um_report_run_destroy(struct um_report_run *); /* NULL is legal */

#endif
