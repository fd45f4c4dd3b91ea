/*
 * What the charts of one database run along: time, where its operations and what the driver did have one
 * clock (measured runs, simulations); the order of its calls, where they do not (an emulated trace: its
 * calls have the CPU's times, the modelled faults and migrations others, simulated ones).
 */
#ifndef UM_AXIS_H
#define UM_AXIS_H

#include "summary.h"

enum um_axis_kind { UM_AXIS_TIME, UM_AXIS_CALLS };

struct um_axis {
	enum um_axis_kind kind;
	int64_t start, end; /* ns of that clock, or numbers of ops; start < end */
	size_t bins;	    /* of equal width from start to end */
	bool is_empty;	    /* the file has nothing that could stand on it */
};

/* Finds the extent. As um_query_each(). */
int um_axis_load(struct um_axis *out, const struct um_summary *, struct um_db *, size_t bins);
/* In bins from the start: below 0 and beyond their count where it lies outside. */
double um_axis_position(const struct um_axis *, int64_t value);
/* SQL of the columns start and end on this axis, for a table that has op, start_ns and duration_ns. */
const char *um_axis_row_columns(const struct um_axis *);
/* The same of table op. */
const char *um_axis_op_columns(const struct um_axis *);

#endif
