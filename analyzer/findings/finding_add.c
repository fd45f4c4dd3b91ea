/* How a rule says what it found. */
#include "finding_rule.h"

#include "analyzer/query/query.h"
#include "analyzer/query/text_pool.h"
#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *format_text(struct um_findings *findings, const char *format, va_list arguments)
{
	char *text;
	const char *kept;

	if (vasprintf(&text, format, arguments) < 0) {
		um_fail(UM_ENOMEM, "out of memory");
		return NULL;
	}
	kept = text;
	if (um_text_pool_keep(findings->texts, &kept))
		kept = NULL;
	free(text);
	return kept;
}

const char *um_finding_text(struct um_findings *findings, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *text = format_text(findings, format, arguments);
	va_end(arguments);
	return text;
}

struct um_finding *um_finding_add(struct um_findings *findings, const struct um_finding_rule *rule)
{
	struct um_finding *added =
		um_query_append(&findings->findings, &findings->count, sizeof(*added));

	if (added)
		*added = (struct um_finding){
			.rule = rule,
			.kind = rule->name,
			.is_certain = true,
			.at = {.site = UM_NULL, .line = UM_NULL},
			.first_op = UM_NULL,
			.last_op = UM_NULL,
		};
	return added;
}

void um_finding_withdraw(struct um_findings *findings)
{
	struct um_finding *last = &findings->findings[--findings->count];

	free(last->allocations);
	free(last->kernels);
	free(last->evidence);
	free(last->changes);
}

static bool is_of_one_place(const struct um_fact_group *group)
{
	const char *first = group->members[0]->at.text;

	for (size_t i = 1; i < group->count; i++) {
		const char *text = group->members[i]->at.text;

		if (!first != !text || (first && strcmp(first, text) != 0))
			return false;
	}
	return true;
}

/* "#3 grid.cells", or "4 allocations of train.hip:37", "4 allocations, the first of train.hip:37". */
static const char *subject_of(struct um_findings *findings, const struct um_fact_group *group)
{
	const struct um_fact_allocation *first = group->members[0];
	const char *slash = first->at.text ? strrchr(first->at.text, '/') : NULL;

	if (group->count == 1)
		return um_finding_text(findings, "%s", first->label);
	return um_finding_text(findings, "%zu allocations%s of %s", group->count,
			       is_of_one_place(group) ? "" : ", the first",
			       slash		? slash + 1
			       : first->at.text ? first->at.text
						: "a place that is not known");
}

int um_finding_about(struct um_findings *findings, struct um_finding *finding,
		     const struct um_fact_group *group)
{
	finding->allocations = calloc(group->count, sizeof(*finding->allocations));
	if (!finding->allocations)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < group->count; i++)
		finding->allocations[i] = group->members[i]->id;
	finding->allocation_count = group->count;
	if (finding->at.site == UM_NULL)
		finding->at = group->members[0]->at;
	finding->subject = subject_of(findings, group);
	return finding->subject ? 0 : UM_ENOMEM;
}

static struct um_finding_value *add_value(struct um_finding *finding, const char *label,
					  const char *origin)
{
	struct um_finding_value *value =
		um_query_append(&finding->evidence, &finding->evidence_count, sizeof(*value));

	if (value)
		*value = (struct um_finding_value){.label = label, .origin = origin};
	return value;
}

int um_finding_evidence(struct um_findings *findings, struct um_finding *finding, const char *label,
			enum um_finding_unit unit, int64_t number, const char *origin)
{
	struct um_finding_value *value = add_value(finding, label, origin);

	(void)findings;
	if (!value)
		return UM_ENOMEM;
	value->unit = unit;
	value->value = number;
	return 0;
}

int um_finding_evidence_text(struct um_findings *findings, struct um_finding *finding,
			     const char *label, const char *origin, const char *format, ...)
{
	struct um_finding_value *value = add_value(finding, label, origin);
	va_list arguments;

	if (!value)
		return UM_ENOMEM;
	value->unit = UM_UNIT_TEXT;
	va_start(arguments, format);
	value->text = format_text(findings, format, arguments);
	va_end(arguments);
	return value->text ? 0 : UM_ENOMEM;
}

int um_finding_kernel(struct um_findings *findings, struct um_finding *finding, const char *kernel)
{
	const char **added;

	(void)findings;
	for (size_t i = 0; i < finding->kernel_count && kernel; i++)
		if (strcmp(finding->kernels[i], kernel) == 0)
			return 0;
	if (!kernel)
		return 0;
	added = um_query_append(&finding->kernels, &finding->kernel_count, sizeof(*added));
	if (!added)
		return UM_ENOMEM;
	*added = kernel;
	return 0;
}

int um_finding_change(struct um_findings *findings, struct um_finding *finding,
		      const struct um_finding_place *at, const char *code, const char *policy,
		      const char *not_replayable)
{
	struct um_finding_change *added;

	(void)findings;
	assert(!policy == !!not_replayable);
	if (!code)
		return UM_ENOMEM;
	added = um_query_append(&finding->changes, &finding->change_count, sizeof(*added));
	if (!added)
		return UM_ENOMEM;
	*added = (struct um_finding_change){
		.at = *at, .code = code, .policy = policy, .not_replayable = not_replayable};
	return 0;
}

int64_t um_finding_param(const struct um_finding_rule *rule, const char *name)
{
	for (const struct um_finding_param *param = rule->params; param && param->name; param++)
		if (strcmp(param->name, name) == 0)
			return param->value;
	assert(!"a parameter of the rule's own table");
	return 0;
}

/* --- rules of a policy --- */

/* A scalar that YAML and fnmatch() both take as it stands, in double quotes. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text == 0x7f || strchr("\"\\*?[", *text))
			return false;
	return true;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_member(const struct um_fact_group *group,
		      const struct um_fact_allocation *allocation)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i] == allocation)
			return true;
	return false;
}

/* Whether a selector "site: file:line" would mean it: any frame of its stack. */
static bool passes(const struct um_facts *facts, const struct um_fact_allocation *allocation,
		   const struct um_finding_place *at)
{
	const struct um_stack_frame *frames[UM_STACKS_FRAMES_MAX];
	size_t count = allocation->at.site == UM_NULL
			       ? 0
			       : um_stacks_frames(facts->stacks, allocation->at.site, frames,
						  UM_STACKS_FRAMES_MAX);

	for (size_t i = 0; i < count; i++)
		if (frames[i]->file && frames[i]->line == at->line &&
		    strcmp(base_name(frames[i]->file), base_name(at->file)) == 0)
			return true;
	return false;
}

/* Whether the place means the group and nothing else. */
static bool is_exact(const struct um_facts *facts, const struct um_fact_group *group)
{
	const struct um_finding_place *at = &group->members[0]->at;

	if (!at->file || at->line == UM_NULL || !is_plain(base_name(at->text)))
		return false;
	for (size_t i = 0; i < facts->allocation_count; i++) {
		const struct um_fact_allocation *one = &facts->allocations[i];

		if (passes(facts, one, at) != is_member(group, one))
			return false;
	}
	return true;
}

int um_finding_selectors(struct um_findings *findings, const struct um_facts *facts,
			 const struct um_fact_group *group, const char ***on, size_t *count)
{
	bool exact = is_exact(facts, group);
	size_t wanted = exact ? 1 : group->count;

	*count = 0;
	*on = calloc(wanted, sizeof(**on));
	if (!*on)
		return um_fail(UM_ENOMEM, "out of memory");
	while (*count < wanted) {
		const struct um_fact_allocation *member = group->members[*count];
		const char *text =
			exact ? um_finding_text(findings, "{site: \"%s\"}",
						base_name(member->at.text))
			      : um_finding_text(findings, "{index: %" PRId64 "}", member->index);

		if (!text)
			return UM_ENOMEM;
		(*on)[(*count)++] = text;
	}
	return 0;
}

static int write_rules(FILE *out, const char *const *on, size_t count, const char *key,
		       const char *body)
{
	fprintf(out, "%s:\n", key);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  - on: %s\n%s", on[i], body);
	return fclose(out) == 0 ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

const char *um_finding_rules_text(struct um_findings *findings, const struct um_facts *facts,
				  const struct um_fact_group *group, const char *key,
				  const char *body)
{
	char *text = NULL;
	const char **on = NULL, *kept = NULL;
	size_t bytes, count;
	FILE *out;

	if (!um_finding_selectors(findings, facts, group, &on, &count)) {
		out = open_memstream(&text, &bytes);
		if (!out)
			um_fail(UM_ENOMEM, "out of memory");
		else if (!write_rules(out, on, count, key, body))
			kept = um_finding_text(findings, "%s", text);
	}
	free(text);
	free(on);
	return kept;
}
