#include "render_diff.h"
#include "summary_cells.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdio.h>
#include <string.h>

enum { TITLE_BYTES = 40 };

static char *format_value(char text[32], enum um_diff_unit unit, int64_t value)
{
	if (value == UM_NULL) {
		strcpy(text, "-");
		return text;
	}
	switch (unit) {
	case UM_DIFF_BYTES:
		return um_format_bytes(text, 32, (uint64_t)value);
	case UM_DIFF_NS:
		return um_format_duration(text, 32, (uint64_t)value);
	case UM_DIFF_COUNT:
		break;
	}
	return um_format_count(text, 32, (uint64_t)value);
}

/* --- what the two are --- */

static void fact_cells(struct um_text_table *table, const struct um_diff_fact *fact)
{
	const char *a = fact->values[UM_DIFF_A], *b = fact->values[UM_DIFF_B];
	bool is_same = a && b && strcmp(a, b) == 0;

	um_text_table_cell(table, "%s", fact->title);
	if (fact->is_long) {
		um_text_table_cell(table, "%s", a ? "told" : "-");
		um_text_table_cell(table, "%s",
				   !b	     ? "-"
				   : is_same ? "the same"
				   : a	     ? "other than A's"
					     : "told");
		return;
	}
	um_cell_name(table, a ? a : "-", a ? strlen(a) : 1);
	if (is_same)
		um_text_table_cell(table, "the same");
	else
		um_cell_name(table, b ? b : "-", b ? strlen(b) : 1);
}

static int print_facts(FILE *out, const struct um_diff *diff)
{
	static const struct um_text_column columns[] = {
		{"", UM_ALIGN_LEFT}, {"A", UM_ALIGN_LEFT}, {"B", UM_ALIGN_LEFT}, {0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	um_text_table_cell(table, "file");
	um_text_table_cell(table, "%s", diff->paths[UM_DIFF_A]);
	um_text_table_cell(table, "%s", diff->paths[UM_DIFF_B]);
	for (size_t i = 0; i < diff->fact_count; i++)
		if (diff->facts[i].values[UM_DIFF_A] || diff->facts[i].values[UM_DIFF_B])
			fact_cells(table, &diff->facts[i]);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

static void print_warnings(FILE *out, const struct um_diff *diff)
{
	if (diff->warning_count)
		fputc('\n', out);
	for (size_t i = 0; i < diff->warning_count; i++)
		um_text_print_wrapped(out, diff->warnings[i], 0, 2);
}

/* --- totals --- */

static bool is_something(int64_t value)
{
	return value != UM_NULL && value != 0;
}

static bool is_shown(const struct um_diff *diff, enum um_diff_quantity quantity)
{
	return is_something(diff->totals[UM_DIFF_A].value[quantity]) ||
	       is_something(diff->totals[UM_DIFF_B].value[quantity]);
}

static void change_cell(struct um_text_table *table, const struct um_diff *diff,
			enum um_diff_quantity quantity)
{
	int64_t a = diff->totals[UM_DIFF_A].value[quantity];
	int64_t b = diff->totals[UM_DIFF_B].value[quantity];
	char text[32];

	if (diff->why_not[quantity] || a == UM_NULL || b == UM_NULL) {
		um_text_table_cell(table, "not compared");
		return;
	}
	if (a == b) {
		um_text_table_cell(table, "=");
		return;
	}
	format_value(text, um_diff_quantities[quantity].unit, b > a ? b - a : a - b);
	if (a == 0)
		um_text_table_cell(table, "+%s", text);
	else
		um_text_table_cell(table, "%c%s (%+.3g %%)", b > a ? '+' : '-', text,
				   100 * ((double)b - (double)a) / (double)a);
}

static void total_cells(struct um_text_table *table, const struct um_diff *diff,
			enum um_diff_quantity quantity)
{
	const struct um_diff_quantity_info *info = &um_diff_quantities[quantity];
	char text[32];

	um_text_table_cell(table, "%s", info->title);
	for (size_t side = 0; side < UM_DIFF_SIDES; side++) {
		const char *origin = diff->origins[side][quantity];

		um_text_table_cell(
			table, "%s",
			format_value(text, info->unit, diff->totals[side].value[quantity]));
		um_text_table_cell(table, "%s", !info->record ? "" : origin ? origin : "not told");
	}
	change_cell(table, diff, quantity);
}

/* Whether a quantity before this one has the same reason. */
static bool is_told(const struct um_diff *diff, enum um_diff_quantity quantity)
{
	for (enum um_diff_quantity i = 0; i < quantity; i++)
		if (diff->why_not[i] && is_shown(diff, i) &&
		    strcmp(diff->why_not[i], diff->why_not[quantity]) == 0)
			return true;
	return false;
}

static void note_reason(struct um_text_table *table, const struct um_diff *diff,
			enum um_diff_quantity first)
{
	char titles[UM_DIFF_QUANTITIES * TITLE_BYTES] = "";
	size_t used = 0;

	for (enum um_diff_quantity i = first; i < UM_DIFF_QUANTITIES; i++)
		if (diff->why_not[i] && is_shown(diff, i) &&
		    strcmp(diff->why_not[i], diff->why_not[first]) == 0)
			used += (size_t)snprintf(titles + used, sizeof(titles) - used, "%s%s",
						 used ? ", " : "", um_diff_quantities[i].title);
	um_text_table_note(table, "not compared, since %s: %s", diff->why_not[first], titles);
}

static void note_reasons(struct um_text_table *table, const struct um_diff *diff)
{
	for (enum um_diff_quantity i = 0; i < UM_DIFF_QUANTITIES; i++)
		if (diff->why_not[i] && is_shown(diff, i) && !is_told(diff, i))
			note_reason(table, diff, i);
}

static int print_totals(FILE *out, const struct um_diff *diff)
{
	static const struct um_text_column columns[] = {{"in total", UM_ALIGN_LEFT},
							{"A", UM_ALIGN_RIGHT},
							{"", UM_ALIGN_LEFT},
							{"B", UM_ALIGN_RIGHT},
							{"", UM_ALIGN_LEFT},
							{"A to B", UM_ALIGN_RIGHT},
							{0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (int i = 0; i < UM_DIFF_QUANTITIES; i++)
		if (is_shown(diff, (enum um_diff_quantity)i))
			total_cells(table, diff, (enum um_diff_quantity)i);
	note_reasons(table, diff);
	fputc('\n', out);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- rows --- */

/* Whether anything in a row differs, or one side lacks it. */
static bool has_difference(const struct um_diff_row *row)
{
	if (!row->names[UM_DIFF_A] || !row->names[UM_DIFF_B])
		return true;
	if (row->kinds[UM_DIFF_A] != row->kinds[UM_DIFF_B] ||
	    row->bytes[UM_DIFF_A] != row->bytes[UM_DIFF_B])
		return true;
	return memcmp(&row->values[UM_DIFF_A], &row->values[UM_DIFF_B],
		      sizeof(row->values[UM_DIFF_A])) != 0;
}

static bool has_differences(const struct um_diff_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (has_difference(&rows->rows[i]))
			return true;
	return false;
}

static bool is_used(const struct um_diff_rows *rows, enum um_diff_quantity quantity)
{
	for (size_t i = 0; i < rows->count; i++)
		for (size_t side = 0; side < UM_DIFF_SIDES; side++)
			if (is_something(rows->rows[i].values[side].value[quantity]))
				return true;
	return false;
}

struct row_table {
	struct um_text_column columns[UM_DIFF_QUANTITIES + 4];
	char titles[UM_DIFF_QUANTITIES][TITLE_BYTES];
	enum um_diff_quantity quantities[UM_DIFF_QUANTITIES];
	size_t count;
	bool has_kinds;
};

static void choose_columns(struct row_table *of, const struct um_diff *diff,
			   const struct um_diff_rows *rows, const char *title, bool has_kinds)
{
	size_t column = 0;

	*of = (struct row_table){.has_kinds = has_kinds};
	of->columns[column++] = (struct um_text_column){title, UM_ALIGN_LEFT};
	of->columns[column++] = (struct um_text_column){"", UM_ALIGN_LEFT};
	if (has_kinds)
		of->columns[column++] = (struct um_text_column){"kind", UM_ALIGN_LEFT};
	for (int i = 0; i < UM_DIFF_QUANTITIES; i++) {
		enum um_diff_quantity quantity = (enum um_diff_quantity)i;

		if (!is_used(rows, quantity))
			continue;
		snprintf(of->titles[i], TITLE_BYTES, "%s%s", um_diff_quantities[i].head,
			 diff->why_not[i] ? "*" : "");
		of->columns[column++] = (struct um_text_column){of->titles[i], UM_ALIGN_RIGHT};
		of->quantities[of->count++] = quantity;
	}
}

static void side_cells(struct um_text_table *table, const struct row_table *of,
		       const struct um_diff_row *row, enum um_diff_side side)
{
	const char *other = row->names[side == UM_DIFF_A ? UM_DIFF_B : UM_DIFF_A];
	const char *name = *row->names[side] ? row->names[side] : "(no launch)";
	bool is_only = !other;
	char text[32];

	if (side == UM_DIFF_B && !is_only && strcmp(row->names[side], other) == 0)
		um_text_table_cell(table, "%s", "");
	else
		um_cell_name(table, name, strlen(name));
	um_text_table_cell(table, "%s%s", side == UM_DIFF_A ? "A" : "B", is_only ? " only" : "");
	if (of->has_kinds)
		um_text_table_cell(table, "%s", row->kinds[side] ? row->kinds[side] : "?");
	for (size_t i = 0; i < of->count; i++)
		um_text_table_cell(table, "%s",
				   format_value(text, um_diff_quantities[of->quantities[i]].unit,
						row->values[side].value[of->quantities[i]]));
}

static void note_marks(struct um_text_table *table, const struct um_diff *diff,
		       const struct row_table *of)
{
	for (size_t i = 0; i < of->count; i++)
		if (diff->why_not[of->quantities[i]]) {
			um_text_table_note(table, "* not compared");
			return;
		}
}

static void fill(struct um_text_table *table, const struct row_table *of,
		 const struct um_diff *diff, const struct um_diff_rows *rows, uint64_t limit)
{
	size_t shown = 0, same = 0, left_out = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct um_diff_row *row = &rows->rows[i];

		if (!has_difference(row)) {
			same++;
			continue;
		}
		if (limit && shown == limit) {
			left_out++;
			continue;
		}
		shown++;
		for (size_t side = 0; side < UM_DIFF_SIDES; side++)
			if (row->names[side])
				side_cells(table, of, row, (enum um_diff_side)side);
	}
	if (same)
		um_text_table_note(table, "%zu alike in both %s not shown", same,
				   same == 1 ? "is" : "are");
	if (left_out)
		um_text_table_note(table, "%zu more (--rows=0 shows all)", left_out);
	note_marks(table, diff, of);
}

static int print_rows(FILE *out, const struct um_diff *diff, const struct um_diff_rows *rows,
		      const char *title, bool has_kinds, uint64_t limit)
{
	struct um_text_table *table;
	struct row_table of;
	int error;

	if (!rows->count)
		return 0;
	if (!has_differences(rows)) {
		fprintf(out, "\n%ss: %zu, alike in both\n", title, rows->count);
		return 0;
	}
	choose_columns(&of, diff, rows, title, has_kinds);
	error = um_text_table_create(&table, of.columns);
	if (error)
		return error;
	fill(table, &of, diff, rows, limit);
	fputc('\n', out);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

int um_render_diff_text(FILE *out, const struct um_diff *diff, uint64_t rows)
{
	int error = print_facts(out, diff);

	print_warnings(out, diff);
	if (!error)
		error = print_totals(out, diff);
	if (!error)
		error = print_rows(out, diff, &diff->kernels, "kernel", false, rows);
	if (!error)
		error = print_rows(out, diff, &diff->allocations, "allocation", true, rows);
	if (!error && ferror(out))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}
