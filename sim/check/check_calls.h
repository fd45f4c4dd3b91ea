/*
 * Whether two programs asked for the same: allocations, advice, prefetches, attachments, copies, memsets
 * and launches, in their order. Where they did not, no error tells of a model. What only waits or orders
 * (synchronisations, events) is not among them, nor are calls that failed: a program in HIP
 * and its twin in CUDA differ there.
 */
#ifndef UM_CHECK_CALLS_H
#define UM_CHECK_CALLS_H

#include "check_segments.h"

struct um_check_difference {
	size_t calls_here, calls_there;
	size_t only_here, only_there; /* calls that have no counterpart; both 0: the same program */
	bool is_least;		      /* these at least: looking for all would take too long */
	/* Where they first differ: a place in that side's calls; SIZE_MAX: that part ends before. */
	size_t first_here, first_there;
};

/*
 * Compares two parts. Allocations are the same that are the n-th of their kind and size in their part (or
 * before it, where calls name such); streams, that are the n-th to be used there; launches, of which name,
 * grid and group are. `but_advice`: advice
 * and prefetches are left out, since a policy changed them. UM_ENOMEM.
 */
int um_check_calls_compare(struct um_check_difference *, const struct um_check_side *here,
			   const struct um_check_part *here_part, const struct um_check_side *there,
			   const struct um_check_part *there_part, bool but_advice);
static inline bool um_check_calls_differ(const struct um_check_difference *difference)
{
	return difference->only_here || difference->only_there;
}
/* Adds what another part came to, whose calls come later. */
void um_check_difference_add(struct um_check_difference *, const struct um_check_difference *);

/* Whether calls of a kind are given to a stream. */
bool um_check_is_on_stream(enum um_check_call_kind);
/* "prefetch of x #1 managed 2 MiB to device 0"; malloc'ed. NULL: no memory. */
char *um_check_call_text(const struct um_check_side *, size_t call);
/* "x #1 managed 2 MiB"; malloc'ed. NULL: no memory. */
char *um_check_allocation_text(const struct um_check_allocation *);
/* The launch at a place of ops; NULL: its kernel is not known. */
const struct um_check_launch *um_check_launch_of(const struct um_check_side *, size_t op);
/* The place of an allocation by its id; SIZE_MAX: there is none. */
size_t um_check_allocation_place(const struct um_check_side *, int64_t id);

#endif
