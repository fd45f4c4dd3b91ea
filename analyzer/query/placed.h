/*
 * What the driver did, and what was touched, row by row, placed on the axis of the charts: migrations,
 * explicit copies, remote accesses, faults, and the accesses of kernels and of the host.
 */
#ifndef UM_PLACED_H
#define UM_PLACED_H

#include "axis.h"

enum um_placed_kind {
	UM_PLACED_TRANSFER, /* over the link: migrations, copies, remote accesses */
	UM_PLACED_FAULT,
	UM_PLACED_TOUCH, /* a run of pages that a kernel or the host accessed */
};

struct um_placed {
	enum um_placed_kind kind;
	int64_t start, end;	   /* on the axis, start <= end */
	int64_t allocation;	   /* UM_NULL: not known */
	int64_t first_page, pages; /* first_page UM_NULL: not known */
	int64_t bytes_to_device;   /* of a transfer; UM_NULL: not known */
	int64_t bytes_to_host;	   /* the same */
	int64_t bytes_between;	   /* from one device to another */
	unsigned cause;		   /* enum um_traffic_cause */
	int64_t faults;		   /* of a fault; 1 a record where it is not told */
	bool is_host;		   /* the host faulted, or touched */
};

/*
 * Calls `call` for each that can be placed; *unplaced counts those that cannot (no op on an axis of calls).
 * A result other than 0 stops and is returned. As um_query_each().
 */
int um_placed_each(const struct um_axis *, struct um_db *,
		   int (*call)(const struct um_placed *, void *context), void *context,
		   int64_t *unplaced);

#endif
