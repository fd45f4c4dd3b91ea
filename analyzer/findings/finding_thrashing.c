/*
 * Thrashing under pressure: the program uses more than the device holds, so that pages are evicted and
 * come back. As much as fits can stay, if the rest does not come: the host is its preferred location,
 * and kernels reach it in place.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"returns", UM_UNIT_COUNT, 2,
	 "times that evicted pages must have come, at least: came back"},
	{0},
};

/* What is kept of the memory where a part stays: the largest unit that any driver model evicts. */
#define UNIT_BYTES (2ll << 20)

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED &&
	       allocation->traffic.moved_out[UM_CAUSE_EVICTION] > 0;
}

static int64_t returned_pages(const struct um_fact_group *group, int64_t returns)
{
	int64_t pages = 0;

	for (size_t i = 0; i < group->count; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page++)
			pages += um_facts_page(group->members[i], page)->moved_in >= returns;
	return pages;
}

static int64_t evicted_bytes(const struct um_fact_group *group)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < group->count; i++)
		bytes += group->members[i]->traffic.moved_out[UM_CAUSE_EVICTION];
	return (int64_t)bytes;
}

/* Of one allocation, what does not fit beside all others. */
static int keep_what_fits(struct um_finding_draft *draft)
{
	const struct um_facts *facts = draft->facts;
	int64_t bytes = draft->group->members[0]->bytes;
	int64_t over = (int64_t)(facts->footprint_bytes - facts->memory_bytes);
	int64_t fits = (bytes - over) / UNIT_BYTES * UNIT_BYTES;

	if (draft->group->count != 1 || fits <= 0 || fits >= bytes)
		return 0;
	return um_change_part_stays_on_host(draft, fits, bytes);
}

static int add_evidence(struct um_finding_draft *draft, int64_t returned)
{
	const struct um_facts *facts = draft->facts;
	int error = um_draft_accessed(draft, "used at once, at most", UM_UNIT_BYTES,
				      (int64_t)facts->footprint_bytes);

	if (!error)
		error = um_draft_accessed(draft, "device memory", UM_UNIT_BYTES,
					  (int64_t)facts->memory_bytes);
	if (!error)
		error = um_draft_moved(draft, "evicted", UM_UNIT_BYTES,
				       evicted_bytes(draft->group));
	if (!error)
		error = um_draft_moved(draft, "pages that came back", UM_UNIT_COUNT, returned);
	return error ? error : um_draft_uses(draft);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int64_t returned = returned_pages(group, um_finding_param(draft->rule, "returns"));
	int error;

	if (!returned || draft->facts->footprint_bytes <= draft->facts->memory_bytes)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s %s evicted and %s back", draft->finding->subject,
				       um_draft_verb(draft, "is", "are"),
				       um_draft_verb(draft, "comes", "come"));
	if (!error)
		error = um_draft_because(draft, "The program uses more than the device holds: what "
						"one kernel brings drives out what the next one "
						"needs.");
	if (!error)
		error = add_evidence(draft, returned);
	if (!error)
		error = keep_what_fits(draft);
	return error ? error : um_change_stay_on_host(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_thrashing = {
	.name = "thrashing",
	.help = "pages that a full device evicts and brings back",
	.params = params,
	.needs = UM_NEEDS_NO_ACCESSES,
	.find = find,
};
