/*
 * Candidates for the device as their preferred location: kernels reach the same lines over the link
 * launch after launch, which would cross it once if the pages moved.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"times", UM_UNIT_COUNT, 2,
	 "bytes over the link in place for each byte of the pages that kernels touch: above, moving "
	 "them once is less (an assumption)"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED &&
	       allocation->traffic.remote_to_device + allocation->traffic.remote_to_host > 0;
}

static int64_t touched_bytes(const struct um_fact_group *group)
{
	int64_t pages = 0;

	for (size_t i = 0; i < group->count; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(group->members[i], page);

			pages += seen->device_read || seen->device_wrote;
		}
	return pages * UM_FACT_PAGE_BYTES;
}

static int64_t remote_bytes(const struct um_fact_group *group, int64_t *requests)
{
	uint64_t bytes = 0;

	*requests = 0;
	for (size_t i = 0; i < group->count; i++) {
		bytes += group->members[i]->traffic.remote_to_device +
			 group->members[i]->traffic.remote_to_host;
		*requests += (int64_t)group->members[i]->traffic.remote_requests;
	}
	return (int64_t)bytes;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int64_t requests, remote = remote_bytes(group, &requests), touched = touched_bytes(group);
	int64_t times = um_finding_param(draft->rule, "times");
	int error;

	if (remote < times * touched && requests * UM_FACT_LINE_BYTES < times * touched)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s %s used over the link again and again",
				       draft->finding->subject, um_draft_verb(draft, "is", "are"));
	if (!error)
		error = um_draft_because(draft, "Kernels reach it in place, and the same lines "
						"cross the link each time.");
	if (!error)
		error = um_draft_accessed(draft, "pages that kernels touch", UM_UNIT_BYTES,
					  touched);
	if (!error)
		error = um_draft_moved(draft, "over the link in place", UM_UNIT_BYTES, remote);
	if (!error)
		error = um_draft_uses(draft);
	if (!error)
		error = um_change_stay_on_device(draft);
	return error ? error : um_change_prefetch(draft, false, 0);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_device_preferred = {
	.name = "device-preferred",
	.help = "memory that kernels reach over the link again and again",
	.params = params,
	.find = find,
};
