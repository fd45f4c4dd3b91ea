/* Of a run of which only some launches were recorded: how many, and what they say of all. */
#ifndef UM_SUMMARY_SELECTION_H
#define UM_SUMMARY_SELECTION_H

#include "analyzer/query/summary.h"
#include "trace/base/text_table.h"

#include <stdio.h>

/* Whether some launch is known not to have been recorded. */
bool um_has_selection(const struct um_summary *);
/* The columns of a table of kernels: `columns`, with one of how many were recorded where that is not all
 * of them. `out` has room for one more. */
void um_kernel_columns(struct um_text_column *out, const struct um_text_column *columns,
		       const struct um_summary *);
/* The first cells of a row: name, launches, and how many of them were recorded. */
void um_kernel_cells(struct um_text_table *, const struct um_kernel_summary *,
		     const struct um_summary *);
/* What is extrapolated; nothing where there is none. UM_ENOMEM. */
int um_render_extrapolated(FILE *out, const struct um_summary *, size_t rows);

#endif
