/*
 * Many small allocations of one line: a driver serves each by itself, with its own faults and transfers, where one
 * page of its own would hold many of them.
 */
#include "finding_weight.h"

static const struct um_finding_param params[] = {
	{"count", UM_UNIT_COUNT, 16, "allocations of one line, at least (an assumption)"},
	{"times", UM_UNIT_COUNT, 4,
	 "as many allocations for each page of the driver's that would hold them together (an "
	 "assumption)"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	const struct um_finding_draft *draft = context;

	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->bytes > 0 &&
	       allocation->device_uses > 0 &&
	       (uint64_t)allocation->bytes < draft->facts->page_bytes;
}

struct totals {
	int64_t bytes, pages, faults;
};

static struct totals add_up(const struct um_fact_group *group)
{
	struct totals totals = {0};

	for (size_t i = 0; i < group->count; i++) {
		const struct um_fact_allocation *member = group->members[i];

		totals.bytes += member->bytes;
		totals.pages += member->page_count;
		totals.faults +=
			(int64_t)(member->traffic.device_faults + member->traffic.host_faults);
	}
	return totals;
}

static int add_evidence(struct um_finding_draft *draft, const struct totals *totals, int64_t units)
{
	int error = um_draft_accessed(draft, "allocations", UM_UNIT_COUNT,
				      (int64_t)draft->group->count);

	if (!error)
		error = um_draft_accessed(draft, "asked for", UM_UNIT_BYTES, totals->bytes);
	if (!error)
		error = um_draft_accessed(draft, "in whole pages", UM_UNIT_BYTES,
					  totals->pages * UM_FACT_PAGE_BYTES);
	if (!error)
		error = um_draft_moved(draft, "page faults, of devices and the host", UM_UNIT_COUNT,
				       totals->faults);
	if (!error)
		error = um_draft_moved(draft, "over the link, both ways", UM_UNIT_BYTES,
				       um_group_bytes(draft->group));
	if (!error)
		error = um_finding_evidence(draft->out, draft->finding,
					    "pages of the driver's that would hold all",
					    UM_UNIT_COUNT, units, "inferred");
	return error ? error : um_draft_uses(draft);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct totals totals = add_up(group);
	int64_t page_bytes = (int64_t)draft->facts->page_bytes;
	int64_t units = (totals.bytes + page_bytes - 1) / page_bytes;
	int error;

	if ((int64_t)group->count < um_finding_param(draft->rule, "count") || !totals.faults ||
	    (int64_t)group->count < um_finding_param(draft->rule, "times") * units)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->concerned_ns = um_fault_share_ns(draft->facts, totals.faults);
	error = um_draft_title(draft, "%s, each served by itself", draft->finding->subject);
	if (!error)
		error = um_draft_because(draft,
					 "Each has pages and faults of its own. Parts of one "
					 "allocation share them, and come together.");
	if (!error)
		error = add_evidence(draft, &totals, units);
	if (error)
		return error;
	return um_finding_change(
		draft->out, draft->finding, &group->members[0]->at,
		um_finding_text(
			draft->out,
			"hipMallocManaged(&pool, %lld); // once; the parts: pool + offset, which "
			"um_name() may name",
			(long long)totals.bytes),
		NULL, "no policy puts allocations together");
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_small_allocations = {
	.name = "small-allocations",
	.help = "many small allocations of one line, which a driver serves one by one",
	.params = params,
	.find = find,
};
