/*
 * What stands on the axis one by one: launches, copies, prefetches, waits, the host between calls, ranges
 * that the program named, stops of the driver. The longest are kept; of launches, all count in bins.
 */
#ifndef UM_SPANS_H
#define UM_SPANS_H

#include "axis.h"
#include "bins.h"

struct um_stacks;

struct um_span {
	const char *kind; /* op.kind, 'range', or driver_event.kind */
	int64_t start, end;
	int64_t op, stream, device, thread; /* UM_NULL: not known */
	int64_t kernel;			    /* of a launch: um_kernel_summary.first_op; UM_NULL */
	int64_t allocation;		    /* acted on; UM_NULL */
	int64_t bytes;			    /* copied, prefetched; UM_NULL */
	const char *detail;		    /* name of a range, advice, reason; NULL */
	const char *site;		    /* whose call it was, "file:line"; NULL */
};

struct um_spans {
	struct um_span *items; /* by start */
	size_t count;
	int64_t all;		  /* that there were */
	struct um_bins *launches; /* how many began there */
	struct um_bins *busy;	  /* time of launches; on an axis of calls, 1 each */
	struct um_text_pool *texts;
};

/* At most `most` of each kind of thing. As um_query_each(). */
int um_spans_load(struct um_spans *out, const struct um_axis *, struct um_db *,
		  const struct um_stacks *, size_t most);
void um_spans_fini(struct um_spans *);

#endif
