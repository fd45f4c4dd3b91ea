/*
 * The program's own advice, line by line: what the driver makes of it is told by a replay without it.
 * "advice-harmful": without it the program is cheaper. "advice-without-effect": without it nothing is
 * otherwise, because this driver ignores such advice, because a later line says the contrary before
 * anything is touched, or because nothing that it is about happens. Attach flags are ignored by all
 * driver models, as by the drivers with concurrent managed access.
 */
#include "finding_calls.h"

#include "trace/base/error.h"

#include <string.h>

/* hipMemAttachHost and hipMemAttachSingle of hipMallocManaged (hip_runtime_api.h). */
#define ATTACH_GLOBAL 1

/* The next advice of the same kind about the same bytes, if nothing touches these before. */
static const struct um_fact_op *contradiction(const struct um_facts *facts,
					      const struct um_fact_op *call)
{
	int64_t pages;
	const struct um_fact_op *next = um_facts_next_use(facts, call, &pages);

	for (const struct um_fact_op *op = call + 1; op < facts->ops + facts->op_count; op++) {
		if (next && op->op > next->op)
			return NULL;
		if (op->kind == UM_OP_ADVISE && !op->result && op->allocation == call->allocation &&
		    (op->advice == call->advice || op->advice == (call->advice ^ 3)) &&
		    op->offset_bytes <= call->offset_bytes &&
		    op->offset_bytes + op->bytes >= call->offset_bytes + call->bytes)
			return op;
	}
	return NULL;
}

static const char *advice_word(const struct um_fact_op *call)
{
	const char *word = um_word(um_advice_words, call->advice);

	return word ? word : "advice";
}

static int add_evidence(struct um_finding_draft *draft, const struct um_call_line *line)
{
	const struct um_fact_op *call = line->calls[0];
	int error = um_finding_evidence_text(draft->out, draft->finding, "advice",
					     draft->facts->accesses, "%s", advice_word(call));

	if (!error && call->device != UM_NULL && call->device < 0)
		error = um_finding_evidence_text(draft->out, draft->finding, "for",
						 draft->facts->accesses, "the host");
	return error ? error
		     : um_draft_accessed(draft, "calls", UM_UNIT_COUNT, (int64_t)line->count);
}

static int64_t concerned(const struct um_finding_draft *draft)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < draft->finding->allocation_count; i++) {
		const struct um_fact_allocation *allocation =
			um_facts_allocation(draft->facts, draft->finding->allocations[i]);
		const struct um_fact_group group = {.members = &allocation, .count = 1};

		bytes += allocation ? um_group_bytes(&group) : 0;
	}
	return bytes;
}

/* --- harmful --- */

static int look_for_harm(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	int error = um_finding_begin_calls(draft, line);

	if (error)
		return error;
	draft->finding->concerned_bytes = concerned(draft);
	error = um_draft_title(draft, "advice makes %s dearer", draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "Without it this driver does with less.");
	if (!error)
		error = add_evidence(draft, line);
	return error ? error : um_change_without(draft, line->calls[0]);
}

static int find_harm(const struct um_finding_rule *rule, const struct um_facts *facts,
		     struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_call_lines(facts, UM_OP_ADVISE, look_for_harm, &draft);
}

const struct um_finding_rule um_finding_advice_harmful = {
	.name = "advice-harmful",
	.help = "advice without which the program would be cheaper",
	.find = find_harm,
};

/* --- without effect --- */

/* Lines of advice that are about the same allocations, which one may need the other. */
struct companions {
	struct um_finding_draft *draft;
	const struct um_call_line *line;
	const char *lines; /* of `without`: "\"a:1\", \"a:2\"" */
	size_t count;
	bool is_first;
};

static bool names_same(const struct um_call_line *a, const struct um_call_line *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (a->calls[i]->allocation == b->calls[j]->allocation)
				return true;
	return false;
}

static int add_companion(const struct um_call_line *line, void *context)
{
	struct companions *all = context;
	const char *slash, *quoted;

	if (!line->at.text || !names_same(line, all->line))
		return 0;
	slash = strrchr(line->at.text, '/');
	quoted = um_finding_quote(all->draft->out, slash ? slash + 1 : line->at.text);
	if (!quoted)
		return UM_ENOMEM;
	if (!all->count++)
		all->is_first = line->calls[0] == all->line->calls[0];
	all->lines = all->lines ? um_finding_text(all->draft->out, "%s, %s", all->lines, quoted)
				: quoted;
	return all->lines ? 0 : UM_ENOMEM;
}

static int begin_nothing(struct um_finding_draft *draft, const struct um_call_line *line)
{
	int error = um_finding_begin_calls(draft, line);

	if (error)
		return error;
	draft->finding->claims_no_effect = true;
	error = um_draft_title(draft, "advice about %s has no effect", draft->finding->subject);
	return error ? error : add_evidence(draft, line);
}

static int look_for_contradiction(struct um_finding_draft *draft, const struct um_call_line *line,
				  const struct um_fact_op *other)
{
	struct um_finding_place at = um_facts_place(draft->facts, other);
	const char *slash = at.text ? strrchr(at.text, '/') : NULL;
	int error = begin_nothing(draft, line);

	if (!error)
		error = um_draft_because(draft, "%s says otherwise before anything is touched.",
					 slash	   ? slash + 1
					 : at.text ? at.text
						   : "A later call");
	return error ? error : um_change_without(draft, line->calls[0]);
}

/* All advice about an allocation is one finding: of two lines either may be enough. */
static int look_for_nothing(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	struct companions all = {.draft = draft, .line = line};
	const struct um_fact_op *other = contradiction(draft->facts, line->calls[0]);
	int error;

	if (other)
		return look_for_contradiction(draft, line, other);
	error = um_facts_call_lines(draft->facts, UM_OP_ADVISE, add_companion, &all);
	if (error || !all.is_first)
		return error;
	error = begin_nothing(draft, line);
	if (!error)
		error = um_draft_because(draft, "This driver does the same without %s.",
					 all.count == 1 ? "it" : "any of these lines");
	if (error)
		return error;
	return um_finding_change(
		draft->out, draft->finding, &line->at,
		um_finding_text(draft->out, "leave out the hipMemAdvise() of %s", all.lines),
		um_finding_text(draft->out, "program: {without: [%s]}\n", all.lines), NULL);
}

static int say_ignored(struct um_finding_draft *draft, const struct um_finding_place *at,
		       const char *code)
{
	draft->finding->verdict = UM_FINDING_NO_EFFECT;
	return um_finding_change(
		draft->out, draft->finding, at, code, NULL,
		"no driver model looks at it: with it and without it replays are the "
		"same");
}

static int look_at_attach(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	int error = um_finding_begin_calls(draft, line);

	if (!error)
		error = um_draft_title(draft, "attaching %s to a stream has no effect",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "This driver lets host and device touch managed "
						"memory at any time, attached or not.");
	if (!error)
		error = um_draft_accessed(draft, "calls", UM_UNIT_COUNT, (int64_t)line->count);
	return error ? error
		     : say_ignored(draft, &line->at,
				   "leave out the hipStreamAttachMemAsync() of this line");
}

static bool has_attach_flag(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && allocation->flags != 0 &&
	       allocation->flags != ATTACH_GLOBAL;
}

static int look_at_flag(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	int error;

	draft->group = group;
	error = um_finding_begin(draft);
	if (!error)
		error = um_draft_title(draft, "the attach flag of %s has no effect",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "This driver lets host and device touch managed "
						"memory at any time, attached or not.");
	if (!error)
		error = um_draft_accessed(draft, "flags of hipMallocManaged", UM_UNIT_COUNT,
					  group->members[0]->flags);
	return error ? error
		     : say_ignored(draft, &group->members[0]->at,
				   "hipMallocManaged(..., hipMemAttachGlobal);");
}

static int find_nothing(const struct um_finding_rule *rule, const struct um_facts *facts,
			struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	int error = um_facts_call_lines(facts, UM_OP_ADVISE, look_for_nothing, &draft);

	if (!error)
		error = um_facts_call_lines(facts, UM_OP_ATTACH, look_at_attach, &draft);
	return error ? error : um_facts_groups(facts, has_attach_flag, look_at_flag, &draft);
}

const struct um_finding_rule um_finding_advice_without_effect = {
	.name = "advice-without-effect",
	.help = "advice and attach flags that this driver ignores, or that a later line contradicts",
	.find = find_nothing,
};
