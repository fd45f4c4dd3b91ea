/*
 * The policy's rules against one trace: which allocations each rule is about, which launches each moment
 * means, and so which rule acts at which op. What a simulation does (sim/actor) and what umtrace -P has the
 * program do are both this plan.
 */
#ifndef UM_POLICY_PLAN_H
#define UM_POLICY_PLAN_H

#include "policy_check.h"

/* A launch that succeeded, or has not ended. */
struct um_plan_launch {
	int64_t op, stream, device;
	char *kernel; /* its name; NULL: the trace has none */
};

struct um_plan_action {
	int64_t op;		/* at which it is due: after an allocation, before a launch */
	uint32_t rule, subject; /* places */
	/* Of the launch that it is for; for none: the null stream of device 0. */
	int64_t stream, device;
	int64_t launch_op; /* that launch; 0: none */
};

/* `actions` by op, then rule in the order of the file (so that later rules win), then subject. */
struct um_policy_plan {
	const struct um_policy *policy;
	struct um_db *trace;
	struct um_subjects *subjects;		/* NULL without rules */
	size_t subject_count, allocation_count; /* with their parts; without */
	struct um_plan_launch *launches;
	size_t launch_count, launch_capacity;
	struct um_plan_action *actions;
	size_t action_count, action_capacity;
};

/* Both outlive the plan. UM_EINVAL: a rule that would never act, with its line; UM_ENOMEM, or of the trace. */
int um_policy_plan_init(struct um_policy_plan *, const struct um_policy *, struct um_db *trace);
void um_policy_plan_fini(struct um_policy_plan *); /* also of zeros, and after an error */

const struct um_subject *um_plan_subject(const struct um_policy_plan *, size_t place);
/*
 * What kind an allocation of the trace is under the policy (enum um_allocation_kind): `kind` unless a rule
 * has it allocated as another; -1: no kind is called so.
 */
int um_plan_kind(const struct um_policy_plan *, int64_t allocation, const char *kind);
/* The bytes of its subject that the action is about, within the subject. */
void um_plan_range(const struct um_policy_plan *, const struct um_plan_action *, uint64_t *start,
		   uint64_t *bytes);

#endif
