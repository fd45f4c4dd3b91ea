/*
 * The link is what the run waits for: what crosses it takes most of its time, as fast as the link is. Whose bytes these are says what to change; two that move at once help as little as faster kernels.
 */
#include "finding_weight.h"

#include "sim/machine/machine.h"

#include <stdlib.h>

static const struct um_finding_param params[] = {
	{"busy", UM_UNIT_PERCENT, 50,
	 "of the run's time that its bytes take on the link at least, in one direction (an assumption)"},
	{"share", UM_UNIT_PERCENT, 20,
	 "of these bytes that an allocation has, to be named (an assumption)"},
	{0},
};

struct direction {
	const char *words;
	bool to_device;
	double bytes_per_s;
	uint64_t bytes, remote_bytes; /* in the baseline; the latter of the former */
};

struct looking {
	struct um_finding_draft *draft;
	struct direction direction;
};

static uint64_t bytes_of(const struct um_fact_allocation *allocation, bool to_device)
{
	const struct um_fact_traffic *traffic = &allocation->traffic;

	return to_device ? traffic->moved_to_device + traffic->remote_to_device
			 : traffic->moved_to_host + traffic->remote_to_host;
}

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	const struct looking *looking = context;

	return allocation->kind == UM_ALLOCATION_MANAGED &&
	       bytes_of(allocation, looking->direction.to_device) > 0;
}

/*
 * 0.5: half of the run, at least. What is reached in place comes no faster than the requests for it, of
 * which a device keeps so many in flight (machine files: remote_requests_per_s).
 */
static double busy(const struct um_facts *facts, const struct direction *direction)
{
	const struct um_link_spec *link = &facts->machine->link;
	double seconds = (double)facts->baseline.end_ns * 1e-9;
	double remote_bytes_per_s = link->remote_requests_per_s * link->remote_request_bytes;
	double takes;

	if (seconds <= 0 || direction->bytes_per_s <= 0)
		return 0;
	if (remote_bytes_per_s <= 0 || remote_bytes_per_s > direction->bytes_per_s)
		remote_bytes_per_s = direction->bytes_per_s;
	takes = (double)(direction->bytes - direction->remote_bytes) / direction->bytes_per_s +
		(double)direction->remote_bytes / remote_bytes_per_s;
	return takes / seconds;
}

static int add_evidence(struct looking *looking, int64_t group_bytes)
{
	struct um_finding_draft *draft = looking->draft;
	const struct direction *direction = &looking->direction;
	int error = um_finding_evidence_text(draft->out, draft->finding, "link",
					     draft->facts->traffic, "%s, %s",
					     draft->facts->machine->link.name, direction->words);

	if (!error)
		error = um_draft_moved(draft, "bytes this way in all", UM_UNIT_BYTES,
				       (int64_t)direction->bytes);
	if (!error)
		error = um_draft_moved(draft, "of the run's time, as fast as the link is",
				       UM_UNIT_PERCENT,
				       (int64_t)(100 * busy(draft->facts, direction)));
	if (!error)
		error = um_draft_moved(draft, "of these bytes for this", UM_UNIT_BYTES,
				       group_bytes);
	return error ? error : um_draft_uses(draft);
}

static int add_changes(struct um_finding_draft *draft)
{
	int error = um_change_stay_on_device(draft);

	if (!error)
		error = um_change_stay_on_host(draft);
	if (!error)
		error = um_change_read_mostly(draft);
	return error ? error : um_change_prefetch(draft, true, 1);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct looking *looking = context;
	struct um_finding_draft *draft = looking->draft;
	uint64_t bytes = 0;
	int error;

	for (size_t i = 0; i < group->count; i++)
		bytes += bytes_of(group->members[i], looking->direction.to_device);
	if (100 * (double)bytes <
	    (double)um_finding_param(draft->rule, "share") * (double)looking->direction.bytes)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "%s %s the link %s", draft->finding->subject,
				       um_draft_verb(draft, "fills", "fill"),
				       looking->direction.words);
	if (!error)
		error = um_draft_because(draft,
					 "The run is as long as the link takes for its bytes: "
					 "only fewer bytes, or bytes that move while something "
					 "else runs, make it shorter.");
	if (!error)
		error = add_evidence(looking, (int64_t)bytes);
	return error ? error : add_changes(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	const struct um_machine_spec *machine = facts->machine;
	int error = 0;

	if (!machine || machine->apu)
		return 0;
	const struct direction directions[] = {
		{"to the device", true, machine->link.to_device_bytes_per_s,
		 facts->baseline.bytes_to_device, facts->baseline.remote_to_device},
		{"to the host", false, machine->link.to_host_bytes_per_s,
		 facts->baseline.bytes_to_host, facts->baseline.remote_to_host},
	};

	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions) && !error; i++) {
		struct looking looking = {&draft, directions[i]};

		if (100 * busy(facts, &directions[i]) >= (double)um_finding_param(rule, "busy"))
			error = um_facts_groups(facts, is_wanted, look_at, &looking);
	}
	return error;
}

const struct um_finding_rule um_finding_link_saturated = {
	.name = "link-saturated",
	.help = "a run that takes as long as the link does for its bytes, and whose these are",
	.params = params,
	.needs = UM_NEEDS_NO_ACCESSES,
	.find = find,
};
