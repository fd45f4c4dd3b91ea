/*
 * Prefetches that bring nothing: what they name is there already, or nobody touches it where they bring
 * it, or who touches it next is the other side. The same line can do all of these, and is then told by
 * what most of its calls do.
 */
#include "finding_calls.h"

struct outcome {
	int64_t idle, unused, other_side; /* calls: moved nothing; nobody came; the wrong one did */
	int64_t moved_bytes, wasted_bytes;
};

static void see_call(struct outcome *outcome, const struct um_facts *facts,
		     const struct um_fact_op *call)
{
	int64_t pages,
		moved = (int64_t)(call->traffic.moved_to_device + call->traffic.moved_to_host);
	const struct um_fact_op *next = um_facts_next_use(facts, call, &pages);
	bool to_host = call->device < 0;

	outcome->moved_bytes += moved;
	if (!moved) {
		outcome->idle++;
		return;
	}
	if (!next)
		outcome->unused++;
	else if ((um_facts_toucher(next) == UM_TOUCHED_BY_HOST) != to_host)
		outcome->other_side++;
	else
		return;
	outcome->wasted_bytes += moved;
}

static struct outcome outcome_of(const struct um_facts *facts, const struct um_call_line *line)
{
	struct outcome outcome = {0};

	for (size_t i = 0; i < line->count; i++)
		see_call(&outcome, facts, line->calls[i]);
	return outcome;
}

static int add_evidence(struct um_finding_draft *draft, const struct um_call_line *line,
			const struct outcome *outcome)
{
	int error = um_draft_accessed(draft, "calls", UM_UNIT_COUNT, (int64_t)line->count);

	if (!error && outcome->idle)
		error = um_draft_moved(draft, "of them moved nothing", UM_UNIT_COUNT,
				       outcome->idle);
	if (!error && outcome->unused)
		error = um_draft_accessed(draft, "of them brought what nothing touched",
					  UM_UNIT_COUNT, outcome->unused);
	if (!error && outcome->other_side)
		error = um_draft_accessed(draft, "of them brought what the other side touched next",
					  UM_UNIT_COUNT, outcome->other_side);
	if (!error && outcome->wasted_bytes)
		error = um_draft_moved(draft, "moved in vain", UM_UNIT_BYTES,
				       outcome->wasted_bytes);
	return error;
}

/* --- those that move something in vain --- */

static int look_for_harm(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	struct outcome outcome = outcome_of(draft->facts, line);
	int error;

	if (!outcome.other_side || !outcome.wasted_bytes)
		return 0;
	error = um_finding_begin_calls(draft, line);
	if (error)
		return error;
	draft->finding->concerned_bytes = 2 * outcome.wasted_bytes;
	error = um_draft_title(draft, "a prefetch moves %s away from who touches it next",
			       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "What it brings goes back before it was used where "
						"it went.");
	if (!error)
		error = add_evidence(draft, line, &outcome);
	return error ? error : um_change_without(draft, line->calls[0]);
}

static int find_harm(const struct um_finding_rule *rule, const struct um_facts *facts,
		     struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_call_lines(facts, UM_OP_PREFETCH, look_for_harm, &draft);
}

const struct um_finding_rule um_finding_prefetch_harmful = {
	.name = "prefetch-harmful",
	.help = "prefetches that move pages away from who touches them next",
	.find = find_harm,
};

/* --- those that could as well not be there --- */

static int look_for_nothing(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	struct outcome outcome = outcome_of(draft->facts, line);
	bool is_idle = outcome.idle == (int64_t)line->count;
	int error;

	if (!is_idle && outcome.idle + outcome.unused < (int64_t)line->count)
		return 0;
	error = um_finding_begin_calls(draft, line);
	if (error)
		return error;
	draft->finding->concerned_bytes = outcome.wasted_bytes;
	draft->finding->claims_no_effect = is_idle;
	error = um_draft_title(draft,
			       is_idle ? "a prefetch of %s moves nothing"
				       : "a prefetch brings what nothing touches of %s",
			       draft->finding->subject);
	if (!error && is_idle)
		error = um_draft_because(draft,
					 "What it names is there already, or has no data yet.");
	else if (!error)
		error = um_draft_because(draft, "Nothing touches it between the call and its end.");
	if (!error)
		error = add_evidence(draft, line, &outcome);
	return error ? error : um_change_without(draft, line->calls[0]);
}

static int find_nothing(const struct um_finding_rule *rule, const struct um_facts *facts,
			struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_call_lines(facts, UM_OP_PREFETCH, look_for_nothing, &draft);
}

const struct um_finding_rule um_finding_prefetch_useless = {
	.name = "prefetch-useless",
	.help = "prefetches of what is there already, or of what nothing touches",
	.find = find_nothing,
};
