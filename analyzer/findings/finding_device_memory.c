/*
 * Managed memory where device memory would do: the host never touches it between its allocation and its
 * end, so that nothing has to migrate, fault or be reached over a link. Copies of it do as well from
 * device memory.
 */
#include "finding_weight.h"

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	const struct um_fact_traffic *traffic = &allocation->traffic;

	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && !allocation->host_uses &&
	       allocation->device_uses > 0 &&
	       traffic->moved_to_device + traffic->moved_to_host + traffic->remote_to_device +
			       traffic->remote_to_host + traffic->device_faults >
		       0;
}

static int64_t faults_of(const struct um_fact_group *group)
{
	uint64_t faults = 0;

	for (size_t i = 0; i < group->count; i++)
		faults += group->members[i]->traffic.device_faults;
	return (int64_t)faults;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int error;

	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->concerned_ns = um_fault_share_ns(draft->facts, faults_of(group));
	error = um_draft_title(draft, "%s %s managed memory that the host never touches",
			       draft->finding->subject, um_draft_verb(draft, "is", "are"));
	if (!error)
		error = um_draft_because(draft,
					 "Device memory is where kernels need it from the "
					 "start: it neither faults nor moves nor stays behind "
					 "the link.");
	if (!error)
		error = um_draft_accessed(draft, "allocated", UM_UNIT_BYTES, group->bytes);
	if (!error)
		error = um_draft_moved(draft, "over the link, both ways", UM_UNIT_BYTES,
				       um_group_bytes(group));
	if (!error)
		error = um_draft_moved(draft, "page faults of devices", UM_UNIT_COUNT,
				       faults_of(group));
	if (!error)
		error = um_draft_uses(draft);
	return error ? error
		     : um_change_allocate_as(draft, "device",
					     um_group_call(draft, "hipMalloc(&%s, %s);"));
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_device_memory = {
	.name = "device-memory-would-do",
	.help = "managed memory that the host never touches",
	.find = find,
};
