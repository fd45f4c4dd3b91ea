/* What a summary of a measured run shows otherwise, or beside. Parts of render_summary_text.c. */
#ifndef UM_SUMMARY_MEASURED_H
#define UM_SUMMARY_MEASURED_H

#include "analyzer/query/summary.h"
#include "trace/base/text_table.h"

#include <stddef.h>
#include <stdio.h>

/* ", measured" behind the heading of a table, or "". */
const char *um_summary_measured(const struct um_summary *);

/* Tables of their own; nothing where there are no such rows. At most `rows` rows. UM_ENOMEM, UM_EIO. */
int um_render_transfers(FILE *out, const struct um_summary *);
int um_render_lines(FILE *out, const struct um_summary *, size_t rows);
/* Of any run whose program named ranges. */
int um_render_ranges(FILE *out, const struct um_summary *, size_t rows);
/* "... and 3 more", where there are. */
void um_note_rest(struct um_text_table *, size_t count, size_t rows);

/* What moved of memory that no allocation of the file lies in. */
void um_note_beside(struct um_text_table *, const struct um_summary *);

/* Rows of the tables that other runs have too. */
extern const struct um_text_column um_measured_kernel_columns[], um_measured_allocation_columns[];
/* Less the first cells (um_kernel_cells()). */
void um_measured_kernel_row(struct um_text_table *, const struct um_kernel_summary *);
/* All but the first cell. */
void um_measured_allocation_row(struct um_text_table *, const struct um_allocation_summary *);

#endif
