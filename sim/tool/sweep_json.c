#include "sweep_command.h"

#include "sim/sweep/sweep_columns.h"
#include "trace/base/error.h"

#include <jansson.h>

static json_t *settings_of(const struct um_sweep_plan *plan, size_t which)
{
	json_t *all = json_object();

	for (size_t i = 0; i < plan->axis_count; i++)
		json_object_set_new(all, plan->axes[i].key,
				    json_string(um_sweep_plan_value(plan, which, i)));
	return all;
}

static json_t *figures_of(const struct um_sweep_outcome *outcome)
{
	json_t *all;

	if (!outcome->figures)
		return json_null();
	all = json_object();
	for (size_t i = 0; i < um_sweep_column_count; i++)
		json_object_set_new(all, um_sweep_columns[i].name,
				    json_integer((json_int_t)outcome->figures[i]));
	return all;
}

/* In effect; null where it was refused. */
static json_t *effect_of(const struct um_sweep_configuration *configuration)
{
	const struct um_policy *policy = configuration->policy;
	const struct um_evict_ops *order, *hypothetical;

	if (!policy)
		return json_null();
	order = policy->evict ? policy->evict : policy->driver->evict;
	hypothetical = um_policy_hypothetical_order(policy);
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:I, s:I, s:s?, s:s?, s:s}", "machine",
			 configuration->machine->name, "driver", policy->driver->name,
			 "driver_validated", policy->driver->validated, "xnack",
			 configuration->xnack, "xnack_source", configuration->xnack_source,
			 "page_bytes", (json_int_t)configuration->page_bytes, "memory_bytes",
			 (json_int_t)configuration->memory_bytes, "evict",
			 order ? order->name : NULL, "hypothetical",
			 hypothetical ? hypothetical->hypothetical : NULL, "policy_text",
			 configuration->policy_text);
}

static json_t *row_of(const struct um_sweep_command *sweep, size_t which)
{
	const struct um_sweep_configuration *configuration = &sweep->plan.configurations[which];
	const struct um_sweep_outcome *outcome = &sweep->outcomes[which];

	return json_pack("{s:I, s:s, s:o, s:s, s:s?, s:o, s:o}", "configuration",
			 (json_int_t)which + 1, "policy", configuration->from->name, "settings",
			 settings_of(&sweep->plan, which), "status",
			 um_sweep_status_word(outcome->status), "reason", outcome->reason,
			 "in_effect", effect_of(configuration), "figures", figures_of(outcome));
}

/* The number of the best configuration; null: none is done. */
static json_t *best_of(const struct um_sweep_command *sweep, size_t axis, const char *value)
{
	size_t best = um_sweep_best(sweep, axis, value);

	return best == UM_SWEEP_NONE ? json_null() : json_integer((json_int_t)best + 1);
}

static json_t *axes_of(const struct um_sweep_command *sweep)
{
	json_t *all = json_object();

	for (size_t axis = 0; axis < sweep->plan.axis_count; axis++) {
		const struct um_sweep_axis *of = &sweep->plan.axes[axis];
		json_t *values = json_array();

		for (size_t i = 0; i < of->count; i++)
			json_array_append_new(
				values, json_pack("{s:s, s:o}", "value", of->values[i].text, "best",
						  best_of(sweep, axis, of->values[i].text)));
		json_object_set_new(all, of->key, values);
	}
	return all;
}

static int add_note(void *context, const char *what, const char *why, int64_t count)
{
	return json_array_append_new(context, json_pack("{s:s, s:s, s:I}", "what", what, "why", why,
							"configurations", (json_int_t)count))
		       ? um_fail(UM_ENOMEM, "out of memory")
		       : 0;
}

int um_sweep_print_json(FILE *out, const struct um_sweep_command *sweep)
{
	json_t *rows = json_array(), *notes = json_array(), *all;
	int error = um_sweep_db_notes(sweep->db, add_note, notes), failed;

	for (size_t i = 0; i < sweep->plan.count; i++)
		json_array_append_new(rows, row_of(sweep, i));
	all = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "trace",
			sweep->facts.trace_path, "database", sweep->db_path, "origin", "modelled",
			"accesses", sweep->facts.accesses, "host_time", sweep->facts.host_time,
			"vary", axes_of(sweep), "best", best_of(sweep, UM_SWEEP_NONE, NULL),
			"not_simulated", notes, "configurations", rows);
	failed = !all || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(all);
	if (error)
		return error;
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}
