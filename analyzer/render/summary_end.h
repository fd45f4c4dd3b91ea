/* What the file lacks, and the command to type next. A part of render_summary_text.c. */
#ifndef UM_SUMMARY_END_H
#define UM_SUMMARY_END_H

#include "render_summary.h"

/* UM_ENOMEM. */
int um_render_summary_end(FILE *out, const struct um_summary *);

#endif
