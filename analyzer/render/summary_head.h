/* The first lines of a summary: what it is. A part of render_summary_text.c. */
#ifndef UM_SUMMARY_HEAD_H
#define UM_SUMMARY_HEAD_H

#include "render_summary.h"

/* UM_ENOMEM. */
int um_render_summary_head(FILE *out, const struct um_summary *);
/*
 * The lines below the title as they are before they are wrapped, "  Label      text" each; malloc'ed, the
 * caller frees; NULL and UM_ENOMEM's message if none. A line without a label goes on with the one before.
 */
char *um_render_summary_settings(const struct um_summary *);
#define UM_SUMMARY_LABEL_COLUMNS 13
/* As um_xnack_text(). */
char *um_summary_xnack_text(char *buffer, size_t capacity, const struct um_summary *);

#endif
