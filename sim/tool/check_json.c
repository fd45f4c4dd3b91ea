/* umsim check of one program, for programs. */
#include "check_command.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <stdlib.h>

/* What neither side tells has no entry. */
static json_t *figures_of(const struct um_check_row *row)
{
	json_t *all = json_object();

	for (int i = 0; i < UM_CHECK_QUANTITIES; i++)
		if (row->figures[i].is_predicted || row->figures[i].repetitions)
			json_object_set_new(all, um_check_quantities[i].name,
					    um_check_figure_json(&row->figures[i]));
	return all;
}

static json_t *rows_of(const struct um_check_rows *rows)
{
	json_t *all = json_array();

	for (size_t i = 0; i < rows->count; i++) {
		const struct um_check_row *row = &rows->rows[i];
		json_t *one = json_pack("{s:o}", "name", um_check_name_json(row->name));

		if (row->range)
			json_object_set_new(one, "range", um_check_name_json(row->range));
		json_object_set_new(one, "quantities", figures_of(row));
		json_array_append_new(all, one);
	}
	return all;
}

static json_t *measured_of(const struct um_check_result *result)
{
	json_t *all = json_array();

	for (size_t k = 0; k < result->arguments->against_count; k++) {
		const struct um_check_side *side = &result->measured[k];

		json_array_append_new(all,
				      json_pack("{s:o, s:o, s:I, s:I, s:b}", "trace",
						um_check_name_json(side->path), "device",
						um_check_name_json(side->card.name), "records_lost",
						(json_int_t)side->lost, "launches_not_recorded",
						(json_int_t)side->not_recorded, "ends_early",
						side->ends_early));
	}
	return all;
}

static json_t *notes_of(const struct um_check_comparison *comparison)
{
	json_t *all = json_array();

	for (size_t i = 0; i < comparison->note_count; i++)
		json_array_append_new(all, um_check_name_json(comparison->notes[i]));
	return all;
}

static json_t *call_of(const struct um_check_side *side, size_t call)
{
	char *text = call == SIZE_MAX ? NULL : um_check_call_text(side, call);
	json_t *json = text ? um_check_name_json(text) : json_null();

	free(text);
	return json;
}

/* One for each measured trace that is of another program. */
static json_t *differences_of(const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	json_t *all = json_array();

	for (size_t k = 0; k < comparison->difference_count; k++) {
		const struct um_check_difference *one = &comparison->differences[k];

		if (um_check_calls_differ(one))
			json_array_append_new(
				all, json_pack("{s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "trace",
					       um_check_name_json(result->measured[k].path),
					       "calls_of_accesses", (json_int_t)one->calls_here,
					       "calls_measured", (json_int_t)one->calls_there,
					       "only_in_accesses", (json_int_t)one->only_here,
					       "only_measured", (json_int_t)one->only_there,
					       "at_least", one->is_least, "first_in_accesses",
					       call_of(result->predicted, one->first_here),
					       "first_measured",
					       call_of(&result->measured[k], one->first_there)));
	}
	return all;
}

static json_t *warnings_of(const struct um_check_model *model)
{
	json_t *all = json_array();

	for (size_t i = 0; i < model->warning_count; i++)
		json_array_append_new(all, um_check_name_json(model->warnings[i]));
	return all;
}

static json_t *verdict_of(const struct um_check_comparison *comparison)
{
	char *line;
	json_t *json;

	if (um_check_verdict(&line, comparison))
		return json_null();
	json = json_string(line);
	free(line);
	return json;
}

int um_check_print_json(FILE *out, const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	const struct um_check_model *model = result->model;
	json_t *all = json_pack(
		"{s:o, s:I, s:o, s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, "
		"s:I, s:o}",
		"accesses", um_check_name_json(result->predicted->path), "launches_not_recorded",
		(json_int_t)result->predicted->not_recorded, "against", measured_of(result),
		"driver", model->driver, "machine", model->machine, "policy",
		model->policy ? um_check_name_json(model->policy) : json_null(), "driver_validated",
		model->validated, "same_program", !comparison->is_other, "differences",
		differences_of(result), "warnings", warnings_of(model), "total_of",
		comparison->is_total_of_ranges ? "ranges that both have" : "run", "total",
		figures_of(&comparison->total), "ranges", rows_of(&comparison->ranges), "kernels",
		rows_of(&comparison->kernels), "allocations", rows_of(&comparison->allocations),
		"notes", notes_of(comparison), "notes_left_out",
		(json_int_t)comparison->notes_left_out, "in_short", verdict_of(comparison));
	int failed = !all || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(all);
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}
