/*
 * What the driver did beside, and how far all of it is from the least. A part of
 * render_summary_text.c.
 */
#ifndef UM_SUMMARY_DRIVER_H
#define UM_SUMMARY_DRIVER_H

#include "render_summary.h"

/* Nothing where the file has no such rows. UM_ENOMEM, UM_EIO. */
int um_render_summary_driver(FILE *out, const struct um_summary *);

#endif
