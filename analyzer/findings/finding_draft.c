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

const char *um_group_pointer_and_bytes(const struct um_finding_draft *draft)
{
	const struct um_fact_group *group = draft->group;
	const char *pointer = um_group_pointer(group);

	for (size_t i = 1; i < group->count; i++)
		if (group->members[i]->bytes != group->members[0]->bytes)
			return um_finding_text(draft->out, "%s, bytes", pointer);
	return um_finding_text(draft->out, "%s, %lld", pointer,
			       (long long)group->members[0]->bytes);
}

/* --- devices --- */

/* Launches that touch the group, by device. */
static void count_launches(const struct um_facts *facts, const struct um_fact_group *group,
			   size_t counts[UM_DEVICES_MAX])
{
	for (size_t i = 0; i < group->count; i++)
		for (size_t j = 0; j < group->members[i]->use_count; j++) {
			const struct um_fact_op *op =
				&facts->ops[facts->uses[group->members[i]->uses[j]].op];

			if (op->kind == UM_OP_LAUNCH)
				counts[um_op_device(op)]++;
		}
}

uint32_t um_group_devices(const struct um_facts *facts, const struct um_fact_group *group)
{
	size_t counts[UM_DEVICES_MAX] = {0};
	uint32_t devices = 0;

	count_launches(facts, group, counts);
	for (unsigned i = 0; i < UM_DEVICES_MAX; i++)
		devices |= (uint32_t)(counts[i] > 0) << i;
	return devices ? devices : 1;
}

int um_group_device(const struct um_facts *facts, const struct um_fact_group *group)
{
	size_t counts[UM_DEVICES_MAX] = {0};
	int most = 0;

	count_launches(facts, group, counts);
	for (int i = 1; i < UM_DEVICES_MAX; i++)
		if (counts[i] > counts[most])
			most = i;
	return most;
}

static bool is_one_device(const struct um_facts *facts)
{
	const struct um_fact_op *first = NULL;

	for (size_t i = 0; i < facts->op_count; i++) {
		if (facts->ops[i].kind != UM_OP_LAUNCH)
			continue;
		if (first && um_op_device(first) != um_op_device(&facts->ops[i]))
			return false;
		first = &facts->ops[i];
	}
	return true;
}

const char *um_device_code(struct um_finding_draft *draft, int device)
{
	return is_one_device(draft->facts) ? "device" : um_finding_text(draft->out, "%d", device);
}

/* "[gpu0, gpu1]"; NULL: out of memory. `host`: the host first. */
static const char *device_list(struct um_finding_draft *draft, uint32_t devices, bool host)
{
	const char *text = host ? "[host" : "[";

	for (int i = 0; i < UM_DEVICES_MAX && text; i++)
		if (devices >> i & 1)
			text = um_finding_text(draft->out, "%s%sgpu%d", text, text[1] ? ", " : "",
					       i);
	return text ? um_finding_text(draft->out, "%s]", text) : NULL;
}

/* `code` and a line of advice for each of the devices; NULL: out of memory. */
static const char *accessed_by(struct um_finding_draft *draft, const char *code, const char *what,
			       uint32_t devices)
{
	for (int i = 0; i < UM_DEVICES_MAX && code; i++) {
		const char *device = devices >> i & 1 ? um_device_code(draft, i) : NULL;

		if (device)
			code = um_finding_text(
				draft->out, "%s\nhipMemAdvise(%s, hipMemAdviseSetAccessedBy, %s);",
				code, what, device);
	}
	return code;
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
	uint32_t devices = um_group_devices(draft->facts, draft->group);
	const char *preferred = NULL, *both = NULL, *list = device_list(draft, devices, false);
	const char *body = NULL;
	int error;

	if (what)
		preferred = um_finding_text(draft->out,
					    "hipMemAdvise(%s, hipMemAdviseSetPreferredLocation, "
					    "hipCpuDeviceId);",
					    what);
	if (preferred)
		both = accessed_by(draft, preferred, what, devices);
	if (both && list)
		body = um_finding_text(draft->out,
				       "    preferred_location: host\n    accessed_by: %s\n", list);
	if (!body)
		return UM_ENOMEM;
	error = advise(draft, part, preferred, "    preferred_location: host\n");
	return error ? error : advise(draft, part, both, body);
}

int um_change_stay_on_host(struct um_finding_draft *draft)
{
	return stay_on_host(draft, NULL, um_group_pointer_and_bytes(draft));
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
	const char *what = um_group_pointer_and_bytes(draft), *code = NULL, *list, *body;
	int device = um_group_device(draft->facts, draft->group);
	uint32_t others = um_group_devices(draft->facts, draft->group) & ~(UINT32_C(1) << device);
	const char *name = um_device_code(draft, device);
	bool host = advises_host_access(draft->facts);

	if (what && name)
		code = um_finding_text(
			draft->out, "hipMemAdvise(%s, hipMemAdviseSetPreferredLocation, %s);%s%s%s",
			what, name, host ? "\nhipMemAdvise(" : "", host ? what : "",
			host ? ", hipMemAdviseSetAccessedBy, hipCpuDeviceId);" : "");
	code = code ? accessed_by(draft, code, what, others) : NULL;
	list = device_list(draft, others, host);
	if (!code || !list)
		return UM_ENOMEM;
	body = host || others
		       ? um_finding_text(draft->out,
					 "    preferred_location: gpu%d\n    accessed_by: %s\n",
					 device, list)
		       : um_finding_text(draft->out, "    preferred_location: gpu%d\n", device);
	return body ? advise(draft, NULL, code, body) : UM_ENOMEM;
}

int um_change_read_mostly(struct um_finding_draft *draft)
{
	const char *what = um_group_pointer_and_bytes(draft);

	return advise(
		draft, NULL,
		what ? um_finding_text(
			       draft->out, "hipMemAdvise(%s, hipMemAdviseSetReadMostly, %s);", what,
			       um_device_code(draft, um_group_device(draft->facts, draft->group)))
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
