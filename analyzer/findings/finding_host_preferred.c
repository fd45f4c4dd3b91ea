/*
 * Candidates for the host as their preferred location: what kernels touch of them, added up over all
 * launches in which they moved, is less than what moved.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"in-place", UM_UNIT_PERCENT, 50,
	 "of the bytes that moved, at most so many would cross the link in place (an assumption)"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->traffic.moved_to_device > 0;
}

/* Lines that devices touch, each once a launch; UM_NULL: not known. */
static int64_t lines_of(const struct um_facts *facts, const struct um_fact_group *group)
{
	int64_t lines = 0;

	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_use *use = &facts->uses[group->members[i]->uses[j]];

			if (um_facts_toucher(&facts->ops[use->op]) != UM_TOUCHED_BY_DEVICE)
				continue;
			if (use->lines_read == UM_NULL || use->lines_written == UM_NULL)
				return UM_NULL;
			lines += use->lines_read + use->lines_written;
		}
	return lines;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int64_t lines = lines_of(draft->facts, group), moved = um_group_bytes(group);
	int error;

	if (lines == UM_NULL ||
	    100 * lines * UM_FACT_LINE_BYTES > um_finding_param(draft->rule, "in-place") * moved)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s could stay with the host",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "Kernels touch so little of it that it is cheaper "
						"in place than moved.");
	if (!error)
		error = um_draft_moved(draft, "moved, both ways", UM_UNIT_BYTES, moved);
	if (!error)
		error = um_draft_accessed(draft, "lines touched by kernels, once a launch",
					  UM_UNIT_BYTES, lines * UM_FACT_LINE_BYTES);
	if (!error)
		error = um_draft_uses(draft);
	return error ? error : um_change_stay_on_host(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_host_preferred = {
	.name = "host-preferred",
	.help = "memory of which kernels touch so little that it is cheaper in place than moved",
	.params = params,
	.find = find,
};
