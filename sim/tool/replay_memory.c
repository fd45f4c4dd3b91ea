/* How much memory a simulation has, and who decided that. */
#include "replay.h"

#include "trace/db/trace_db.h"

int um_replay_settle_memory(struct um_replay *replay, struct um_db *trace,
			    const struct um_memory_limit *option)
{
	struct um_policy *policy = replay->policy;

	if (option)
		um_policy_set_memory(policy, option);
	int error = um_policy_settle_memory(policy, replay->machine, trace);

	replay->memory_bytes =
		policy->memory_bytes ? policy->memory_bytes : replay->machine->memory_bytes;
	return error;
}

const char *um_replay_memory_source(const struct um_replay *replay)
{
	switch (replay->policy->memory_source) {
	case UM_MEMORY_BY_OPTION:
		return "--memory";
	case UM_MEMORY_BY_POLICY:
		return "the policy";
	case UM_MEMORY_BY_TRACE:
		return "as traced";
	case UM_MEMORY_BY_MACHINE:
		break;
	}
	return NULL;
}
