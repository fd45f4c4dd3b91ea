/*
 * False sharing: drivers move units of more than a page, and some pages of a unit are the host's alone
 * while others are the device's. The unit goes back and forth although neither needs what the other
 * does. Lines that the host touches within a page are not known, so that only whole pages are told.
 */
#include "finding_draft.h"

static const struct um_finding_param params[] = {
	{"moves", UM_UNIT_COUNT, 3,
	 "times that pages of a unit must have moved: in, out, and in once more"},
	{0},
};

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->traffic.moved_to_device &&
	       allocation->traffic.moved_to_host;
}

struct unit {
	int64_t host_pages, device_pages, shared_pages, moves;
};

static struct unit look_at_unit(const struct um_fact_allocation *allocation, int64_t first,
				int64_t end)
{
	struct unit unit = {0};

	for (int64_t page = first; page < end && page < allocation->page_count; page++) {
		const struct um_fact_page *seen = um_facts_page(allocation, page);
		bool host = seen->host_read || seen->host_wrote;
		bool device = seen->device_read || seen->device_wrote;

		unit.host_pages += host && !device;
		unit.device_pages += device && !host;
		unit.shared_pages += device && host;
		unit.moves = seen->moved_in + seen->moved_out > unit.moves
				     ? seen->moved_in + seen->moved_out
				     : unit.moves;
	}
	return unit;
}

struct sharing {
	int64_t units, host_pages, device_pages, moved_pages;
	int64_t host_first, host_end;	  /* around the host's pages, of the first member */
	int64_t device_first, device_end; /* around the device's */
};

static void widen(int64_t *first, int64_t *end, int64_t page)
{
	if (*first == *end) {
		*first = page;
		*end = page + 1;
		return;
	}
	*first = page < *first ? page : *first;
	*end = page + 1 > *end ? page + 1 : *end;
}

static void find_parts(struct sharing *sharing, const struct um_fact_allocation *allocation)
{
	for (int64_t page = 0; page < allocation->page_count; page++) {
		const struct um_fact_page *seen = um_facts_page(allocation, page);

		if (seen->device_read || seen->device_wrote)
			widen(&sharing->device_first, &sharing->device_end, page);
		else if (seen->host_read || seen->host_wrote)
			widen(&sharing->host_first, &sharing->host_end, page);
	}
}

static struct sharing sharing_of(const struct um_finding_draft *draft,
				 const struct um_fact_group *group)
{
	int64_t unit_pages = (int64_t)(draft->facts->page_bytes / UM_FACT_PAGE_BYTES);
	int64_t least = um_finding_param(draft->rule, "moves");
	struct sharing sharing = {0};

	for (size_t i = 0; i < group->count && unit_pages > 1; i++)
		for (int64_t page = 0; page < group->members[i]->page_count; page += unit_pages) {
			struct unit unit = look_at_unit(group->members[i], page, page + unit_pages);

			if (!unit.host_pages || !unit.device_pages || unit.shared_pages ||
			    unit.moves < least)
				continue;
			sharing.units++;
			sharing.host_pages += unit.host_pages;
			sharing.device_pages += unit.device_pages;
			sharing.moved_pages += unit.moves * (unit.host_pages + unit.device_pages);
		}
	find_parts(&sharing, group->members[0]);
	return sharing;
}

static int add_evidence(struct um_finding_draft *draft, const struct sharing *sharing)
{
	int error = um_draft_moved(draft, "unit that the driver moves", UM_UNIT_BYTES,
				   (int64_t)draft->facts->page_bytes);

	if (!error)
		error = um_draft_accessed(draft, "units that both use", UM_UNIT_COUNT,
					  sharing->units);
	if (!error)
		error = um_draft_accessed(draft, "in them pages of the host alone", UM_UNIT_COUNT,
					  sharing->host_pages);
	if (!error)
		error = um_draft_accessed(draft, "in them pages of the device alone", UM_UNIT_COUNT,
					  sharing->device_pages);
	return error ? error : um_draft_uses(draft);
}

/* Where each has a part of its own, the host's can be told to stay. */
static int add_changes(struct um_finding_draft *draft, const struct sharing *sharing)
{
	const struct um_fact_allocation *first = draft->group->members[0];
	bool is_apart = sharing->host_end <= sharing->device_first ||
			sharing->device_end <= sharing->host_first;
	int64_t end = sharing->host_end * (int64_t)UM_FACT_PAGE_BYTES;
	int error = 0;

	if (draft->group->count == 1 && is_apart)
		error = um_change_part_stays_on_host(
			draft, sharing->host_first * (int64_t)UM_FACT_PAGE_BYTES,
			end < first->bytes ? end : first->bytes);
	return error ? error : um_change_stay_on_host(draft);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct sharing sharing = sharing_of(draft, group);
	int error;

	if (!sharing.units)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(
			draft, "host and device use different pages of %s that move together",
			draft->finding->subject);
	if (!error)
		error = um_draft_because(
			draft,
			"The driver moves larger units than a page, and the host's pages and "
			"the device's lie in the same ones: neither needs what the other does.");
	if (!error)
		error = add_evidence(draft, &sharing);
	return error ? error : add_changes(draft, &sharing);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_false_sharing = {
	.name = "false-sharing",
	.help = "pages of the host and pages of the device that move together",
	.params = params,
	.find = find,
};
