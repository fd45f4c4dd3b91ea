/* A summary for people and for programs. Both write to `out` and return UM_EIO where it fails. */
#ifndef UM_RENDER_SUMMARY_H
#define UM_RENDER_SUMMARY_H

#include "analyzer/query/summary.h"

#include <stdio.h>

/* At most `rows` rows of a table, the rest said in a note; 0: all. */
int um_render_summary_text(FILE *out, const struct um_summary *, size_t rows);
int um_render_summary_json(FILE *out, const struct um_summary *);

#endif
