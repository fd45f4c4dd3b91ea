#include "summary_host.h"

#include "summary_cells.h"
#include "summary_measured.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const struct um_allocation_summary *find_allocation(const struct um_summary *summary,
							   int64_t allocation)
{
	size_t low = 0, high = summary->allocation_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (summary->allocations[middle].allocation < allocation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < summary->allocation_count && summary->allocations[low].allocation == allocation
		       ? &summary->allocations[low]
		       : NULL;
}

static void line_row(struct um_text_table *table, const struct um_summary *summary,
		     const struct um_host_line_summary *line)
{
	const struct um_allocation_summary *of = find_allocation(summary, line->allocation);

	if (line->site)
		um_cell_site(table, "", line->site);
	else
		um_text_table_cell(table, "(not known)");
	if (line->has_line && line->function)
		um_cell_name(table, line->function, strlen(line->function));
	else
		um_text_table_cell(table, "-");
	if (of)
		um_cell_allocation(table, of);
	else
		um_text_table_cell(table, "#%" PRId64, line->allocation);
	um_cell_count(table, line->read_pages);
	um_cell_count(table, line->written_pages);
	um_cell_count(table, line->faults);
	um_cell_bytes(table, line->migrated_to_host_bytes);
}

int um_render_host_lines(FILE *out, const struct um_summary *summary, size_t rows)
{
	static const struct um_text_column columns[] = {{"line", UM_ALIGN_LEFT},
							{"function", UM_ALIGN_LEFT},
							{"allocation", UM_ALIGN_LEFT},
							{"pages\nread", UM_ALIGN_RIGHT},
							{"pages\nwritten", UM_ALIGN_RIGHT},
							{"\nfaults", UM_ALIGN_RIGHT},
							{"moved\nout", UM_ALIGN_RIGHT},
							{NULL, 0}};
	struct um_text_table *table;
	bool lacks_lines = false;

	if (!summary->host_line_count)
		return 0;
	int error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fputs("\nWhere the host touched pages first in an interval, measured; faults and what moved out, "
	      "to the host, of the model\n",
	      out);
	for (size_t i = 0; i < summary->host_line_count && i < rows; i++) {
		line_row(table, summary, &summary->host_lines[i]);
		lacks_lines = lacks_lines || !summary->host_lines[i].has_line;
	}
	um_note_rest(table, summary->host_line_count, rows);
	if (lacks_lines)
		um_text_table_note(table, "a program compiled with -g has files and lines here");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}
