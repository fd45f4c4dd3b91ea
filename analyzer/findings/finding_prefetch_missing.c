/*
 * Prefetch missing: kernels fault on pages, or reach them in place where faults do not move them, and
 * use much of them: a prefetch would bring them in large pieces before.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"used", UM_UNIT_PERCENT, 50,
	 "of the allocation's pages, at least so many are touched by kernels: a prefetch brings all (an "
	 "assumption)"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	const struct um_fact_traffic *traffic = &allocation->traffic;

	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->device_uses > 0 &&
	       (traffic->device_faults || traffic->remote_to_device || traffic->remote_to_host);
}

static int64_t device_pages(const struct um_fact_group *group, int64_t *all)
{
	int64_t pages = 0;

	*all = 0;
	for (size_t i = 0; i < group->count; i++) {
		*all += group->members[i]->page_count;
		for (int64_t page = 0; page < group->members[i]->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(group->members[i], page);

			pages += seen->device_read || seen->device_wrote;
		}
	}
	return pages;
}

static int add_evidence(struct um_finding_draft *draft)
{
	uint64_t faults = 0, moved = 0, remote = 0;
	int error = 0;

	for (size_t i = 0; i < draft->group->count; i++) {
		const struct um_fact_traffic *traffic = &draft->group->members[i]->traffic;

		faults += traffic->device_faults;
		moved += traffic->moved_in[UM_CAUSE_DEVICE_FAULT] +
			 traffic->moved_in[UM_CAUSE_DRIVER_PREFETCH];
		remote += traffic->remote_to_device + traffic->remote_to_host;
	}
	if (faults)
		error = um_draft_moved(draft, "faults of the device", UM_UNIT_COUNT,
				       (int64_t)faults);
	if (!error && moved)
		error = um_draft_moved(draft, "moved for them", UM_UNIT_BYTES, (int64_t)moved);
	if (!error && remote)
		error = um_draft_moved(draft, "reached in place", UM_UNIT_BYTES, (int64_t)remote);
	return error ? error : um_draft_uses(draft);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int64_t all, pages = device_pages(group, &all);
	int error;

	if (100 * pages < um_finding_param(draft->rule, "used") * all)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	/* Faults stop kernels whatever they move. */
	draft->finding->concerned_ns = (int64_t)draft->facts->baseline.end_ns;
	error = um_draft_title(draft, "%s %s to the device fault by fault", draft->finding->subject,
			       um_draft_verb(draft, "comes", "come"));
	if (!error)
		error = um_draft_because(draft, "Kernels wait for each of its pages; a prefetch "
						"brings them in large pieces before.");
	if (!error)
		error = add_evidence(draft);
	if (!error)
		error = um_change_prefetch(draft, false, 0);
	/* A memset brought it: nothing that a prefetch before a launch would be of use for. */
	if (!error && !draft->finding->change_count)
		um_finding_withdraw(draft->out);
	return error;
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_prefetch_missing = {
	.name = "prefetch-missing",
	.help = "memory that kernels bring fault by fault, or reach in place, and use most of",
	.params = params,
	.find = find,
};
