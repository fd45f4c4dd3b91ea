/*
 * Host and device need the same pages in turn, and each time they move: what crosses the link is the
 * pages, whole, once for each turn. What helps depends on how much of a page either touches, and on the
 * link: they stay with the host, or on the device, and the other reaches them in place; or they are
 * moved in large pieces before they are needed.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"turns", UM_UNIT_COUNT, 3,
	 "changes between host and device that a page must have seen: in, out, and in once more; less "
	 "is what any program needs that is given data and has a result"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->traffic.moved_to_device &&
	       allocation->traffic.moved_to_host;
}

struct swing {
	int64_t pages, moves; /* that went back and forth; how often they moved, together */
	int64_t most_turns;
};

static struct swing count_swing(const struct um_fact_group *group, int64_t least_turns)
{
	struct swing swing = {0};

	for (size_t i = 0; i < group->count; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(group->members[i], page);

			if (seen->turns < least_turns || !seen->moved_out ||
			    seen->moved_in + seen->moved_out < 3)
				continue;
			swing.pages++;
			swing.moves += seen->moved_in + seen->moved_out;
			swing.most_turns =
				seen->turns > swing.most_turns ? seen->turns : swing.most_turns;
		}
	return swing;
}

static int add_evidence(struct um_finding_draft *draft, const struct swing *swing)
{
	int error = um_draft_moved(draft, "pages that went back and forth", UM_UNIT_COUNT,
				   swing->pages);

	if (!error)
		error = um_draft_moved(draft, "moved for it, both ways", UM_UNIT_BYTES,
				       swing->moves * UM_FACT_PAGE_BYTES);
	if (!error)
		error = um_draft_accessed(draft,
					  "turns between host and device, of a page, at most",
					  UM_UNIT_COUNT, swing->most_turns);
	return error ? error : um_draft_uses(draft);
}

static int add_changes(struct um_finding_draft *draft)
{
	int error = um_change_stay_on_host(draft);

	if (!error)
		error = um_change_stay_on_device(draft);
	return error ? error : um_change_prefetch(draft, false, 0);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct swing swing = count_swing(group, um_finding_param(draft->rule, "turns"));
	int error;

	if (!swing.pages)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->concerned_bytes = swing.moves * UM_FACT_PAGE_BYTES;
	error = um_draft_title(draft, "%s %s back and forth between host and device",
			       draft->finding->subject, um_draft_verb(draft, "goes", "go"));
	if (!error)
		error = um_draft_because(draft, "Host and device touch the same pages in turn, and "
						"each turn moves them whole.");
	if (!error)
		error = add_evidence(draft, &swing);
	return error ? error : add_changes(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_ping_pong = {
	.name = "ping-pong",
	.help = "pages that host and device need in turn, and that move each time",
	.params = params,
	.find = find,
};
