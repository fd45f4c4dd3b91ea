/*
 * A trace as the simulator wants it: operations in program order, and for each launch its groups'
 * touches, any number of groups at a time. Reads through trace/db only.
 */
#ifndef UM_SOURCE_H
#define UM_SOURCE_H

#include "trace/db/trace_db.h"
#include "trace/spool/access_stream.h"

struct um_source;
struct um_trace_cache;

/*
 * UM_ENOTSUP where the trace has no access stream (the message says what to do). cache: shared with
 * other sources of the same trace, each with a handle of its own, and outlives them; NULL: its own, which
 * keeps only what is in use.
 */
int um_source_open(struct um_source **out, struct um_db *, struct um_trace_cache *cache);
void um_source_close(struct um_source *);
/*
 * Calls `call` once, from within a call that takes something of the trace, when `bytes` more of it (as decoded)
 * were taken; 0: never.
 */
void um_source_watch(struct um_source *, uint64_t bytes, void (*call)(void *context),
		     void *context);
/* How far it was read: op and chunk of the furthest. Grows. */
uint64_t um_source_position(const struct um_source *);

/* The next operation, or NULL at the end (*error 0) or on an error. Valid until the next call. */
const struct um_op_row *um_source_next(struct um_source *, int *error);
const struct um_allocation_row *um_source_allocation(struct um_source *, int64_t allocation);
/* Of a launch op; NULL if the trace has none. Valid until the next call. */
const struct um_kernel_row *um_source_kernel(struct um_source *, int64_t op);
/* Page accesses of an op, sorted; valid until the next call. Returns how many or UM_E*. */
long um_source_pages(struct um_source *, int64_t op, const struct um_page_access_row **rows);

/*
 * Groups of a launch in the order in which they ran. A group's cursor yields its runs in order;
 * cursors are independent, so that groups in flight advance side by side. Memory: the runs of open
 * cursors' chunks only.
 */
struct um_groups;
struct um_group_cursor;
int um_groups_open(struct um_groups **out, struct um_source *, int64_t op);
void um_groups_close(struct um_groups *);
/* All groups' touches, repeats left out as in the trace. */
uint64_t um_groups_touches(const struct um_groups *);
/* The next group that touches anything; NULL at the end or on an error. */
struct um_group_cursor *um_groups_next(struct um_groups *, int *error);
/*
 * The group's next run; NULL at its end or on an error. Valid until the next call on this cursor.
 */
const struct um_access_run *um_group_next(struct um_group_cursor *, int *error);
/* The run that comes so many after the next, where it is at hand; else NULL. Valid as that is. */
const struct um_access_run *um_group_ahead(const struct um_group_cursor *, uint32_t runs);
void um_group_close(struct um_group_cursor *);

#endif
