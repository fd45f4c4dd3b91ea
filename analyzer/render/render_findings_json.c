#include "render_findings.h"
#include "render_json.h"

#include "analyzer/findings/finding_rule.h"
#include "trace/base/error.h"

/* What is in memory no more is noticed where the whole is written: jansson keeps no half objects. */
static json_t *place_json(const struct um_finding_place *place)
{
	if (!place->text)
		return json_null();
	return json_pack("{so so so so so}", "text", um_text_json(place->text), "file",
			 um_nullable_text_json(place->file), "line", um_integer_json(place->line),
			 "function", um_nullable_text_json(place->function), "site",
			 um_integer_json(place->site));
}

static json_t *cost_json(const struct um_finding_cost *cost)
{
	return json_pack(
		"{sI sI sI sI sI sI sI sI sI sI}", "bytes_to_device",
		(json_int_t)cost->bytes_to_device, "bytes_to_host", (json_int_t)cost->bytes_to_host,
		"bytes_between_devices", (json_int_t)cost->bytes_between_devices,
		"remote_to_device_bytes", (json_int_t)cost->remote_to_device,
		"remote_to_host_bytes", (json_int_t)cost->remote_to_host, "copied_to_device_bytes",
		(json_int_t)cost->copied_to_device, "copied_to_host_bytes",
		(json_int_t)cost->copied_to_host, "device_faults", (json_int_t)cost->device_faults,
		"host_faults", (json_int_t)cost->host_faults, "end_ns", (json_int_t)cost->end_ns);
}

static const char *unit_word(enum um_finding_unit unit)
{
	static const char *const words[] = {
		[UM_UNIT_COUNT] = "count",     [UM_UNIT_BYTES] = "bytes", [UM_UNIT_NS] = "ns",
		[UM_UNIT_PERCENT] = "percent", [UM_UNIT_TEXT] = "text",
	};

	return words[unit];
}

static json_t *evidence_json(const struct um_finding *finding)
{
	json_t *all = json_array();

	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct um_finding_value *value = &finding->evidence[i];

		json_array_append_new(
			all, json_pack("{ss so ss ss}", "label", value->label, "value",
				       value->unit == UM_UNIT_TEXT ? um_text_json(value->text)
								   : um_integer_json(value->value),
				       "unit", unit_word(value->unit), "origin",
				       value->origin ? value->origin : "inferred"));
	}
	return all;
}

static json_t *change_json(const struct um_finding_change *change)
{
	bool replayed = !change->not_replayable;

	return json_pack("{so so so so so so so so}", "at", place_json(&change->at), "code",
			 um_text_json(change->code), "policy",
			 um_nullable_text_json(change->policy), "not_replayable",
			 um_nullable_text_json(change->not_replayable), "cost",
			 replayed ? cost_json(&change->cost) : json_null(), "cost_origin",
			 replayed ? json_string("modelled") : json_null(), "saved_ns",
			 um_integer_json(replayed ? change->saved_ns : UM_NULL), "saved_bytes",
			 um_integer_json(replayed ? change->saved_bytes : UM_NULL));
}

static json_t *finding_json(const struct um_finding *finding)
{
	json_t *allocations = json_array(), *kernels = json_array(), *changes = json_array();
	json_t *also = json_array();

	for (size_t i = 0; i < UM_FINDING_ALSO && finding->also[i]; i++)
		json_array_append_new(also, json_string(finding->also[i]));

	for (size_t i = 0; i < finding->allocation_count; i++)
		json_array_append_new(allocations, json_integer(finding->allocations[i]));
	for (size_t i = 0; i < finding->kernel_count; i++)
		json_array_append_new(kernels, um_text_json(finding->kernels[i]));
	for (size_t i = 0; i < finding->change_count; i++)
		json_array_append_new(changes, change_json(&finding->changes[i]));
	return json_pack(
		"{ss so so so sb ss so so so so so so so so so so}", "kind", finding->kind, "also",
		also, "title", um_text_json(finding->title), "because",
		um_nullable_text_json(finding->because), "certain", finding->is_certain, "verdict",
		um_finding_verdict_word(finding->verdict), "at", place_json(&finding->at),
		"subject", um_nullable_text_json(finding->subject), "concerned_bytes",
		um_integer_json(finding->concerned_bytes), "allocations", allocations, "kernels",
		kernels, "phase", um_nullable_text_json(finding->phase), "first_op",
		um_integer_json(finding->first_op), "last_op", um_integer_json(finding->last_op),
		"evidence", evidence_json(finding), "changes", changes);
}

static json_t *head_json(const struct um_findings *findings)
{
	return json_pack(
		"{so so so ss so so so so so so sI sI so}", "path", um_text_json(findings->path),
		"command", um_nullable_text_json(findings->command), "accesses",
		um_text_json(findings->accesses), "baseline_origin", findings->baseline_origin,
		"not_replayable", um_nullable_text_json(findings->not_replayable), "machine",
		um_nullable_text_json(findings->machine), "driver",
		um_nullable_text_json(findings->driver), "validated",
		um_nullable_text_json(findings->validated), "xnack",
		um_nullable_text_json(findings->xnack), "xnack_source",
		um_nullable_text_json(findings->xnack_source), "page_bytes",
		(json_int_t)findings->page_bytes, "memory_bytes",
		(json_int_t)findings->memory_bytes, "policy",
		um_nullable_text_json(findings->policy));
}

int um_render_findings_json(FILE *out, const struct um_findings *findings)
{
	json_t *root = head_json(findings), *all = json_array();
	int error = 0;

	for (size_t i = 0; i < findings->count; i++)
		json_array_append_new(all, finding_json(&findings->findings[i]));
	json_object_set_new(root, "baseline", cost_json(&findings->baseline));
	json_object_set_new(root, "shown", json_integer((json_int_t)findings->shown));
	json_object_set_new(root, "dropped", json_integer((json_int_t)findings->dropped));
	json_object_set_new(root, "not_tried", json_integer((json_int_t)findings->not_tried));
	json_object_set_new(root, "rules_left_out",
			    json_integer((json_int_t)findings->rules_left_out));
	json_object_set_new(root, "left_out_why", um_nullable_text_json(findings->left_out_why));
	if (!root || json_object_set_new(root, "findings", all) ||
	    json_array_size(all) != findings->count)
		error = um_fail(UM_ENOMEM, "out of memory");
	else if (json_dumpf(root, out, JSON_INDENT(2)) || fputc('\n', out) == EOF)
		error = um_fail_errno(UM_EIO, "writing");
	json_decref(root);
	return error;
}
