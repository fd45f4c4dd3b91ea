/*
 * Host and device need the same pages in turn, and each time they move: the traffic is twice what is
 * touched, once for each turn. What can be done depends on how much of a page either touches: leave
 * the pages with the host and let the device reach them over the link, or keep them on the device and
 * have the host map them there where the link is coherent; or, where both need all of it, move it in
 * large pieces ahead of time.
 */
#include "finding_rule.h"

#include <stddef.h>

static const struct um_finding_param params[] = {
	{"turns", UM_UNIT_COUNT, 2,
	 "changes between host and device that a page must have seen: fewer is in and out once, "
	 "which any program needs"},
	{0},
};

struct looking {
	const struct um_finding_rule *rule;
	const struct um_facts *facts;
	struct um_findings *out;
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->traffic.moved_to_device &&
	       allocation->traffic.moved_to_host;
}

struct swing {
	int64_t pages, turns, moves; /* pages that went back and forth; turns of these */
};

/* Pages that came in at least twice and left in between. */
static struct swing count_swing(const struct um_fact_group *group, int64_t least_turns)
{
	struct swing swing = {0};

	for (size_t i = 0; i < group->count; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(group->members[i], page);

			if (seen->turns < least_turns || seen->moved_in < 2 || !seen->moved_out)
				continue;
			swing.pages++;
			swing.turns += seen->turns;
			swing.moves += seen->moved_in + seen->moved_out;
		}
	return swing;
}

static int add_kernels(struct um_findings *out, struct um_finding *finding,
		       const struct um_facts *facts, const struct um_fact_group *group)
{
	int error = 0;

	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count && !error; j++) {
			const struct um_fact_use *use = &facts->uses[group->members[i]->uses[j]];

			error = um_finding_kernel(out, finding, facts->ops[use->op].kernel);
		}
	return error;
}

static int add_changes(struct looking *looking, struct um_finding *finding,
		       const struct um_fact_group *group)
{
	struct um_findings *out = looking->out;
	const struct um_finding_place *at = &group->members[0]->at;
	const char *stay = um_finding_rules_text(out, looking->facts, group, "advise",
						 "    preferred_location: host\n"
						 "    accessed_by: [gpu0]\n");
	int error;

	if (!stay)
		return -1;
	error = um_finding_change(
		out, finding, at,
		"hipMemAdvise(p, bytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId);\n"
		"hipMemAdvise(p, bytes, hipMemAdviseSetAccessedBy, device);",
		stay, NULL);
	return error;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct looking *looking = context;
	struct um_findings *out = looking->out;
	struct swing swing = count_swing(group, um_finding_param(looking->rule, "turns"));
	struct um_finding *finding;
	int64_t bytes = 0;
	int error;

	if (!swing.pages)
		return 0;
	for (size_t i = 0; i < group->count; i++)
		bytes += (int64_t)(group->members[i]->traffic.moved_to_device +
				   group->members[i]->traffic.moved_to_host);
	finding = um_finding_add(out, looking->rule);
	if (!finding || um_finding_about(out, finding, group))
		return -1;
	finding->concerned_bytes = bytes;
	finding->title = um_finding_text(out, "%s goes back and forth between host and device",
					 finding->subject);
	error = um_finding_evidence(out, finding, "pages that went back and forth", UM_UNIT_COUNT,
				    swing.pages, looking->facts->traffic);
	if (!error)
		error = um_finding_evidence(out, finding, "moved for it, both ways", UM_UNIT_BYTES,
					    swing.moves * UM_FACT_PAGE_BYTES,
					    looking->facts->traffic);
	if (!error)
		error = add_kernels(out, finding, looking->facts, group);
	return error ? error : add_changes(looking, finding, group);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct looking looking = {rule, facts, out};

	return um_facts_groups(facts, is_wanted, look_at, &looking);
}

const struct um_finding_rule um_finding_ping_pong = {
	.name = "ping-pong",
	.help = "pages that host and device need in turn, and that move each time",
	.params = params,
	.find = find,
};
