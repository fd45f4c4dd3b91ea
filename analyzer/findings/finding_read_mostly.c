/*
 * Read-mostly candidates: no kernel writes them, and the host does not after the first kernel has read
 * them. Host and device could hold a copy each; where the driver makes none, the replay says so.
 */
#include "finding_draft.h"

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->device_uses > 0 &&
	       allocation->device_writes_pages == 0 && allocation->traffic.moved_to_device > 0;
}

struct reading {
	int64_t launches, host_reads; /* after the first launch that reads it */
	bool is_written;	      /* after that */
};

static void see_use(struct reading *reading, const struct um_fact_op *op,
		    const struct um_fact_use *use)
{
	if (um_facts_toucher(op) == UM_TOUCHED_BY_DEVICE) {
		reading->launches++;
		reading->is_written |= use->pages_written > 0;
	} else if (reading->launches) {
		reading->host_reads += use->pages_read > 0;
		reading->is_written |= use->pages_written > 0;
	}
}

static struct reading reading_of(const struct um_facts *facts, const struct um_fact_group *group)
{
	struct reading all = {0};

	for (size_t i = 0; i < group->count; i++) {
		struct reading one = {0};

		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_use *use = &facts->uses[group->members[i]->uses[j]];

			see_use(&one, &facts->ops[use->op], use);
		}
		all.launches += one.launches;
		all.host_reads += one.host_reads;
		all.is_written |= one.is_written;
	}
	return all;
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct reading reading = reading_of(draft->facts, group);
	int error;

	if (reading.is_written || !reading.launches)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s %s only read once kernels have it",
				       draft->finding->subject, um_draft_verb(draft, "is", "are"));
	if (!error)
		error = um_draft_because(draft, "Nothing writes it any more, so that host and "
						"device could hold a copy each.");
	if (!error)
		error = um_draft_accessed(draft, "launches that read it", UM_UNIT_COUNT,
					  reading.launches);
	if (!error)
		error = um_draft_accessed(draft, "times that the host reads it in between",
					  UM_UNIT_COUNT, reading.host_reads);
	if (!error)
		error = um_draft_moved(draft, "moved, both ways", UM_UNIT_BYTES,
				       um_group_bytes(group));
	if (!error)
		error = um_draft_uses(draft);
	return error ? error : um_change_read_mostly(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_read_mostly = {
	.name = "read-mostly",
	.help = "memory that nothing writes once kernels read it, and that moves all the same",
	.find = find,
};
