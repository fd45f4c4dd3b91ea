/*
 * Over-fetch: pages move whole, and kernels touch a few lines of them. The lines alone are less, in
 * place over the link.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"used", UM_UNIT_PERCENT, 25,
	 "of the bytes of pages that moved, at most so many are in lines that a device touched: a link "
	 "moves a line alone at a fraction of its bandwidth for large transfers (an assumption)"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->traffic.moved_to_device > 0;
}

struct use {
	int64_t pages, untouched_pages, lines;
	bool is_unknown;
};

static struct use use_of(const struct um_fact_group *group)
{
	struct use use = {0};

	for (size_t i = 0; i < group->count; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(group->members[i], page);
			int lines = __builtin_popcountll(seen->lines_read | seen->lines_written);

			if (!seen->moved_in)
				continue;
			use.pages++;
			use.lines += lines;
			use.untouched_pages += !seen->device_read && !seen->device_wrote;
			use.is_unknown |= seen->device_lines_unknown;
		}
	return use;
}

static int add_evidence(struct um_finding_draft *draft, const struct use *use)
{
	int64_t moved = use->pages * UM_FACT_PAGE_BYTES, used = use->lines * UM_FACT_LINE_BYTES;
	int error = um_draft_moved(draft, "pages that moved to the device, each once",
				   UM_UNIT_BYTES, moved);

	if (!error)
		error = um_draft_accessed(draft, "of them in lines that kernels touched",
					  UM_UNIT_BYTES, used);
	if (!error)
		error = um_draft_accessed(draft, "that is", UM_UNIT_PERCENT, 100 * used / moved);
	if (!error && use->untouched_pages)
		error = um_draft_accessed(draft, "of them pages that no kernel touched",
					  UM_UNIT_BYTES, use->untouched_pages * UM_FACT_PAGE_BYTES);
	return error ? error : um_draft_uses(draft);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct use use = use_of(group);
	int error;

	if (!use.pages || use.is_unknown ||
	    100 * use.lines * UM_FACT_LINE_BYTES >
		    um_finding_param(draft->rule, "used") * use.pages * UM_FACT_PAGE_BYTES)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "of %s more moves than is used",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "Pages move whole, and what comes along with them, "
						"but kernels touch few of their lines.");
	if (!error)
		error = add_evidence(draft, &use);
	return error ? error : um_change_stay_on_host(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_over_fetch = {
	.name = "over-fetch",
	.help = "pages that move whole although kernels touch few of their lines",
	.params = params,
	.find = find,
};
