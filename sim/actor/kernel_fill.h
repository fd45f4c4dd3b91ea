/* A memset, as a kernel: one group that writes its pages in order. */
#ifndef UM_KERNEL_FILL_H
#define UM_KERNEL_FILL_H

#include "simulation.h"

struct um_kernel_fill {
	struct um_access_run run;
	struct um_page_access_row rows[3]; /* first page, whole pages, last page */
	long row_count;
};

/* `pages` (at least one) of op's range, and what of their lines it writes. */
void um_kernel_fill(struct um_kernel_fill *, const struct um_op_row *op,
		    const struct um_page_range *pages);

#endif
