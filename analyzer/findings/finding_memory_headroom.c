/*
 * Memory headroom: what the program needs at once against what the device has, and from which memory on it
 * gets slower, which is not where the two are equal: data that no longer fit are evicted, and what order
 * they are used in says how much that costs. The same trace is replayed at several memory sizes.
 */
#include "finding_weight.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdio.h>

static const struct um_finding_param params[] = {
	{"full", UM_UNIT_PERCENT, 80,
	 "of the memory that the footprint takes: above, the sizes are replayed (an assumption)"},
	{"slower", UM_UNIT_PERCENT, 10,
	 "longer than with room for all: where the curve breaks (an assumption)"},
	{0},
};

/* Of the footprint, in percent; the first is room for all. */
static const unsigned sizes[] = {100, 95, 90, 80, 70, 60, 50};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

struct curve {
	struct um_finding_cost costs[SIZES];
	size_t count; /* that were replayed: the model may refuse a memory that is too small */
};

static int replay_sizes(const struct um_facts *facts, struct curve *curve)
{
	curve->count = 0;
	for (size_t i = 0; i < SIZES; i++) {
		char policy[64];
		int error;

		snprintf(policy, sizeof(policy), "memory: %.2fx\n", sizes[i] / 100.0);
		error = facts->replay(facts->replay_context, policy, &curve->costs[i]);
		if (error == UM_EINVAL || error == UM_ENOTSUP || error == UM_ELIMIT)
			return 0;
		if (error)
			return error;
		curve->count++;
	}
	return 0;
}

/* The first size at which it is slower; `count`: none. */
static size_t break_of(const struct curve *curve, int64_t percent)
{
	for (size_t i = 1; i < curve->count; i++)
		if (100 * (double)curve->costs[i].end_ns >
		    (100 + (double)percent) * (double)curve->costs[0].end_ns)
			return i;
	return curve->count;
}

static int tell_curve(struct um_finding_draft *draft, const struct curve *curve)
{
	int error = 0;

	for (size_t i = 0; i < curve->count && !error; i++) {
		const struct um_finding_cost *cost = &curve->costs[i];
		char time[32], bytes[32];
		const char *label =
			um_finding_text(draft->out, "with %u %% of the footprint", sizes[i]);

		if (!label)
			return UM_ENOMEM;
		error = um_finding_evidence_text(
			draft->out, draft->finding, label, "modelled", "%s, %s",
			um_format_duration(time, sizeof(time), cost->end_ns),
			um_format_bytes(bytes, sizeof(bytes),
					cost->bytes_to_device + cost->bytes_to_host));
	}
	return error;
}

static int tell(struct um_finding_draft *draft, const struct curve *curve)
{
	const struct um_facts *facts = draft->facts;
	size_t at = break_of(curve, um_finding_param(draft->rule, "slower"));
	bool is_over = facts->footprint_bytes > facts->memory_bytes;
	char needs[32], has[32];
	int error;

	um_format_bytes(needs, sizeof(needs), facts->footprint_bytes);
	um_format_bytes(has, sizeof(has), facts->memory_bytes);
	error = um_draft_title(
		draft, "%s of managed and device memory at once, on a device with %s", needs, has);
	if (!error && at < curve->count)
		error = um_draft_because(draft,
					 "%s With less than %u %% of what it needs the run takes "
					 "longer.",
					 is_over ? "It does not fit, and pages are evicted."
						 : "It fits, without much to spare.",
					 sizes[at - 1]);
	else if (!error)
		error = um_draft_because(
			draft, "%s Down to %u %% of what it needs the run takes no longer.",
			is_over ? "It does not fit, and pages are evicted."
				: "It fits, without much to spare.",
			sizes[curve->count - 1]);
	if (!error)
		error = um_draft_accessed(draft, "footprint", UM_UNIT_BYTES,
					  (int64_t)facts->footprint_bytes);
	if (!error)
		error = um_draft_accessed(draft, "memory of the device", UM_UNIT_BYTES,
					  (int64_t)facts->memory_bytes);
	return error ? error : tell_curve(draft, curve);
}

/* Of those that take memory of the device. There is one, since there is a footprint. */
static const struct um_fact_allocation *largest(const struct um_facts *facts)
{
	const struct um_fact_allocation *most = &facts->allocations[0];
	int64_t bytes = -1;

	for (size_t i = 0; i < facts->allocation_count; i++) {
		const struct um_fact_allocation *one = &facts->allocations[i];

		if (one->kind != UM_ALLOCATION_MANAGED && one->kind != UM_ALLOCATION_DEVICE)
			continue;
		if (one->bytes > bytes) {
			bytes = one->bytes;
			most = one;
		}
	}
	return most;
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	struct curve curve;
	int error;

	if (!facts->replay || !facts->memory_bytes || !facts->footprint_bytes ||
	    !facts->allocation_count ||
	    100 * (double)facts->footprint_bytes <
		    (double)um_finding_param(rule, "full") * (double)facts->memory_bytes)
		return 0;
	error = replay_sizes(facts, &curve);
	if (error || !curve.count)
		return error;
	error = um_finding_begin(&draft);
	if (error)
		return error;
	draft.finding->at = largest(facts)->at;
	draft.finding->concerned_ns = (int64_t)facts->baseline.end_ns;
	error = tell(&draft, &curve);
	if (error)
		return error;
	return um_finding_change(out, draft.finding, &draft.finding->at,
				 "less data at once on each device, or a device with more memory",
				 "memory: 1x\n", NULL);
}

const struct um_finding_rule um_finding_memory_headroom = {
	.name = "memory-headroom",
	.help = "what the program needs at once against the device's memory, and where it gets slower",
	.params = params,
	.needs = UM_NEEDS_NO_ACCESSES,
	.find = find,
};
