/* The program's calls (query/ops.h) on a terminal or as JSON, one after another. */
#ifndef UM_RENDER_OPS_H
#define UM_RENDER_OPS_H

#include "analyzer/query/ops.h"

#include <stdio.h>

struct um_ops_output {
	FILE *file;
	bool stacks;	  /* the whole stack of each */
	int64_t start_ns; /* of the run; UM_NULL: not known */
	uint64_t count;	  /* that were written */
};

/* One call, for um_ops_each(); the context is a struct um_ops_output. UM_ENOMEM, UM_EIO. */
int um_render_op_text(const struct um_op_view *, void *output);
int um_render_op_json(const struct um_op_view *, void *output);
/* Behind the last: of JSON the array's end, which begins with the first. */
int um_render_ops_json_end(struct um_ops_output *);

#endif
