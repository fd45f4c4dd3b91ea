/* One policy over another, and what a policy takes over from the run that was traced. */
#ifndef UM_POLICY_OVERLAY_H
#define UM_POLICY_OVERLAY_H

#include "policy.h"
#include "trace/db/rows.h"

/*
 * What `over` asks for is added behind what `policy` has, and so wins: its rules, what it says of the
 * driver without naming one, its memory, and calls of the program that it drops. Its machine, driver,
 * page size and eviction order are left alone. `over` loses its rules to `policy`. Before `policy` is
 * settled. UM_ENOMEM; UM_EINVAL: a setting that the driver does not have.
 */
int um_policy_add(struct um_policy *policy, struct um_policy *over);

/*
 * What a program that was traced had, for another machine too if processes choose there: how one
 * machine was booted says nothing of another. UM_XNACK_UNKNOWN: the trace does not tell.
 */
enum um_xnack um_policy_traced_xnack(const struct um_run_row *, const struct um_machine_spec *);

#endif
