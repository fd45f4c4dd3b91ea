/* umanalyze diff: two databases beside each other, as text and as JSON. */
#ifndef UM_RENDER_DIFF_H
#define UM_RENDER_DIFF_H

#include "analyzer/query/diff.h"

#include <stdio.h>

/* At most `rows` rows of a table; 0: all. UM_ENOMEM, UM_EIO. */
int um_render_diff_text(FILE *, const struct um_diff *, uint64_t rows);
/*
 * {"a", "b": {"path", and what the run is}, "warnings": [text], "totals": [figure], "kernels":
 * [{"a", "b": name or null, "figures": [figure]}], "not_of_launches": [figure],
 * "allocations": [{"a", "b": {"allocation", "name", "kind", "bytes"} or null, "figures"}]}; a figure is
 * {"quantity", "unit", "a", "b": number or null, "origin_a", "origin_b", "compared", "why_not",
 * "change": b - a, "relative": of a}, the last two null where it is not compared (or a is 0).
 */
int um_render_diff_json(FILE *, const struct um_diff *);

#endif
