/* How much of the baseline something may be about, and calls as code; what several rules need. */
#ifndef UM_FINDING_WEIGHT_H
#define UM_FINDING_WEIGHT_H

#include "finding_draft.h"

/*
 * The baseline's time by the share that these have of its faults: the most that they may be about, so that
 * the replay of what mends them is not left out.
 */
int64_t um_fault_share_ns(const struct um_facts *, int64_t faults);
/* How long the launches took in the baseline that touch the group. */
int64_t um_launch_time_ns(const struct um_facts *, const struct um_fact_group *);
/* A call with the group's pointer and bytes for two %s: "hipMalloc(&%s, %s);". NULL: out of memory. */
const char *um_group_call(struct um_finding_draft *, const char *format);

#endif
