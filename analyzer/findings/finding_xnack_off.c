/*
 * XNACK off where the machine has the switch: managed memory does not migrate for faults, and kernels use
 * it over the link, in host memory, as often as their caches lose it (amdkfd maps it there: R1 of
 * sim/driver/driver_amdgpu_svm.c).
 */
#include "finding_draft.h"

#include "sim/machine/machine.h"
#include "trace/base/error.h"

#include <stdlib.h>

static bool is_wanted(const struct um_fact_allocation *allocation)
{
	return allocation->kind == UM_ALLOCATION_MANAGED &&
	       allocation->traffic.remote_to_device + allocation->traffic.remote_to_host > 0;
}

static const struct um_fact_allocation *largest(const struct um_fact_group *group)
{
	const struct um_fact_allocation *most = group->members[0];

	for (size_t i = 1; i < group->count; i++)
		if (group->members[i]->traffic.remote_to_device +
			    group->members[i]->traffic.remote_to_host >
		    most->traffic.remote_to_device + most->traffic.remote_to_host)
			most = group->members[i];
	return most;
}

static int describe(struct um_finding_draft *draft, const struct um_fact_group *group)
{
	const struct um_finding_place environment = {
		.site = UM_NULL, .line = UM_NULL, .text = "the environment"};
	uint64_t remote = 0, requests = 0;
	int error;

	for (size_t i = 0; i < group->count; i++) {
		remote += group->members[i]->traffic.remote_to_device +
			  group->members[i]->traffic.remote_to_host;
		requests += group->members[i]->traffic.remote_requests;
	}
	draft->finding->concerned_bytes = (int64_t)remote;
	draft->finding->at = largest(group)->at;
	error = um_draft_title(draft, "XNACK is off: %zu managed allocation%s used over the link",
			       group->count, group->count == 1 ? " is" : "s are");
	if (!error)
		error = um_draft_because(draft,
					 "Without XNACK managed memory does not migrate when "
					 "it is touched: it stays with the host, as pinned "
					 "memory does.");
	if (!error)
		error = um_draft_moved(draft, "over the link in place", UM_UNIT_BYTES,
				       (int64_t)remote);
	if (!error)
		error = um_draft_accessed(draft, "requests for it", UM_UNIT_COUNT,
					  (int64_t)requests);
	if (!error)
		error = um_draft_uses(draft);
	if (!error)
		error = um_finding_change(draft->out, draft->finding, &environment,
					  "HSA_XNACK=1, of a program with code for it "
					  "(--offload-arch=gfx90a:xnack+)",
					  "driver: {xnack: on}\n", NULL);
	return error;
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	const struct um_fact_allocation **members;
	struct um_fact_group group = {0};
	int error = 0;

	if (!facts->machine || facts->xnack_on || facts->machine->xnack != UM_XNACK_PROCESS)
		return 0;
	members = calloc(facts->allocation_count + 1, sizeof(*members));
	if (!members)
		return um_fail(UM_ENOMEM, "out of memory");
	group.members = members;
	for (size_t i = 0; i < facts->allocation_count; i++)
		if (is_wanted(&facts->allocations[i])) {
			members[group.count++] = &facts->allocations[i];
			group.bytes += facts->allocations[i].bytes;
		}
	if (group.count) {
		draft.group = &group;
		error = um_finding_begin(&draft);
		if (!error)
			error = describe(&draft, &group);
	}
	free(members);
	return error;
}

const struct um_finding_rule um_finding_xnack_off = {
	.name = "xnack-off",
	.help = "managed memory that kernels use over the link because XNACK is off",
	.needs = UM_NEEDS_NO_ACCESSES,
	.find = find,
};
