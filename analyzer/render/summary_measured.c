#include "summary_measured.h"

#include "summary_cells.h"
#include "trace/base/units.h"

#include <stdbool.h>
#include <string.h>

const char *um_summary_measured(const struct um_summary *summary)
{
	if (summary->is_imported)
		return ", imported";
	return summary->is_measured ? ", measured" : "";
}

void um_note_rest(struct um_text_table *table, size_t count, size_t rows)
{
	if (count > rows)
		um_text_table_note(table, "... and %zu more: --rows=0 shows all", count - rows);
}

/* ---------------------------------------------------------------- transfers */

static void transfer_row(struct um_text_table *table, const struct um_transfer_summary *transfers)
{
	static const struct {
		const char *direction, *label;
	} labels[] = {{"to_device", "host to GPU"},
		      {"to_host", "GPU to host"},
		      {"between_devices", "GPU to GPU"}};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(labels[i].direction, transfers->direction) == 0)
			um_text_table_cell(table, "%s", labels[i].label);
	um_cell_count(table, transfers->count);
	um_cell_bytes(table, transfers->bytes);
	um_cell_bytes(table, transfers->bytes / transfers->count);
	um_cell_bytes(table, transfers->median_bytes);
	um_cell_bytes(table, transfers->least_bytes);
	um_cell_bytes(table, transfers->most_bytes);
	um_cell_duration(table, transfers->duration_ns);
	if (transfers->duration_ns > 0)
		um_text_table_cell(table, "%.3g GB/s",
				   (double)transfers->bytes / (double)transfers->duration_ns);
	else
		um_text_table_cell(table, "-");
}

int um_render_transfers(FILE *out, const struct um_summary *summary)
{
	static const struct um_text_column columns[] = {
		{"direction", UM_ALIGN_LEFT}, {"transfers", UM_ALIGN_RIGHT},
		{"total", UM_ALIGN_RIGHT},    {"average", UM_ALIGN_RIGHT},
		{"median", UM_ALIGN_RIGHT},   {"min", UM_ALIGN_RIGHT},
		{"max", UM_ALIGN_RIGHT},      {"time", UM_ALIGN_RIGHT},
		{"rate", UM_ALIGN_RIGHT},     {NULL, 0}};
	size_t directions = sizeof(summary->transfers) / sizeof(summary->transfers[0]);
	struct um_text_table *table;
	bool any = false;

	for (size_t i = 0; i < directions; i++)
		any = any || summary->transfers[i].count > 0;
	if (!any)
		return 0;
	int error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fprintf(out, "\nTransfers of managed memory%s\n", um_summary_measured(summary));
	for (size_t i = 0; i < directions; i++)
		if (summary->transfers[i].count > 0)
			transfer_row(table, &summary->transfers[i]);
	um_text_table_note(table, "time: of the transfers themselves, added up");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- lines */

static void line_row(struct um_text_table *table, const struct um_line_summary *line)
{
	if (line->site)
		um_cell_site(table, "", line->site);
	else
		um_text_table_cell(table, "(not told)");
	if (line->has_line && line->function)
		um_cell_name(table, line->function, strlen(line->function));
	else
		um_text_table_cell(table, "-");
	um_cell_count(table, line->faults);
	um_cell_count(table, line->read_faults);
	um_cell_count(table, line->write_faults);
	um_cell_count(table, line->allocations);
}

int um_render_lines(FILE *out, const struct um_summary *summary, size_t rows)
{
	static const struct um_text_column columns[] = {{"line", UM_ALIGN_LEFT},
							{"function", UM_ALIGN_LEFT},
							{"faults", UM_ALIGN_RIGHT},
							{"on a read", UM_ALIGN_RIGHT},
							{"on a write", UM_ALIGN_RIGHT},
							{"allocations", UM_ALIGN_RIGHT},
							{NULL, 0}};
	struct um_text_table *table;
	bool lacks_lines = false;

	if (!summary->line_count)
		return 0;
	int error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fprintf(out, "\nWhere the host faulted, most faults first%s\n",
		um_summary_measured(summary));
	for (size_t i = 0; i < summary->line_count && i < rows; i++) {
		line_row(table, &summary->lines[i]);
		lacks_lines = lacks_lines || !summary->lines[i].has_line;
	}
	um_note_rest(table, summary->line_count, rows);
	if (lacks_lines)
		um_text_table_note(table, "a program compiled with -g has files and lines here");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- ranges */

static void range_row(struct um_text_table *table, const struct um_range_summary *range)
{
	um_cell_name(table, range->name, strlen(range->name));
	um_cell_count(table, range->times);
	um_cell_duration(table, range->duration_ns);
	um_cell_count(table, range->launches);
	um_cell_duration(table, range->launch_ns);
	um_cell_count(table, range->device_faults);
	um_cell_count(table, range->host_faults);
	um_cell_bytes(table, range->migrated_to_device_bytes);
	um_cell_bytes(table, range->migrated_to_host_bytes);
}

int um_render_ranges(FILE *out, const struct um_summary *summary, size_t rows)
{
	static const struct um_text_column columns[] = {
		{"range", UM_ALIGN_LEFT},	 {"times", UM_ALIGN_RIGHT},
		{"time", UM_ALIGN_RIGHT},	 {"launches", UM_ALIGN_RIGHT},
		{"GPU time", UM_ALIGN_RIGHT},	 {"GPU faults", UM_ALIGN_RIGHT},
		{"host faults", UM_ALIGN_RIGHT}, {"moved in", UM_ALIGN_RIGHT},
		{"moved out", UM_ALIGN_RIGHT},	 {NULL, 0}};
	struct um_text_table *table;

	if (!summary->range_count)
		return 0;
	int error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fprintf(out, "\nRanges that the program named%s\n", um_summary_measured(summary));
	for (size_t i = 0; i < summary->range_count && i < rows; i++)
		range_row(table, &summary->ranges[i]);
	um_note_rest(table, summary->range_count, rows);
	um_text_table_note(table,
			   "a range has what its thread called in it, whenever the GPU ran it, "
			   "and what the host did meanwhile; a range within it counts in both");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- rows */

void um_note_beside(struct um_text_table *table, const struct um_summary *summary)
{
	char text[32];

	if (summary->beside_bytes > 0 && !summary->is_unattributed)
		um_text_table_note(
			table, "%s more moved beside these: a driver fills up its blocks",
			um_format_bytes(text, sizeof(text), (uint64_t)summary->beside_bytes));
}

const struct um_text_column um_measured_kernel_columns[] = {{"kernel", UM_ALIGN_LEFT},
							    {"launches", UM_ALIGN_RIGHT},
							    {"GPU time", UM_ALIGN_RIGHT},
							    {"average", UM_ALIGN_RIGHT},
							    {"min", UM_ALIGN_RIGHT},
							    {"max", UM_ALIGN_RIGHT},
							    {"faults", UM_ALIGN_RIGHT},
							    {"moved in", UM_ALIGN_RIGHT},
							    {"moved out", UM_ALIGN_RIGHT},
							    {"remote maps", UM_ALIGN_RIGHT},
							    {NULL, 0}};

void um_measured_kernel_row(struct um_text_table *table, const struct um_kernel_summary *kernel)
{
	um_cell_duration(table, kernel->duration_ns);
	um_cell_duration(table, kernel->duration_ns == UM_NULL
					? UM_NULL
					: kernel->duration_ns / kernel->launches);
	um_cell_duration(table, kernel->shortest_ns);
	um_cell_duration(table, kernel->longest_ns);
	um_cell_count(table, kernel->faults);
	um_cell_bytes(table, kernel->migrated_to_device_bytes);
	um_cell_bytes(table, kernel->migrated_to_host_bytes);
	um_cell_count(table, kernel->remote_mappings);
}

const struct um_text_column um_measured_allocation_columns[] = {{"allocation", UM_ALIGN_LEFT},
								{"kind", UM_ALIGN_LEFT},
								{"bytes", UM_ALIGN_RIGHT},
								{"GPU faults", UM_ALIGN_RIGHT},
								{"host faults", UM_ALIGN_RIGHT},
								{"moved in", UM_ALIGN_RIGHT},
								{"moved out", UM_ALIGN_RIGHT},
								{"evicted", UM_ALIGN_RIGHT},
								{"remote maps", UM_ALIGN_RIGHT},
								{"copied", UM_ALIGN_RIGHT},
								{NULL, 0}};

void um_measured_allocation_row(struct um_text_table *table, const struct um_allocation_summary *of)
{
	um_text_table_cell(table, "%s", of->kind);
	um_cell_bytes(table, of->bytes);
	um_cell_count(table, of->device_faults);
	um_cell_count(table, of->host_faults);
	um_cell_bytes(table, of->migrated_to_device_bytes);
	um_cell_bytes(table, of->migrated_to_host_bytes);
	um_cell_bytes(table, of->evicted_bytes);
	um_cell_count(table, of->remote_mappings);
	um_cell_bytes(table, of->copied_to_device_bytes == UM_NULL
				     ? UM_NULL
				     : (int64_t)((uint64_t)of->copied_to_device_bytes +
						 (uint64_t)of->copied_to_host_bytes));
}
