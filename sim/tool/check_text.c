/* umsim check of one program, for people. */
#include "check_command.h"

#include "trace/base/text_table.h"

#include <stdlib.h>
#include <string.h>

/* Kernels have long names. */
#define NAME_MAX_SHOWN 48
/* Launches and allocations may be many. */
#define ROWS_MAX_SHOWN 100

/* --- cells --- */

/* What a row of the total says where a quantity is not compared. */
static const char *why_not(const struct um_check_figure *figure)
{
	if (figure->is_predicted && figure->repetitions)
		return "records were lost";
	return figure->is_predicted ? "not measured" : "not told apart by the model";
}

static void value_cell(struct um_text_table *table, enum um_check_quantity quantity, bool is_there,
		       double value)
{
	char text[48];

	um_text_table_cell(table, "%s",
			   is_there ? um_check_format(text, sizeof(text),
						      um_check_quantities[quantity].unit, value)
				    : "-");
}

static void spread_cell(struct um_text_table *table, enum um_check_quantity quantity,
			const struct um_check_figure *figure)
{
	enum um_check_unit unit = um_check_quantities[quantity].unit;
	char least[48], most[48];

	if (figure->repetitions < 2)
		um_text_table_cell(table, "-");
	else if (figure->least == figure->most)
		um_text_table_cell(table, "none");
	else
		um_text_table_cell(table, "%s to %s",
				   um_check_format(least, sizeof(least), unit, figure->least),
				   um_check_format(most, sizeof(most), unit, figure->most));
}

/* --- in total --- */

static bool is_worth_a_row(enum um_check_quantity quantity, const struct um_check_figure *figure)
{
	if (!figure->is_predicted && !figure->repetitions)
		return false;
	return quantity < UM_CHECK_MAIN_QUANTITIES || figure->predicted > 0 ||
	       (figure->repetitions && figure->measured > 0);
}

static void add_total(struct um_text_table *table, const struct um_check_row *row)
{
	for (int i = 0; i < UM_CHECK_QUANTITIES; i++) {
		const struct um_check_figure *figure = &row->figures[i];
		enum um_check_quantity quantity = (enum um_check_quantity)i;
		char text[32];

		if (!is_worth_a_row(quantity, figure))
			continue;
		um_text_table_cell(table, "%s", um_check_quantities[i].title);
		value_cell(table, quantity, figure->is_predicted, figure->predicted);
		value_cell(table, quantity, figure->repetitions > 0, figure->measured);
		spread_cell(table, quantity, figure);
		um_text_table_cell(table, "%s",
				   um_check_is_compared(figure)
					   ? um_check_error_text(text, sizeof(text), figure)
					   : why_not(figure));
	}
}

static int print_total(FILE *out, const struct um_check_result *result)
{
	static const struct um_text_column columns[] = {
		{"in total", UM_ALIGN_LEFT},  {"predicted\n(modelled)", UM_ALIGN_RIGHT},
		{"measured", UM_ALIGN_RIGHT}, {"least to most", UM_ALIGN_RIGHT},
		{"error", UM_ALIGN_RIGHT},    {NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	add_total(table, &result->comparison->total);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- errors by range, kernel, allocation --- */

/* Rows, and which quantities have a column: bit n, quantity n. */
struct shown {
	const struct um_check_rows *rows;
	uint32_t quantities;
};

/* Something is compared that is not 0 on both sides. */
static bool has_something(const struct um_check_figure *figure)
{
	return um_check_is_compared(figure) && (figure->predicted > 0 || figure->measured > 0);
}

/* A quantity that no row of these has a figure of, or only zeros, has no column. */
static uint32_t find_shown(const struct um_check_rows *rows)
{
	uint32_t shown = 0;

	for (size_t i = 0; i < rows->count; i++)
		for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
			if (has_something(&rows->rows[i].figures[q]))
				shown |= 1u << q;
	return shown;
}

static bool is_shown(const struct shown *shown, int quantity)
{
	return shown->quantities >> quantity & 1;
}

/* Nothing that is compared differs. */
static bool is_exact(const struct um_check_row *row)
{
	for (int i = 0; i < UM_CHECK_MAIN_QUANTITIES; i++)
		if (um_check_is_compared(&row->figures[i]) && um_check_error(&row->figures[i]) != 0)
			return false;
	return true;
}

static void add_row(struct um_text_table *table, const struct shown *shown,
		    const struct um_check_row *row)
{
	char text[32];

	um_text_table_cell(table, "%.*s", NAME_MAX_SHOWN, row->name);
	if (shown->rows->rows[0].range)
		um_text_table_cell(table, "%s", row->range ? row->range : "");
	for (int i = 0; i < UM_CHECK_MAIN_QUANTITIES; i++)
		if (is_shown(shown, i))
			um_text_table_cell(
				table, "%s",
				um_check_error_text(text, sizeof(text), &row->figures[i]));
}

static void make_columns(struct um_text_column *columns, const struct shown *shown,
			 const char *title)
{
	size_t count = 0;

	columns[count++] = (struct um_text_column){title, UM_ALIGN_LEFT};
	if (shown->rows->rows[0].range)
		columns[count++] = (struct um_text_column){"in range", UM_ALIGN_LEFT};
	for (int i = 0; i < UM_CHECK_MAIN_QUANTITIES; i++)
		if (is_shown(shown, i))
			columns[count++] = (struct um_text_column){um_check_quantities[i].head,
								   UM_ALIGN_RIGHT};
	columns[count] = (struct um_text_column){NULL, UM_ALIGN_LEFT};
}

/* Those that are exact are counted only, and so is what is more than a page. */
static void add_rows(struct um_text_table *table, const struct shown *shown, size_t most)
{
	const struct um_check_rows *rows = shown->rows;
	size_t exact = 0, printed = 0;

	for (size_t n = 0; n < rows->count; n++)
		if (is_exact(&rows->rows[n]))
			exact++;
		else if (printed < most) {
			add_row(table, shown, &rows->rows[n]);
			printed++;
		}
	if (exact)
		um_text_table_note(table, "%zu of %zu without any error are not shown", exact,
				   rows->count);
	if (rows->count - exact > printed)
		um_text_table_note(table, "%zu more with errors: --format=json has them",
				   rows->count - exact - printed);
}

static int print_rows(FILE *out, const struct um_check_rows *rows, const char *title, size_t most)
{
	struct um_text_column columns[UM_CHECK_MAIN_QUANTITIES + 3];
	const struct shown shown = {rows, find_shown(rows)};
	struct um_text_table *table;
	int error;

	make_columns(columns, &shown, title);
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	add_rows(table, &shown, most);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- together --- */

/* What makes the tables below mean something else; before them. */
static int print_warnings(FILE *out, const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	const struct um_check_model *model = result->model;
	bool is_any = model->warning_count > 0;
	int error = 0;

	for (size_t k = 0; k < comparison->difference_count && !error; k++) {
		char *line;

		if (!um_check_calls_differ(&comparison->differences[k]))
			continue;
		error = um_check_difference_line(&line, comparison, result->predicted,
						 result->measured, k);
		if (error)
			break;
		um_text_print_wrapped(out, line, 0, 2);
		free(line);
		is_any = true;
	}
	for (size_t i = 0; i < model->warning_count; i++) {
		fputs("warning: ", out);
		um_text_print_wrapped(out, model->warnings[i], 0, 2);
	}
	if (is_any)
		fputc('\n', out);
	return error;
}

/* "", or that they count waves otherwise. */
static const char *waves_text(char *buffer, size_t capacity, const struct um_check_result *result)
{
	uint64_t here = result->predicted->card.wave_lanes;
	uint64_t there = result->measured->card.wave_lanes;

	*buffer = '\0';
	if (here && there && here != there)
		snprintf(buffer, capacity, " (in waves of %llu lanes, the card's have %llu)",
			 (unsigned long long)here, (unsigned long long)there);
	return buffer;
}

static int print_verdict(FILE *out, const struct um_check_result *result)
{
	char *line;
	int error = um_check_verdict(&line, result->comparison);

	if (error)
		return error;
	um_text_print_wrapped(out, line, 0, 2);
	free(line);
	return 0;
}

/* Launches that were not selected are all the same among those that both sides have. */
static void print_not_recorded(FILE *out, const struct um_check_side *side, const char *so)
{
	char line[1024];

	if (!side->not_recorded)
		return;
	snprintf(line, sizeof(line),
		 "of %s %llu of %zu launches were not selected for recording: %s", side->path,
		 (unsigned long long)side->not_recorded, side->launch_count, so);
	um_text_print_wrapped(out, line, 0, 2);
}

static void print_notes(FILE *out, const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	const struct um_check_model *model = result->model;
	char line[1024], waves[96];

	snprintf(line, sizeof(line),
		 "predicted: driver %s on machine %s%s%s, accesses of %s%s; model %s",
		 model->driver, model->machine, model->policy ? ", policy " : "",
		 model->policy ? model->policy : "", result->predicted->path,
		 waves_text(waves, sizeof(waves), result), model->validated);
	um_text_print_wrapped(out, line, 0, 2);
	snprintf(line, sizeof(line), "measured: %s, %zu %s", result->measured->card.name,
		 result->arguments->against_count,
		 result->arguments->against_count == 1 ? "run, so that its spread is not known"
						       : "runs, their median");
	um_text_print_wrapped(out, line, 0, 2);
	um_text_print_wrapped(
		out,
		comparison->is_other
			? "error: of the predicted; \"=\" none, \"~\" within least to most, \"-\" not "
			  "compared, \"!\" of another program than was measured"
			: "error: of the predicted; \"=\" none, \"~\" within least to most, \"-\" not "
			  "compared",
		0, 2);
	if (result->predicted->has_policy)
		um_text_print_wrapped(
			out,
			"the policy's advice and prefetches are not those of the accesses: "
			"whether the measured run asked for the same is not looked at",
			0, 2);
	print_not_recorded(
		out, result->predicted,
		"in the prediction they touch nothing, and where pages are after them is "
		"not known");
	for (size_t k = 0; k < result->arguments->against_count; k++) {
		const struct um_check_side *side = &result->measured[k];

		print_not_recorded(out, side, "what the driver did for them is not in it");
		if (side->lost) {
			snprintf(line, sizeof(line), "%s lacks %llu records of what happened",
				 side->path, (unsigned long long)side->lost);
			um_text_print_wrapped(out, line, 0, 2);
		}
		if (side->ends_early) {
			snprintf(line, sizeof(line), "%s ends before its program did", side->path);
			um_text_print_wrapped(out, line, 0, 2);
		}
	}
	for (size_t i = 0; i < comparison->note_count; i++)
		um_text_print_wrapped(out, comparison->notes[i], 0, 2);
	if (comparison->notes_left_out)
		fprintf(out, "and %zu more that the two differ in\n", comparison->notes_left_out);
}

int um_check_print_text(FILE *out, const struct um_check_result *result)
{
	const struct um_check_comparison *comparison = result->comparison;
	const struct {
		const struct um_check_rows *rows;
		const char *title;
		size_t most;
	} tables[] = {{&comparison->ranges, "errors by\nrange", SIZE_MAX},
		      {&comparison->kernels, "errors by\nkernel", ROWS_MAX_SHOWN},
		      {&comparison->allocations, "errors by\nallocation", ROWS_MAX_SHOWN}};
	int error = print_warnings(out, result);

	if (!error)
		error = print_total(out, result);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++) {
		if (!tables[i].rows->count)
			continue;
		fputc('\n', out);
		error = print_rows(out, tables[i].rows, tables[i].title, tables[i].most);
	}
	fputc('\n', out);
	print_notes(out, result);
	return error ? error : print_verdict(out, result);
}
