/* Cells of the summary's tables; "-" is UM_NULL. */
#ifndef UM_SUMMARY_CELLS_H
#define UM_SUMMARY_CELLS_H

#include "trace/base/text_table.h"

#include <stddef.h>
#include <stdint.h>

void um_cell_bytes(struct um_text_table *, int64_t bytes);
void um_cell_count(struct um_text_table *, int64_t count);
/* Counts of accesses, which nobody reads to the last digit: "1.074 G". */
void um_cell_accesses(struct um_text_table *, int64_t count);
void um_cell_duration(struct um_text_table *, int64_t ns);
/* Not too wide; what is cut off is its end. */
void um_cell_name(struct um_text_table *, const char *name, size_t length);
/* A site less its folders, behind `before`. */
void um_cell_site(struct um_text_table *, const char *before, const char *site);

#endif
