/*
 * What the charts of one database run along: time, where its operations and what the driver did have one
 * clock (measured runs, simulations); the order of its calls, where they do not (an emulated trace: its
 * calls have the CPU's times, the modelled faults and migrations others, simulated ones).
 */
#ifndef UM_AXIS_H
#define UM_AXIS_H

#include "trace/db/trace_db.h"

#include <stdbool.h>

enum um_axis_kind { UM_AXIS_TIME, UM_AXIS_CALLS };

struct um_axis {
	enum um_axis_kind kind;
	int64_t start, end; /* ns of that clock, or numbers of ops; start < end */
	size_t bins;	    /* of equal width from start to end */
	bool is_empty;	    /* the file has nothing that could stand on it */
};

/* Which of the two a database has, by its origins. As um_query_each(). */
int um_axis_find_kind(enum um_axis_kind *out, struct um_db *);
/*
 * Finds the extent; `bins` are at most one a call on an axis of calls. As um_query_each().
 */
int um_axis_load(struct um_axis *out, enum um_axis_kind, struct um_db *, size_t bins);
/* At most so many, and none narrower than a call. */
size_t um_axis_columns(const struct um_axis *, size_t most);
/* In bins from the start: below 0 and beyond their count where it lies outside. */
double um_axis_position(const struct um_axis *, int64_t value);
/* SQL of the columns start and end on this axis, for a table that has op, start_ns and duration_ns. */
const char *um_axis_row_columns(const struct um_axis *);
/* The same of table op. */
const char *um_axis_op_columns(const struct um_axis *);

#endif
