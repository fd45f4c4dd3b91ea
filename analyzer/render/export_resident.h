/*
 * Counters of a timeline, of each device: managed memory that is on it, and what device allocations take.
 * The former is what came less what went, by the records of both; where a driver drops a duplicate
 * without a record, or records are lost, it is more than there is, and never more than the allocations have.
 */
#ifndef UM_EXPORT_RESIDENT_H
#define UM_EXPORT_RESIDENT_H

#include "trace_event.h"

#include "trace/db/trace_db.h"

/* Device n is process `first_process` + n. A few ten thousand values at most. UM_EFORMAT, UM_ENOMEM. */
int um_export_resident(struct um_trace_events *, struct um_db *, int64_t first_process);

#endif
