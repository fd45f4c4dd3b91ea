/*
 * From a policy and the trace of an earlier run of the program to the table that the program applies
 * (spool/apply_table.h). The plan is the one that a simulation of that trace carries out
 * (sim/policy/policy_plan.h), so that what is applied is what was predicted.
 */
#ifndef UM_APPLY_BUILD_H
#define UM_APPLY_BUILD_H

#include "apply_keys.h"

#include "sim/policy/policy.h"

struct um_apply_build {
	struct um_apply_header *table; /* malloc'ed, bytes long */
	size_t bytes;
	struct um_occurrences earlier;
	/* Lines for the user, what of the policy is not applied and why, each with its \n; malloc'ed. */
	char *notes;
};

/*
 * UM_EINVAL with the rule's line: it matches nothing; a kind of allocation that the trace does not prove to be
 * safe. UM_ENOMEM, or what reading the trace says.
 */
int um_apply_build(struct um_apply_build *, const struct um_policy *, struct um_db *earlier);
void um_apply_build_fini(struct um_apply_build *); /* also of zeros */

#endif
