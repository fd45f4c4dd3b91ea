#include "render_diff.h"
#include "render_json.h"

#include "trace/base/error.h"

static const char *const units[] = {
	[UM_DIFF_COUNT] = "count", [UM_DIFF_BYTES] = "bytes", [UM_DIFF_NS] = "ns"};

/* Takes the value; false: there was no memory for it. */
static bool put(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

/* Only where both rows are there and may be compared. */
static json_t *change_json(const struct um_diff *diff, const struct um_diff_row *row,
			   enum um_diff_quantity quantity, bool relative)
{
	int64_t a = row->values[UM_DIFF_A].value[quantity];
	int64_t b = row->values[UM_DIFF_B].value[quantity];

	if (!um_diff_is_compared(diff, row, quantity) || (relative && a == 0))
		return json_null();
	return relative ? json_real(((double)b - (double)a) / (double)a) : json_integer(b - a);
}

static json_t *figure_json(const struct um_diff *diff, const struct um_diff_row *row,
			   enum um_diff_quantity quantity)
{
	const struct um_diff_quantity_info *info = &um_diff_quantities[quantity];
	json_t *object = json_object();

	if (put(object, "quantity", json_string(info->name)) &&
	    put(object, "unit", json_string(units[info->unit])) &&
	    put(object, "a", um_integer_json(row->values[UM_DIFF_A].value[quantity])) &&
	    put(object, "b", um_integer_json(row->values[UM_DIFF_B].value[quantity])) &&
	    put(object, "origin_a", um_nullable_text_json(diff->origins[UM_DIFF_A][quantity])) &&
	    put(object, "origin_b", um_nullable_text_json(diff->origins[UM_DIFF_B][quantity])) &&
	    put(object, "compared", json_boolean(um_diff_is_compared(diff, row, quantity))) &&
	    put(object, "why_not", um_nullable_text_json(diff->why_not[quantity])) &&
	    put(object, "change", change_json(diff, row, quantity, false)) &&
	    put(object, "relative", change_json(diff, row, quantity, true)))
		return object;
	json_decref(object);
	return NULL;
}

static json_t *figures_json(const struct um_diff *diff, const struct um_diff_row *row)
{
	json_t *array = json_array();

	for (int i = 0; i < UM_DIFF_QUANTITIES; i++)
		if (json_array_append_new(array,
					  figure_json(diff, row, (enum um_diff_quantity)i))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *kernel_json(const struct um_diff *diff, const struct um_diff_row *row)
{
	return json_pack("{s:o, s:o, s:o}", "a", um_nullable_text_json(row->names[UM_DIFF_A]), "b",
			 um_nullable_text_json(row->names[UM_DIFF_B]), "figures",
			 figures_json(diff, row));
}

static json_t *allocation_side_json(const struct um_diff_row *row, enum um_diff_side side)
{
	if (!row->names[side])
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "allocation", um_integer_json(row->ids[side]),
			 "name", um_text_json(row->names[side]), "kind",
			 um_nullable_text_json(row->kinds[side]), "bytes",
			 um_integer_json(row->bytes[side]));
}

static json_t *allocation_json(const struct um_diff *diff, const struct um_diff_row *row)
{
	return json_pack("{s:o, s:o, s:o}", "a", allocation_side_json(row, UM_DIFF_A), "b",
			 allocation_side_json(row, UM_DIFF_B), "figures", figures_json(diff, row));
}

static json_t *rows_json(const struct um_diff *diff, const struct um_diff_row *rows, size_t count,
			 json_t *(*row_json)(const struct um_diff *, const struct um_diff_row *))
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(array, row_json(diff, &rows[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *side_json(const struct um_diff *diff, enum um_diff_side side)
{
	json_t *object = json_object();
	bool good = put(object, "path", um_text_json(diff->paths[side]));

	for (size_t i = 0; i < diff->fact_count && good; i++)
		good = put(object, diff->facts[i].name,
			   um_nullable_text_json(diff->facts[i].values[side]));
	if (good)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *warnings_json(const struct um_diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->warning_count; i++)
		if (json_array_append_new(array, um_text_json(diff->warnings[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *diff_json(const struct um_diff *diff)
{
	char name[] = "";
	const struct um_diff_row total = {
		.names = {name, name},
		.values = {diff->totals[UM_DIFF_A], diff->totals[UM_DIFF_B]},
	};
	size_t kernels = diff->kernels.count - diff->has_other;
	json_t *object = json_object();

	if (put(object, "a", side_json(diff, UM_DIFF_A)) &&
	    put(object, "b", side_json(diff, UM_DIFF_B)) &&
	    put(object, "warnings", warnings_json(diff)) &&
	    put(object, "totals", figures_json(diff, &total)) &&
	    put(object, "kernels", rows_json(diff, diff->kernels.rows, kernels, kernel_json)) &&
	    put(object, "not_of_launches",
		diff->has_other ? figures_json(diff, &diff->kernels.rows[kernels]) : json_null()) &&
	    put(object, "allocations",
		rows_json(diff, diff->allocations.rows, diff->allocations.count, allocation_json)))
		return object;
	json_decref(object);
	return NULL;
}

int um_render_diff_json(FILE *out, const struct um_diff *diff)
{
	json_t *json = diff_json(diff);

	if (!json)
		return um_fail(UM_ENOMEM, "out of memory");
	int failed = json_dumpf(json, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(json);
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
