/* The parts of two programs that are the same: what their launches and allocations are paired in. */
#ifndef UM_CHECK_SEGMENTS_H
#define UM_CHECK_SEGMENTS_H

#include "check_side.h"

struct um_check_part {
	bool is_there;
	size_t first, end; /* places in that side's ops */
};

/* A range that the prediction and at least one measured side have, or the whole run. */
struct um_check_segment {
	const struct um_check_range *range; /* of the prediction; NULL: the whole run */
	bool is_outermost;
	struct um_check_part predicted, *measured; /* one each */
	uint64_t lost_pages; /* check_lost.h; of one that lies in another, the other's */
	bool is_other;	     /* some measured side called something else in it (check_calls.h) */
};

struct um_check_segments {
	struct um_check_segment *segments; /* in program order */
	size_t count;
	struct um_check_part *parts;
	bool has_ranges; /* else there is one, the whole run */
	/* Places in `ranges` of those that the other side has not; of the first measured side. */
	size_t *only_predicted, *only_measured;
	size_t only_predicted_count, only_measured_count;
};

/* UM_ENOMEM. To be freed also after an error. */
int um_check_segments_find(struct um_check_segments *, const struct um_check_side *predicted,
			   const struct um_check_side *measured, size_t measured_count);
void um_check_segments_free(struct um_check_segments *);

#endif
