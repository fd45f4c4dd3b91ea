#include "policy_render.h"

#include "sim/machine/machine_file.h"
#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SUBJECTS_SHOWN = 8 };

static const char *machine_name(const struct um_policy *policy)
{
	return policy->machine ? policy->machine : UM_MACHINE_DEFAULT;
}

static uint64_t page_bytes(const struct um_policy *policy)
{
	return policy->page_bytes ? policy->page_bytes : policy->driver->default_page_bytes;
}

/* ---------------------------------------------------------------- text */

/* Another than the driver's own only. */
static void put_order(FILE *out, const struct um_policy *policy)
{
	const struct um_evict_ops *order = um_policy_hypothetical_order(policy);

	if (!order)
		return;
	fprintf(out, ", eviction %s", order->name);
	if (order->takes_seed)
		fprintf(out, " (seed %" PRIu32 ")", policy->evict_seed);
	fputs(", hypothetical", out);
}

static void put_settings(FILE *out, const struct um_policy *policy)
{
	char text[32];

	um_text_print(out, policy->path);
	fputs(": machine ", out);
	um_text_print(out, machine_name(policy));
	fprintf(out, ", driver %s, pages of %s", policy->driver->name,
		um_format_bytes(text, sizeof(text), page_bytes(policy)));
	if (um_param_find(policy->params, policy->driver->params, "xnack"))
		fprintf(out, ", XNACK %s", um_xnack_word(policy->xnack));
	if (policy->memory_bytes)
		fprintf(out, ", %s of device memory",
			um_format_bytes(text, sizeof(text), policy->memory_bytes));
	else if (policy->memory_times > 0)
		fprintf(out, ", %.12gx of the footprint as device memory", policy->memory_times);
	put_order(out, policy);
	if (!policy->keep_program_advice)
		fputs(", the program's advice dropped", out);
	if (!policy->keep_program_prefetch)
		fputs(", the program's prefetches dropped", out);
	if (policy->without_count)
		fprintf(out, ", without the calls of %zu line%s", policy->without_count,
			policy->without_count == 1 ? "" : "s");
	fprintf(out, ", %zu rule%s\n", policy->rule_count, policy->rule_count == 1 ? "" : "s");
}

static int put_rule(FILE *out, const struct um_rule *rule)
{
	char *action;
	int error = um_rule_action_text(&action, rule);

	if (error)
		return error;
	fprintf(out, "line %u: %s", rule->line, action);
	free(action);
	if (!rule->at.before)
		fputs(", at the allocation", out);
	else if (rule->at.nth)
		fprintf(out, ", before launch %" PRIu32 " of \"", rule->at.nth);
	else
		fputs(", before every launch of \"", out);
	if (rule->at.before) {
		um_text_print(out, rule->at.before);
		fputc('"', out);
	}
	if (rule->at.ahead)
		fprintf(out, ", %" PRIu32 " launch%s ahead", rule->at.ahead,
			rule->at.ahead == 1 ? "" : "es");
	fputc('\n', out);
	return 0;
}

static void put_subject(FILE *out, const struct um_subject *subject)
{
	char text[32];
	const char *label = subject->facts.name ? subject->facts.name : subject->place;

	fprintf(out, "    #%" PRId64, subject->allocation);
	if (label) {
		fputc(' ', out);
		um_text_print(out, label);
	}
	fprintf(out, ", %s, %s", subject->facts.kind,
		um_format_bytes(text, sizeof(text), subject->facts.bytes));
	if (subject->is_part) {
		fprintf(out, " at %s of ",
			um_format_bytes(text, sizeof(text), subject->start_bytes));
		um_text_print(out, subject->of ? subject->of : "it");
		fprintf(out, ", op %" PRId64 " to ", subject->made_op);
		if (subject->freed_op == INT64_MAX)
			fputs("the end", out);
		else
			fprintf(out, "%" PRId64, subject->freed_op);
	}
	fputc('\n', out);
}

/* "2 allocations and 3 parts": what there is none of is left out, but for allocations alone. */
static void put_counts(FILE *out, const struct um_rule_report *report,
		       const struct um_subjects *subjects)
{
	size_t parts = 0;
	char count[32];

	for (size_t i = 0; i < report->subject_count; i++)
		parts += um_subjects_at(subjects, report->subjects[i])->is_part;
	size_t allocations = report->subject_count - parts;

	fputs("  ", out);
	if (allocations || !parts)
		fprintf(out, "%s allocation%s", um_format_count(count, sizeof(count), allocations),
			allocations == 1 ? "" : "s");
	if (parts)
		fprintf(out, "%s%s part%s", allocations ? " and " : "",
			um_format_count(count, sizeof(count), parts), parts == 1 ? "" : "s");
	fputc('\n', out);
}

static void put_matches(FILE *out, const struct um_rule *rule, const struct um_rule_report *report,
			const struct um_subjects *subjects)
{
	char count[32];

	put_counts(out, report, subjects);
	for (size_t i = 0; i < report->subject_count && i < SUBJECTS_SHOWN; i++)
		put_subject(out, um_subjects_at(subjects, report->subjects[i]));
	if (report->subject_count > SUBJECTS_SHOWN)
		fprintf(out, "    ... and %zu more (--format=json lists all)\n",
			report->subject_count - SUBJECTS_SHOWN);
	if (!rule->at.before)
		return;
	fprintf(out, "  %s launch%s", um_format_count(count, sizeof(count), report->launches),
		report->launches == 1 ? "" : "es");
	if (report->launches == 1)
		fprintf(out, ", op %" PRId64, report->first_op);
	else if (report->launches)
		fprintf(out, ", op %" PRId64 " to %" PRId64, report->first_op, report->last_op);
	fputc('\n', out);
}

int um_policy_render_text(FILE *out, const struct um_policy *policy,
			  const struct um_rule_report *reports, const struct um_subjects *subjects)
{
	put_settings(out, policy);
	for (size_t i = 0; i < policy->rule_count; i++) {
		int error = put_rule(out, &policy->rules[i]);
		if (error)
			return error;
		if (reports)
			put_matches(out, &policy->rules[i], &reports[i], subjects);
	}
	return fflush(out) == 0 ? 0 : um_fail_errno(UM_EIO, "writing");
}

/* ---------------------------------------------------------------- JSON */

/* Names in a trace may be anything; what is no UTF-8 is shown as null. */
static json_t *text_or_null(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;

	return json ? json : json_null();
}

static json_t *subject_json(const struct um_subject *subject)
{
	json_t *object = json_pack(
		"{s:I, s:o, s:o, s:s, s:I}", "allocation", (json_int_t)subject->allocation, "name",
		text_or_null(subject->facts.name), "site", text_or_null(subject->place), "kind",
		subject->facts.kind, "bytes", (json_int_t)subject->facts.bytes);

	if (object && subject->is_part) {
		json_object_set_new(object, "offset_bytes",
				    json_integer((json_int_t)subject->start_bytes));
		json_object_set_new(object, "op", json_integer(subject->made_op));
		json_object_set_new(object, "end_op",
				    subject->freed_op == INT64_MAX
					    ? json_null()
					    : json_integer(subject->freed_op));
	}
	return object;
}

static json_t *subjects_json(const struct um_rule_report *report,
			     const struct um_subjects *subjects)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->subject_count; i++)
		if (json_array_append_new(
			    array, subject_json(um_subjects_at(subjects, report->subjects[i])))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *rule_json(const struct um_rule *rule, const struct um_rule_report *report,
			 const struct um_subjects *subjects)
{
	char *action;

	if (um_rule_action_text(&action, rule))
		return NULL;
	json_t *object = json_pack("{s:i, s:s, s:s, s:o, s:I, s:I}", "line", (int)rule->line,
				   "kind", rule->is_prefetch ? "prefetch" : "advise", "action",
				   action, "before", text_or_null(rule->at.before), "nth",
				   (json_int_t)rule->at.nth, "ahead", (json_int_t)rule->at.ahead);
	free(action);
	if (!report || !object)
		return object;
	if (json_object_set_new(object, "allocations", subjects_json(report, subjects)) ||
	    json_object_set_new(object, "launches", json_integer((json_int_t)report->launches)) ||
	    json_object_set_new(object, "first_op", json_integer(report->first_op)) ||
	    json_object_set_new(object, "last_op", json_integer(report->last_op))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *rules_json(const struct um_policy *policy, const struct um_rule_report *reports,
			  const struct um_subjects *subjects)
{
	json_t *array = json_array();

	for (size_t i = 0; i < policy->rule_count; i++)
		if (json_array_append_new(
			    array,
			    rule_json(&policy->rules[i], reports ? &reports[i] : NULL, subjects))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

/* NULL: its driver evicts in no order. */
static const char *order_name(const struct um_policy *policy)
{
	const struct um_evict_ops *order = policy->evict ? policy->evict : policy->driver->evict;

	return order ? order->name : NULL;
}

int um_policy_render_json(FILE *out, const struct um_policy *policy,
			  const struct um_rule_report *reports, const struct um_subjects *subjects)
{
	char *effective;
	int error = um_policy_text(&effective, policy);

	if (error)
		return error;
	json_t *json = json_pack(
		"{s:o, s:o, s:s, s:I, s:I, s:s?, s:b, s:o, s:o}", "path",
		text_or_null(policy->path), "machine", text_or_null(machine_name(policy)), "driver",
		policy->driver->name, "page_bytes", (json_int_t)page_bytes(policy), "memory_bytes",
		(json_int_t)policy->memory_bytes, "evict", order_name(policy), "evict_hypothetical",
		um_policy_hypothetical_order(policy) != NULL, "rules",
		rules_json(policy, reports, subjects), "effective", text_or_null(effective));
	free(effective);
	if (!json)
		return um_fail(UM_ENOMEM, "out of memory");
	int failed = json_dumpf(json, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(json);
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
