/* Replaying a trace with a change (sim/simulate.h): what every figure of a saving comes from. */
#ifndef UM_FINDING_REPLAY_H
#define UM_FINDING_REPLAY_H

#include "finding.h"
#include "sim/policy/policy.h"
#include "sim/probe/probe.h"

/* What all replays of one trace share: its machine, and the policy that is changed. */
struct um_finding_setup {
	struct um_db *trace;
	const struct um_findings_choice *choice;
	struct um_machine_spec *machine;
	struct um_policy *policy; /* of the baseline, settled */
	char *policy_text; /* of a simulation's run; NULL: choice->policy, or the program as it is */
	enum um_xnack traced, asked;
	char *traced_source; /* who decided XNACK when it was traced; NULL: not known */
	/* Of the last replay: what was asked for and is not simulated; "what: why" */
	char **ignored;
	size_t ignored_count;
};

/*
 * `policy_text`: malloc'ed and taken over; NULL: none. The choice must outlive the setup. UM_EINVAL:
 * a machine, driver or policy that does not fit.
 */
int um_finding_setup_init(struct um_finding_setup *, struct um_db *trace,
			  const struct um_findings_choice *, char *policy_text);
void um_finding_setup_fini(struct um_finding_setup *);
/*
 * Simulates the baseline with the rules of `change` over it; NULL: none. `observer` may be NULL, and
 * sees every row. UM_EINVAL: the change does not fit the trace.
 */
int um_finding_replay(struct um_finding_setup *, const char *change,
		      const struct um_observer *observer, struct um_finding_cost *cost);
/*
 * Whether the baseline has a policy of its own, beneath what is changed; and all of it with the rules of `change`
 * over it as one policy file: malloc'ed. UM_EINVAL: as above.
 */
bool um_finding_has_policy(const struct um_finding_setup *);
int um_finding_policy_text(const struct um_finding_setup *, const char *change, char **out);
/* "the policy", "as traced: HSA_XNACK=1", ... */
const char *um_finding_xnack_source(const struct um_finding_setup *);

#endif
