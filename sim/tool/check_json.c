/* umsim check of one program, for programs. */
#include "check_command.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <math.h>

static json_t *number(bool is_there, double value)
{
	if (!is_there || !isfinite(value))
		return json_null();
	return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value)
							     : json_real(value);
}

static json_t *figure_of(const struct um_check_figure *figure)
{
	bool is_compared = um_check_is_compared(figure), is_measured = figure->repetitions > 0;

	return json_pack(
		"{s:o, s:s?, s:o, s:s?, s:o, s:o, s:I, s:o, s:o}", "predicted",
		number(figure->is_predicted, figure->predicted), "predicted_origin",
		figure->is_predicted ? "modelled" : NULL, "measured",
		number(is_measured, figure->measured), "measured_origin", figure->origin, "least",
		number(is_measured, figure->least), "most", number(is_measured, figure->most),
		"repetitions", (json_int_t)figure->repetitions, "error",
		number(is_compared, is_compared ? um_check_error(figure) : 0), "within_spread",
		is_compared ? json_boolean(um_check_is_within(figure)) : json_null());
}

/* What neither side tells has no entry. */
static json_t *figures_of(const struct um_check_row *row)
{
	json_t *all = json_object();

	for (int i = 0; i < UM_CHECK_QUANTITIES; i++)
		if (row->figures[i].is_predicted || row->figures[i].repetitions)
			json_object_set_new(all, um_check_quantities[i].name,
					    figure_of(&row->figures[i]));
	return all;
}

/* Names come from traces: what is not UTF-8 reads "?" instead. */
static json_t *name_of(const char *name)
{
	json_t *text = json_string(name);

	return text ? text : json_string("?");
}

static json_t *rows_of(const struct um_check_rows *rows)
{
	json_t *all = json_array();

	for (size_t i = 0; i < rows->count; i++) {
		const struct um_check_row *row = &rows->rows[i];
		json_t *one = json_pack("{s:o}", "name", name_of(row->name));

		if (row->range)
			json_object_set_new(one, "range", name_of(row->range));
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

		json_array_append_new(
			all, json_pack("{s:o, s:o, s:I, s:b}", "trace", name_of(side->path),
				       "device", name_of(side->device_name), "records_lost",
				       (json_int_t)side->lost, "ends_early", side->ends_early));
	}
	return all;
}

static json_t *notes_of(const struct um_check_comparison *comparison)
{
	json_t *all = json_array();

	for (size_t i = 0; i < comparison->note_count; i++)
		json_array_append_new(all, name_of(comparison->notes[i]));
	return all;
}

int um_check_print_json(FILE *out, const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	const struct um_check_model *model = result->model;
	json_t *all =
		json_pack("{s:o, s:o, s:s, s:s, s:s?, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I}",
			  "accesses", name_of(result->predicted->path), "against",
			  measured_of(result), "driver", model->driver, "machine", model->machine,
			  "policy", model->policy, "driver_validated", model->validated, "total_of",
			  comparison->is_total_of_ranges ? "ranges that both have" : "run", "total",
			  figures_of(&comparison->total), "ranges", rows_of(&comparison->ranges),
			  "kernels", rows_of(&comparison->kernels), "allocations",
			  rows_of(&comparison->allocations), "notes", notes_of(comparison),
			  "notes_left_out", (json_int_t)comparison->notes_left_out);
	int failed = !all || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(all);
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}
