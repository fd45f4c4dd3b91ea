#include "summary_selection.h"

#include "summary_cells.h"
#include "summary_measured.h"
#include "trace/base/kernel_name.h"

#include <string.h>

/* Of kernels' columns, how many stand before it. */
#define RECORDED_AT 2

bool um_has_selection(const struct um_summary *summary)
{
	return summary->recorded != UM_NULL && summary->recorded < summary->launches;
}

void um_kernel_columns(struct um_text_column *out, const struct um_text_column *columns,
		       const struct um_summary *summary)
{
	for (size_t i = 0; columns[i].title; i++) {
		if (i == RECORDED_AT && um_has_selection(summary))
			*out++ = (struct um_text_column){"recorded", UM_ALIGN_RIGHT};
		*out++ = columns[i];
	}
	*out = (struct um_text_column){NULL, 0};
}

static void cell_kernel(struct um_text_table *table, const struct um_kernel_summary *kernel)
{
	struct um_kernel_name name = um_kernel_name(kernel->name);

	if (name.length)
		um_cell_name(table, name.start, name.length);
	else
		um_cell_name(table, kernel->name, strlen(kernel->name));
	um_cell_count(table, kernel->launches);
}

void um_kernel_cells(struct um_text_table *table, const struct um_kernel_summary *kernel,
		     const struct um_summary *summary)
{
	cell_kernel(table, kernel);
	if (um_has_selection(summary))
		um_cell_count(table, kernel->recorded);
}

/* --- what the recorded launches say of all --- */

static const struct um_text_column extrapolated_columns[] = {
	{"kernel", UM_ALIGN_LEFT},    {"launches", UM_ALIGN_RIGHT},
	{"recorded", UM_ALIGN_RIGHT}, {"reads", UM_ALIGN_RIGHT},
	{"writes", UM_ALIGN_RIGHT},   {"atomics", UM_ALIGN_RIGHT},
	{"requests", UM_ALIGN_RIGHT}, {NULL, 0}};

static void put_rows(struct um_text_table *table, const struct um_summary *summary, size_t rows)
{
	size_t count = 0;

	for (size_t i = 0; i < summary->kernel_count; i++) {
		const struct um_kernel_summary *kernel = &summary->kernels[i];

		if (kernel->extrapolated_reads == UM_NULL || count++ >= rows)
			continue;
		cell_kernel(table, kernel);
		um_cell_count(table, kernel->recorded);
		um_cell_accesses(table, kernel->extrapolated_reads);
		um_cell_accesses(table, kernel->extrapolated_writes);
		um_cell_accesses(table, kernel->extrapolated_atomics);
		um_cell_accesses(table, kernel->extrapolated_requests);
	}
	um_note_rest(table, count, rows);
}

static size_t unrecorded_kernels(const struct um_summary *summary, bool *any_extrapolated)
{
	size_t count = 0;

	for (size_t i = 0; i < summary->kernel_count; i++) {
		count += summary->kernels[i].recorded == 0;
		*any_extrapolated |= summary->kernels[i].extrapolated_reads != UM_NULL;
	}
	return count;
}

int um_render_extrapolated(FILE *out, const struct um_summary *summary, size_t rows)
{
	bool any = false;
	size_t without = unrecorded_kernels(summary, &any);
	struct um_text_table *table;

	if (!any)
		return 0;
	int error = um_text_table_create(&table, extrapolated_columns);

	if (error)
		return error;
	fputs("\nExtrapolated to all launches, not counted: launches / recorded times what was "
	      "counted, kernel by kernel\n",
	      out);
	put_rows(table, summary, rows);
	if (without)
		um_text_table_note(table,
				   "%zu kernel%s without a recorded launch: nothing to go by",
				   without, without == 1 ? "" : "s");
	um_text_table_note(table,
			   "faults, migrations and remote accesses depend on what came before: "
			   "they are not extrapolated");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}
