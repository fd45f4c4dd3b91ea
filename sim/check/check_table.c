#include "check_table.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of times.tsv, behind the name: all of it, and of that its GPU steps. */
#define STEP_COLUMN 1
#define UNTRACED    "untraced"

static int no_memory(void)
{
	return um_fail(UM_ENOMEM, "no memory for the error table");
}

/* --- repetitions --- */

/* The measured part is that of these repetitions, if there are any; NAN: this one does not tell. */
typedef double (*value_fn)(const struct um_check_repetition *, const void *context);

static int take(struct um_check_figure *figure, const struct um_check_repetition *rows,
		size_t count, value_fn value, const void *context)
{
	double *values = count ? malloc(count * sizeof(*values)) : NULL;
	size_t known = 0;

	if (!count)
		return 0;
	if (!values)
		return no_memory();
	for (size_t i = 0; i < count; i++) {
		values[known] = value(&rows[i], context);
		known += !isnan(values[known]);
	}
	if (known)
		um_check_figure_measured(figure, values, known, "measured");
	free(values);
	return 0;
}

static double cell(const struct um_check_repetition *row, int column)
{
	if (column == UM_CHECK_NO_COLUMN)
		return 0;
	return (size_t)column < row->count ? row->values[column] : NAN;
}

static double of_column(const struct um_check_repetition *row, const void *context)
{
	return cell(row, *(const int *)context);
}

static int take_columns(struct um_check_entry *entry, const struct um_check_repetitions *figures)
{
	int error = 0;

	for (int i = 0; i < UM_CHECK_QUANTITIES && !error; i++) {
		const struct um_check_quantity_info *info = &um_check_quantities[i];
		const struct um_check_repetition *rows;
		size_t count;

		if (info->column == UM_CHECK_NO_COLUMN)
			continue;
		rows = um_check_repetitions_of(figures, info->mode, entry->name, &count);
		error = take(&entry->figures[i], rows, count, of_column, &info->column);
	}
	return error;
}

/* What figures.tsv has not, as a share of columns that it has. */
struct share {
	double of;
	int columns[2]; /* added up; UM_CHECK_NO_COLUMN: none */
};

static double of_share(const struct um_check_repetition *row, const void *context)
{
	const struct share *share = context;

	return share->of * (cell(row, share->columns[0]) + cell(row, share->columns[1]));
}

static int take_share(struct um_check_entry *entry, const struct um_check_repetitions *figures,
		      enum um_check_quantity quantity, const enum um_check_quantity whole[2])
{
	struct share share = {.columns = {UM_CHECK_NO_COLUMN, UM_CHECK_NO_COLUMN}};
	const struct um_check_repetition *rows;
	size_t count;
	double all = 0;

	for (int i = 0; i < 2 && whole[i] < UM_CHECK_QUANTITIES; i++) {
		all += entry->figures[whole[i]].measured;
		share.columns[i] = um_check_quantities[whole[i]].column;
	}
	if (all <= 0 || !entry->figures[quantity].repetitions)
		return 0;
	share.of = entry->figures[quantity].measured / all;
	rows = um_check_repetitions_of(figures, um_check_quantities[whole[0]].mode, entry->name,
				       &count);
	return take(&entry->figures[quantity], rows, count, of_share, &share);
}

/* Shares first: they are of the trace's own figures. */
static int take_repetitions(struct um_check_entry *entry, const struct um_check_folder *folder)
{
	static const enum um_check_quantity kernels[] = {UM_CHECK_KERNEL_TIME, UM_CHECK_QUANTITIES},
					    all[] = {UM_CHECK_KERNEL_TIME, UM_CHECK_TRANSFER_TIME};
	int error = take_share(entry, &folder->figures, UM_CHECK_FAULT_KERNEL_TIME, kernels);

	if (!error)
		error = take_share(entry, &folder->figures, UM_CHECK_WAIT_TIME, all);
	return error ? error : take_columns(entry, &folder->figures);
}

static int take_steps(struct um_check_entry *entry, const struct um_check_row *row,
		      const struct um_check_folder *folder, const struct um_check_side *untraced)
{
	struct um_check_figure *figure = &entry->figures[UM_CHECK_STEP_TIME];
	static const int column = STEP_COLUMN;
	const struct um_check_repetition *rows;
	struct um_check_facts sum;
	size_t count;
	int error;

	rows = um_check_repetitions_of(&folder->times, UNTRACED, entry->name, &count);
	if (!untraced || !count || rows->count <= STEP_COLUMN)
		return 0;
	error = um_check_side_sum(untraced, row->first, row->end, &sum);
	if (error)
		return error;
	figure->is_predicted = true;
	figure->predicted = (double)sum.value[UM_CHECK_STEP_TIME];
	return take(figure, rows, count, of_column, &column);
}

/* --- rows --- */

static int add(struct um_check_table *table, const struct um_check_row *row, char *name,
	       const struct um_check_folder *folder, const struct um_check_side *untraced)
{
	struct um_check_entry *entry;
	int error = name ? um_check_room(&table->entries, table->count, &table->room,
					 sizeof(*table->entries))
			 : no_memory();

	if (error) {
		free(name);
		return error;
	}
	entry = &table->entries[table->count++];
	*entry = (struct um_check_entry){.name = name,
					 .is_test = um_check_names_have(&folder->test_set, name)};
	memcpy(entry->figures, row->figures, sizeof(entry->figures));
	for (int i = 0; i < UM_CHECK_QUANTITIES; i++)
		entry->has_lost = entry->has_lost || row->figures[i].is_least;
	error = take_repetitions(entry, folder);
	return error ? error : take_steps(entry, row, folder, untraced);
}

int um_check_table_add(struct um_check_table *table, const struct um_check_comparison *comparison,
		       const char *run_name, const struct um_check_folder *folder,
		       const struct um_check_side *untraced)
{
	int error = 0;

	for (size_t i = 0; i < comparison->ranges.count && !error; i++) {
		const struct um_check_row *row = &comparison->ranges.rows[i];

		error = add(table, row, strndup(row->name, strcspn(row->name, "#")), folder,
			    untraced);
	}
	if (error || comparison->ranges.count)
		return error;
	error = add(table, &comparison->total, strdup(run_name), folder, untraced);
	if (!error)
		table->entries[table->count - 1].is_run = true;
	return error;
}

const struct um_check_entry *um_check_table_find(const struct um_check_table *table,
						 const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->entries[i].name, name) == 0)
			return &table->entries[i];
	return NULL;
}

void um_check_table_free(struct um_check_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->entries[i].name);
	free(table->entries);
	*table = (struct um_check_table){0};
}
