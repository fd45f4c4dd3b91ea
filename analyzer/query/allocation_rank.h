/* Which allocations matter most: by bytes over the link, then faults, then size. */
#ifndef UM_ALLOCATION_RANK_H
#define UM_ALLOCATION_RANK_H

#include "summary.h"

/* Their numbers, the foremost first, at most `capacity`; returns how many. */
size_t um_allocation_rank(const struct um_summary *, int64_t *out, size_t capacity);
/* The order: below 0 where `left` matters more. Never 0 of two. */
int um_allocation_compare(const struct um_allocation_summary *left,
			  const struct um_allocation_summary *right);

#endif
