/*
 * Managed memory where pinned memory would do: kernels only read it, and each page in one launch alone,
 * so that it crosses the link once whichever way it gets there, and in place without a fault or a copy
 * in device memory. What kernels write as well is left to others: the host reads results by faults, too.
 */
#include "finding_weight.h"

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->host_uses > 0 &&
	       allocation->device_reads_pages > 0 && !allocation->device_writes_pages &&
	       allocation->traffic.moved_to_device + allocation->traffic.moved_to_host > 0;
}

/* Pages that launches touch, each time anew, and each once. */
struct use_count {
	int64_t times, pages;
};

static struct use_count count(const struct um_facts *facts, const struct um_fact_group *group)
{
	struct use_count of = {0};

	for (size_t i = 0; i < group->count; i++) {
		const struct um_fact_allocation *member = group->members[i];

		for (size_t j = 0; j < member->use_count; j++) {
			const struct um_fact_use *use = &facts->uses[member->uses[j]];

			if (um_facts_toucher(&facts->ops[use->op]) == UM_TOUCHED_BY_DEVICE)
				of.times += use->pages;
		}
		for (int64_t page = 0; page < member->page_count; page++) {
			const struct um_fact_page *seen = um_facts_page(member, page);

			of.pages += seen->device_read || seen->device_wrote;
		}
	}
	return of;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct use_count of = count(draft->facts, group);
	int error;

	if (of.times > of.pages)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s %s read by one launch a page, and %s for it",
				       draft->finding->subject, um_draft_verb(draft, "is", "are"),
				       um_draft_verb(draft, "moves", "move"));
	if (!error)
		error = um_draft_because(draft, "What is read once crosses the link once in either "
						"case: pinned memory is reached in place, without "
						"faults, and takes no device memory.");
	if (!error)
		error = um_draft_accessed(draft, "pages that kernels read, once each",
					  UM_UNIT_BYTES, of.pages * UM_FACT_PAGE_BYTES);
	if (!error)
		error = um_draft_moved(draft, "over the link, both ways", UM_UNIT_BYTES,
				       um_group_bytes(group));
	if (!error)
		error = um_draft_uses(draft);
	return error ? error
		     : um_change_allocate_as(
			       draft, "pinned",
			       um_group_call(draft,
					     "hipHostMalloc(&%s, %s, hipHostMallocDefault);"));
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_pinned_memory = {
	.name = "pinned-memory-would-do",
	.help = "managed memory of which one launch alone reads each page",
	.find = find,
};
