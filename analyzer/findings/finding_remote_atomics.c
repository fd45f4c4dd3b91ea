/*
 * Atomics over the link: on memory that does not migrate each is a request of its own to the other end,
 * where lanes on one address take turns. Nothing faults and few bytes move, so that neither shows in
 * counts of either; on an MI300X a program took a hundred times as long (ORNL/HeCBench, pull request 326).
 */
#include "finding_weight.h"

#include "sim/machine/machine.h"

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind != UM_ALLOCATION_DEVICE &&
	       allocation->traffic.remote_to_device + allocation->traffic.remote_to_host > 0;
}

struct atomics {
	int64_t requests, launches, over_link;
};

static struct atomics count(const struct um_facts *facts, const struct um_fact_group *group)
{
	struct atomics atomics = {0};

	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_use *use = &facts->uses[group->members[i]->uses[j]];

			if (facts->ops[use->op].kind != UM_OP_LAUNCH || use->atomics == UM_NULL ||
			    !use->atomics || !use->remote)
				continue;
			atomics.requests += use->atomics;
			atomics.over_link += (int64_t)use->remote;
			atomics.launches++;
		}
	return atomics;
}

/* Kernels with atomics on it, and no others. */
static int name_kernels(struct um_finding_draft *draft)
{
	const struct um_facts *facts = draft->facts;
	int error = 0;

	for (size_t i = 0; i < draft->group->count; i++)
		for (size_t j = 0; j < draft->group->members[i]->use_count && !error; j++) {
			const struct um_fact_use *use =
				&facts->uses[draft->group->members[i]->uses[j]];

			if (facts->ops[use->op].kind == UM_OP_LAUNCH && use->atomics != UM_NULL &&
			    use->atomics && use->remote)
				error = um_finding_kernel(draft->out, draft->finding,
							  facts->ops[use->op].kernel);
		}
	return error;
}

static bool host_touches(const struct um_fact_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i]->host_uses)
			return true;
	return false;
}

static int add_changes(struct um_finding_draft *draft)
{
	int error = 0;

	if (!host_touches(draft->group))
		error = um_change_allocate_as(draft, "device",
					      um_group_call(draft, "hipMalloc(&%s, %s);"));
	if (!error && draft->group->members[0]->kind == UM_ALLOCATION_MANAGED)
		error = um_change_stay_on_device(draft);
	if (!error && draft->group->members[0]->kind == UM_ALLOCATION_MANAGED)
		error = um_change_prefetch(draft, false, 0);
	if (error)
		return error;
	return um_finding_change(
		draft->out, draft->finding, &draft->group->members[0]->at,
		"sum in LDS first, one atomic a group; or, where the host needs no atomics of its own "
		"meanwhile,\nhipMemAdvise(p, bytes, hipMemAdviseSetCoarseGrain, device);",
		NULL, "how caches treat a page is not modelled, nor another kernel");
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct atomics atomics = count(draft->facts, group);
	int error;

	if (!atomics.requests)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	/* Whatever the bytes are: the requests are what takes time. */
	draft->finding->concerned_ns = um_launch_time_ns(draft->facts, group);
	draft->finding->concerned_bytes = atomics.over_link;
	error = um_draft_title(draft, "%s %s counted in by atomics over the link",
			       draft->finding->subject, um_draft_verb(draft, "is", "are"));
	if (!error)
		error = um_draft_because(draft,
					 "Each atomic is a request of its own over the link, and "
					 "those on one address take turns there.");
	if (!error)
		error = um_draft_accessed(draft, "requests that are atomic", UM_UNIT_COUNT,
					  atomics.requests);
	if (!error)
		error = um_draft_accessed(draft, "launches with such", UM_UNIT_COUNT,
					  atomics.launches);
	if (!error)
		error = um_draft_moved(draft, "over the link in place", UM_UNIT_BYTES,
				       atomics.over_link);
	if (!error)
		error = name_kernels(draft);
	return error ? error : add_changes(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	if (facts->machine && facts->machine->apu)
		return 0;
	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_remote_atomics = {
	.name = "remote-atomics",
	.help = "atomics on memory that does not migrate, each a request over the link",
	.find = find,
};
