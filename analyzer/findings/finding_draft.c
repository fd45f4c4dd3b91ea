#include "finding_draft.h"

#include "trace/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int um_finding_begin(struct um_finding_draft *draft)
{
	draft->finding = um_finding_add(draft->out, draft->rule);
	if (!draft->finding)
		return UM_ENOMEM;
	if (!draft->group)
		return 0;
	draft->finding->concerned_bytes = um_group_bytes(draft->group);
	return um_finding_about(draft->out, draft->finding, draft->group);
}

static int keep_format(struct um_finding_draft *draft, const char **out, const char *format,
		       va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	*out = um_finding_text(draft->out, "%s", text);
	free(text);
	return *out ? 0 : UM_ENOMEM;
}

int um_draft_title(struct um_finding_draft *draft, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int error = keep_format(draft, &draft->finding->title, format, arguments);
	va_end(arguments);
	return error;
}

const char *um_draft_verb(const struct um_finding_draft *draft, const char *one,
			  const char *several)
{
	return draft->group->count == 1 ? one : several;
}

int um_draft_because(struct um_finding_draft *draft, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int error = keep_format(draft, &draft->finding->because, format, arguments);
	va_end(arguments);
	return error;
}

int um_draft_accessed(struct um_finding_draft *draft, const char *label, enum um_finding_unit unit,
		      int64_t value)
{
	return um_finding_evidence(draft->out, draft->finding, label, unit, value,
				   draft->facts->accesses);
}

int um_draft_moved(struct um_finding_draft *draft, const char *label, enum um_finding_unit unit,
		   int64_t value)
{
	return um_finding_evidence(draft->out, draft->finding, label, unit, value,
				   draft->facts->traffic);
}

/* One range around all of it, or none. */
static void see_phase(struct um_finding *finding, const struct um_fact_op *op)
{
	if (finding->first_op == UM_NULL) {
		finding->first_op = op->op;
		finding->phase = op->range;
	} else if (!op->range || !finding->phase || strcmp(op->range, finding->phase) != 0) {
		finding->phase = NULL;
	}
	finding->first_op = op->op < finding->first_op ? op->op : finding->first_op;
	finding->last_op = finding->last_op == UM_NULL || op->op > finding->last_op
				   ? op->op
				   : finding->last_op;
}

int um_draft_uses(struct um_finding_draft *draft)
{
	const struct um_fact_group *group = draft->group;

	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_use *use =
				&draft->facts->uses[group->members[i]->uses[j]];
			const struct um_fact_op *op = &draft->facts->ops[use->op];

			if (op->kind != UM_OP_LAUNCH)
				continue;
			see_phase(draft->finding, op);
			if (um_finding_kernel(draft->out, draft->finding, op->kernel))
				return UM_ENOMEM;
		}
	return 0;
}

int64_t um_group_bytes(const struct um_fact_group *group)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct um_fact_traffic *traffic = &group->members[i]->traffic;

		bytes += traffic->moved_to_device + traffic->moved_to_host +
			 traffic->remote_to_device + traffic->remote_to_host;
	}
	return (int64_t)bytes;
}

/* --- texts --- */

const char *um_finding_quote(struct um_findings *out, const char *text)
{
	char *quoted = malloc(6 * strlen(text) + 3), *to = quoted;
	const char *kept;

	if (!quoted) {
		um_fail(UM_ENOMEM, "out of memory");
		return NULL;
	}
	*to++ = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f) {
			to += sprintf(to, "\\x%02x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = (char)c;
	}
	*to++ = '"';
	*to = '\0';
	kept = um_finding_text(out, "%s", quoted);
	free(quoted);
	return kept;
}

/* Something that could stand in a call. */
static bool is_expression(const char *name)
{
	if (!name || !*name || strlen(name) > 60)
		return false;
	return strspn(name,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:->[]") ==
	       strlen(name);
}

const char *um_group_pointer(const struct um_fact_group *group)
{
	const char *name = group->members[0]->name;

	for (size_t i = 1; i < group->count; i++)
		if (!group->members[i]->name || !name || strcmp(group->members[i]->name, name) != 0)
			return "p";
	return is_expression(name) ? name : "p";
}

/* "data, 4194304": pointer and bytes, where they are all alike. */
static const char *pointer_and_bytes(const struct um_finding_draft *draft)
{
	const struct um_fact_group *group = draft->group;
	const char *pointer = um_group_pointer(group);

	for (size_t i = 1; i < group->count; i++)
		if (group->members[i]->bytes != group->members[0]->bytes)
			return um_finding_text(draft->out, "%s, bytes", pointer);
	return um_finding_text(draft->out, "%s, %lld", pointer,
			       (long long)group->members[0]->bytes);
}

/* --- changes --- */

/* Advice for the whole of it. */
/* Bytes of the one allocation. */
struct part {
	int64_t start_bytes, end_bytes;
};

/* `part` NULL: all of the group. */
static const char *advice_rules(struct um_finding_draft *draft, const struct part *part,
				const char *body)
{
	if (!part)
		return um_finding_rules_text(draft->out, draft->facts, draft->group, "advise",
					     body);
	return um_finding_text(draft->out,
			       "advise:\n  - on: {index: %lld, range: [%lldB, %lldB]}\n%s",
			       (long long)draft->group->members[0]->index,
			       (long long)part->start_bytes, (long long)part->end_bytes, body);
}

static int advise(struct um_finding_draft *draft, const struct part *part, const char *code,
		  const char *body)
{
	const char *policy = advice_rules(draft, part, body);

	if (!policy || !code)
		return UM_ENOMEM;
	return um_finding_change(draft->out, draft->finding, &draft->group->members[0]->at, code,
				 policy, NULL);
}

/* Once without and once with access by the device; `what` is "pointer, bytes" in the code. */
static int stay_on_host(struct um_finding_draft *draft, const struct part *part, const char *what)
{
	const char *preferred = NULL, *both = NULL;
	int error;

	if (what)
		preferred = um_finding_text(draft->out,
					    "hipMemAdvise(%s, hipMemAdviseSetPreferredLocation, "
					    "hipCpuDeviceId);",
					    what);
	if (preferred)
		both = um_finding_text(draft->out,
				       "%s\nhipMemAdvise(%s, hipMemAdviseSetAccessedBy, device);",
				       preferred, what);
	error = advise(draft, part, preferred, "    preferred_location: host\n");
	return error ? error
		     : advise(draft, part, both,
			      "    preferred_location: host\n"
			      "    accessed_by: [gpu0]\n");
}

int um_change_stay_on_host(struct um_finding_draft *draft)
{
	return stay_on_host(draft, NULL, pointer_and_bytes(draft));
}

int um_change_part_stays_on_host(struct um_finding_draft *draft, int64_t start_bytes,
				 int64_t end_bytes)
{
	const struct part part = {start_bytes, end_bytes};

	return stay_on_host(draft, &part,
			    um_finding_text(draft->out, "(char *)%s + %lld, %lld",
					    um_group_pointer(draft->group), (long long)start_bytes,
					    (long long)(end_bytes - start_bytes)));
}

/* amdkfd lets the host reach device memory where the link does, advised or not (driver_amdgpu_svm.c, R7). */
static bool advises_host_access(const struct um_facts *facts)
{
	return facts->policy && strcmp(facts->policy->driver->name, "amdgpu_svm") != 0;
}

int um_change_stay_on_device(struct um_finding_draft *draft)
{
	const char *what = pointer_and_bytes(draft), *code;

	if (!what)
		return UM_ENOMEM;
	if (!advises_host_access(draft->facts))
		return advise(draft, NULL,
			      um_finding_text(draft->out,
					      "hipMemAdvise(%s, hipMemAdviseSetPreferredLocation, "
					      "device);",
					      what),
			      "    preferred_location: gpu0\n");
	code = um_finding_text(draft->out,
			       "hipMemAdvise(%s, hipMemAdviseSetPreferredLocation, device);\n"
			       "hipMemAdvise(%s, hipMemAdviseSetAccessedBy, hipCpuDeviceId);",
			       what, what);
	return advise(draft, NULL, code,
		      "    preferred_location: gpu0\n"
		      "    accessed_by: [host]\n");
}

int um_change_read_mostly(struct um_finding_draft *draft)
{
	const char *what = pointer_and_bytes(draft);

	return advise(draft, NULL,
		      what ? um_finding_text(draft->out,
					     "hipMemAdvise(%s, hipMemAdviseSetReadMostly, device);",
					     what)
			   : NULL,
		      "    read_mostly: true\n");
}

int um_change_allocate_as(struct um_finding_draft *draft, const char *kind, const char *call)
{
	const char *body = um_finding_text(draft->out, "    allocate_as: %s\n", kind);

	return body ? advise(draft, NULL, call, body) : UM_ENOMEM;
}

int um_change_without(struct um_finding_draft *draft, const struct um_fact_op *call)
{
	struct um_finding_place at = um_facts_place(draft->facts, call);
	const char *slash, *quoted;

	if (!at.text)
		return um_finding_change(draft->out, draft->finding, &at, "leave the call out",
					 NULL, "its line is not known: build with -g");
	slash = strrchr(at.text, '/');
	quoted = um_finding_quote(draft->out, slash ? slash + 1 : at.text);
	if (!quoted)
		return UM_ENOMEM;
	return um_finding_change(
		draft->out, draft->finding, &at,
		call->kind == UM_OP_PREFETCH ? "leave out the hipMemPrefetchAsync() of this line"
					     : "leave out the hipMemAdvise() of this line",
		um_finding_text(draft->out, "program: {without: [%s]}\n", quoted), NULL);
}
