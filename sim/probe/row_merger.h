/*
 * Rows of one kind, merged wherever their pages meet, in whatever order they come: a row then tells
 * what happened to its pages during an op, and no longer in which order.
 */
#ifndef UM_ROW_MERGER_H
#define UM_ROW_MERGER_H

#include "row_kind.h"

/* Rows held; when more are needed the caller flushes. A row takes about 150 bytes. */
#define UM_MERGER_ROWS_MAX (1u << 20)

struct um_row_merger {
	const struct um_row_kind *kind;
	char *rows; /* in the order of their first pages' coming; 0 pages: merged away */
	size_t count, capacity;
	struct um_merger_end
		*ends; /* hash of where rows begin and end; capacity is a power of two */
	size_t end_capacity, end_count;
};

/* False: full (or out of memory): flush and add again. */
bool um_row_merger_add(struct um_row_merger *, const void *row);
/* Hands out every row and empties the merger. */
void um_row_merger_flush(struct um_row_merger *, void (*call)(void *context, const void *row),
			 void *context);
void um_row_merger_fini(struct um_row_merger *);

#endif
