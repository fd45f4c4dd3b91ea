/* Where the host touched managed memory first: of traces with --host-sync. */
#ifndef UM_RENDER_SUMMARY_HOST_H
#define UM_RENDER_SUMMARY_HOST_H

#include "analyzer/query/summary.h"
#include "trace/base/text_table.h"

#include <stddef.h>
#include <stdio.h>

/* Nothing where there are no such rows. At most `rows` rows. UM_ENOMEM, UM_EIO. */
int um_render_host_lines(FILE *out, const struct um_summary *, size_t rows);
/* "#1 cells", "#1 app.hip:7". render_summary_text.c */
void um_cell_allocation(struct um_text_table *, const struct um_allocation_summary *);

#endif
