#include "finding_weight.h"

#include <stdio.h>

int64_t um_fault_share_ns(const struct um_facts *facts, int64_t faults)
{
	uint64_t all = facts->baseline.device_faults + facts->baseline.host_faults;

	if (!all || faults <= 0)
		return 0;
	return (int64_t)((double)facts->baseline.end_ns * (double)faults / (double)all);
}

int64_t um_launch_time_ns(const struct um_facts *facts, const struct um_fact_group *group)
{
	int64_t sum = 0;

	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_op *op =
				&facts->ops[facts->uses[group->members[i]->uses[j]].op];

			if (op->kind == UM_OP_LAUNCH && op->run_start_ns != UM_NULL &&
			    op->run_end_ns > op->run_start_ns)
				sum += op->run_end_ns - op->run_start_ns;
		}
	return sum;
}

const char *um_group_call(struct um_finding_draft *draft, const char *format)
{
	const struct um_fact_group *group = draft->group;
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "%lld", (long long)group->members[0]->bytes);
	for (size_t i = 1; i < group->count; i++)
		if (group->members[i]->bytes != group->members[0]->bytes)
			snprintf(bytes, sizeof(bytes), "bytes");
	return um_finding_text(draft->out, format, um_group_pointer(group), bytes);
}
