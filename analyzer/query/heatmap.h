/*
 * Pages by time, of the allocations that matter most: how much of each part of an allocation moved, faulted
 * or was touched in each part of the run.
 */
#ifndef UM_HEATMAP_H
#define UM_HEATMAP_H

#include "bins.h"
#include "placed.h"
#include "summary.h"

/* Pages count as the 64 lines that they have each: few pages over many columns would be full of gaps. */
enum um_heat_layer {
	UM_HEAT_TO_DEVICE,    /* lines of pages that moved there */
	UM_HEAT_TO_HOST,      /* the same */
	UM_HEAT_REMOTE,	      /* of pages accessed in place over the link, once an op */
	UM_HEAT_FAULTS,	      /* faults of devices and of the host */
	UM_HEAT_KERNEL_TOUCH, /* of pages that kernels touched, once a launch */
	UM_HEAT_HOST_TOUCH,   /* of pages that the host touched, once an interval */
	UM_HEAT_LAYERS
};

#define UM_HEATMAPS_MAX	    16u
#define UM_HEATMAP_ROWS_MAX 48u

struct um_heatmap {
	int64_t allocation;
	int64_t pages;	     /* of the allocation */
	int64_t pages_a_row; /* the last row may have fewer */
	size_t rows;
	/* Of a layer and a row, along the axis; NULL: nothing of it. */
	struct um_bins *cells[UM_HEAT_LAYERS][UM_HEATMAP_ROWS_MAX];
};

struct um_heatmaps {
	struct um_axis axis; /* with as many bins as a map has columns */
	size_t count;
	struct um_heatmap maps[UM_HEATMAPS_MAX];
};

/* Of the foremost of the summary's allocations; `columns` along the axis. */
void um_heatmaps_init(struct um_heatmaps *, const struct um_axis *, const struct um_summary *,
		      size_t columns);
void um_heatmaps_fini(struct um_heatmaps *);
/* UM_ENOMEM. */
int um_heatmaps_add(struct um_heatmaps *, const struct um_placed *);
/* What a layer comes to, over all cells. */
int64_t um_heatmap_total(const struct um_heatmap *, enum um_heat_layer);

#endif
