#include "verify_table.h"

#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rows --- */

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(const struct um_verify_run *runs, size_t count, enum um_verify_figure figure)
{
	double values[UM_VERIFY_REPEATS_MAX];

	for (size_t i = 0; i < count; i++)
		values[i] = runs[i].value[figure];
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Of nothing to something there is no part: as much as there is then. */
static double change_of(double before, double after)
{
	if (before == after)
		return 0;
	return before > 0 ? (after - before) / before : 1;
}

static bool is_known(const struct um_verify *verify, enum um_verify_figure figure)
{
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < verify->repeats; i++)
			if (verify->achieved[side][i].value[figure] < 0)
				return false;
	/* A card tells of fewer faults than pages that faulted: not the model's count. */
	return !verify->measured ||
	       (figure != UM_VERIFY_DEVICE_FAULTS && figure != UM_VERIFY_HOST_FAULTS);
}

void um_verify_row(struct um_verify_row *row, const struct um_verify *verify,
		   enum um_verify_figure figure)
{
	double tolerance = figure == UM_VERIFY_TIME ? verify->time_tolerance : verify->tolerance;
	double far;

	*row = (struct um_verify_row){
		.is_known = is_known(verify, figure),
		.predicted_before = verify->predicted[0].value[figure],
		.predicted_after = verify->predicted[1].value[figure],
		.before = median(verify->achieved[0], verify->repeats, figure),
		.after = median(verify->achieved[1], verify->repeats, figure),
	};
	row->predicted_change = change_of(row->predicted_before, row->predicted_after);
	row->change = change_of(row->before, row->after);
	row->least = row->most = row->change;
	for (size_t i = 0; i < verify->repeats; i++) {
		double one = change_of(row->before, verify->achieved[1][i].value[figure]);
		double other = change_of(verify->achieved[0][i].value[figure], row->after);

		row->least = fmin(row->least, fmin(one, other));
		row->most = fmax(row->most, fmax(one, other));
	}
	far = row->predicted_change > row->most	   ? row->predicted_change - row->most
	      : row->predicted_change < row->least ? row->least - row->predicted_change
						   : 0;
	row->missed_by = row->is_known ? far : 0;
	row->is_missed = row->missed_by > tolerance;
}

bool um_verify_is_missed(const struct um_verify *verify)
{
	struct um_verify_row row;

	for (int figure = 0; figure < UM_VERIFY_FIGURES; figure++) {
		um_verify_row(&row, verify, (enum um_verify_figure)figure);
		if (row.is_missed)
			return true;
	}
	return false;
}

/* --- text --- */

static const char *value_text(char text[32], enum um_verify_figure figure, double value)
{
	if (figure == UM_VERIFY_TIME)
		return um_format_duration(text, 32, (uint64_t)value);
	if (figure == UM_VERIFY_TO_DEVICE || figure == UM_VERIFY_TO_HOST)
		return um_format_bytes(text, 32, (uint64_t)value);
	return um_format_count(text, 32, (uint64_t)value);
}

static void put_change(struct um_text_table *table, double change)
{
	if (fabs(change) < 0.0005)
		um_text_table_cell(table, "=");
	else
		um_text_table_cell(table, "%+.1f %%", 100 * change);
}

static void put_row(struct um_text_table *table, const struct um_verify *verify,
		    enum um_verify_figure figure)
{
	struct um_verify_row row;
	char text[32];

	um_verify_row(&row, verify, figure);
	um_text_table_cell(table, "%s", um_verify_names[figure]);
	um_text_table_cell(table, "%s", value_text(text, figure, row.predicted_before));
	um_text_table_cell(table, "%s", value_text(text, figure, row.predicted_after));
	put_change(table, row.predicted_change);
	if (!row.is_known) {
		for (int i = 0; i < 5; i++)
			um_text_table_cell(table, "-");
		return;
	}
	um_text_table_cell(table, "%s", value_text(text, figure, row.before));
	um_text_table_cell(table, "%s", value_text(text, figure, row.after));
	put_change(table, row.change);
	if (row.most - row.least < 0.0005)
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, "%+.1f to %+.1f %%", 100 * row.least, 100 * row.most);
	if (row.is_missed)
		um_text_table_cell(table, "missed by %.1f %%", 100 * row.missed_by);
	else
		um_text_table_cell(table, "as predicted");
}

int um_verify_print(FILE *out, const struct um_verify *verify)
{
	static const struct um_text_column columns[] = {
		{"", UM_ALIGN_LEFT},
		{"predicted\nwithout", UM_ALIGN_RIGHT},
		{"\nunder it", UM_ALIGN_RIGHT},
		{"\nchange", UM_ALIGN_RIGHT},
		{"achieved\nwithout", UM_ALIGN_RIGHT},
		{"\nunder it", UM_ALIGN_RIGHT},
		{"\nchange", UM_ALIGN_RIGHT},
		{"\nleast to most", UM_ALIGN_RIGHT},
		{"\n", UM_ALIGN_LEFT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (int figure = 0; figure < UM_VERIFY_FIGURES; figure++)
		put_row(table, verify, (enum um_verify_figure)figure);
	um_text_table_note(table, "%s, without %s and under it, %zu times each: the median",
			   verify->command, verify->policy, verify->repeats);
	um_text_table_note(
		table, "%s",
		verify->measured
			? "predicted by the model from the accesses; achieved is measured on the GPU, the "
			  "time from the first call to the last; of faults a GPU tells fewer than there "
			  "are, and of accesses in place nothing: neither is compared"
			: "predicted by the model from the run without it; achieved is the same model's "
			  "account of what the program then did: no hardware took part");
	um_text_table_note(
		table,
		"missed: the predicted change lies outside the achieved ones by more than %.3g %%, of "
		"time %.3g %%",
		100 * verify->tolerance, 100 * verify->time_tolerance);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- JSON --- */

static json_t *runs_json(const struct um_verify *verify, int side, int figure)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < verify->repeats; i++)
		json_array_append_new(
			runs, json_integer((json_int_t)verify->achieved[side][i].value[figure]));
	return runs;
}

static json_t *figure_json(const struct um_verify *verify, int figure)
{
	struct um_verify_row row;

	um_verify_row(&row, verify, (enum um_verify_figure)figure);
	json_t *json = json_pack("{s:{s:I,s:I,s:f},s:b}", "predicted", "without",
				 (json_int_t)row.predicted_before, "under",
				 (json_int_t)row.predicted_after, "change", row.predicted_change,
				 "missed", row.is_missed);
	if (row.is_known)
		json_object_set_new(json, "achieved",
				    json_pack("{s:o,s:o,s:f,s:f,s:f,s:f}", "without",
					      runs_json(verify, 0, figure), "under",
					      runs_json(verify, 1, figure), "change", row.change,
					      "least", row.least, "most", row.most, "missed_by",
					      row.missed_by));
	return json;
}

int um_verify_print_json(FILE *out, const struct um_verify *verify)
{
	json_t *figures = json_object();

	for (int figure = 0; figure < UM_VERIFY_FIGURES; figure++)
		json_object_set_new(figures, um_verify_keys[figure], figure_json(verify, figure));
	json_t *all = json_pack(
		"{s:s,s:s,s:s,s:I,s:f,s:f,s:b,s:o}", "command", verify->command, "policy",
		verify->policy, "achieved", verify->measured ? "measured" : "modelled", "repeats",
		(json_int_t)verify->repeats, "tolerance", verify->tolerance, "time_tolerance",
		verify->time_tolerance, "missed", um_verify_is_missed(verify), "figures", figures);
	int failed = !all || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(all);
	return failed ? um_fail(UM_EIO, "cannot write JSON") : 0;
}
