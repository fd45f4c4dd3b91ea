/*
 * How much of each device's memory held the program's data, along the axis: inferred from the transfers.
 * Pages count from the end of the migration that brought them, or from their first touch there, until one
 * takes them away or their allocation is freed; device memory from its allocation to its free. What is assumed:
 * a duplicate (read-mostly) stays as long, though a write may have dropped it; where a driver does not
 * tell of first touches (no GPU does), pages that were born on the device are missing.
 */
#ifndef UM_OCCUPANCY_H
#define UM_OCCUPANCY_H

#include "axis.h"

#define UM_OCCUPANCY_DEVICES_MAX 16u
/* Pages of a larger allocation (1 TiB) are not followed. */
#define UM_OCCUPANCY_PAGES_MAX (INT64_C(1) << 28)

struct um_occupancy_device {
	int64_t device;
	bool is_used;
	int64_t *managed_bytes;	  /* of each bin, the most that lay there at once */
	int64_t *allocated_bytes; /* likewise, of device memory that the program asked for */
	int64_t most_managed_bytes, most_allocated_bytes, most_bytes; /* together at once */
};

struct um_occupancy {
	size_t bins;
	struct um_occupancy_device devices[UM_OCCUPANCY_DEVICES_MAX]; /* by number */
	int64_t not_followed; /* allocations that are too large, or rows that cannot be */
};

/* Devices beyond those counted are left out. As um_query_each(). */
int um_occupancy_load(struct um_occupancy *out, const struct um_axis *, struct um_db *);
void um_occupancy_fini(struct um_occupancy *);

#endif
