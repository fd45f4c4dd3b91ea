/*
 * Two databases beside each other: measured and predicted, before and after a change. What each holds is
 * read by itself; figures are compared only where both tell the same thing, and say why where they are not.
 */
#ifndef UM_DIFF_H
#define UM_DIFF_H

#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <stddef.h>

enum um_diff_side { UM_DIFF_A, UM_DIFF_B, UM_DIFF_SIDES };

enum um_diff_quantity {
	UM_DIFF_MOVED_TO_DEVICE, /* migrations of every cause; so the next two */
	UM_DIFF_MOVED_TO_HOST,
	UM_DIFF_MOVED_BETWEEN_DEVICES,
	UM_DIFF_EVICTED, /* of what was moved */
	UM_DIFF_REMOTE_TO_DEVICE,
	UM_DIFF_REMOTE_TO_HOST,
	UM_DIFF_PEER, /* from device to device over links between them, copied or accessed in place */
	UM_DIFF_COPIED_TO_DEVICE,
	UM_DIFF_COPIED_TO_HOST,
	UM_DIFF_TRANSFERS_TO_DEVICE,
	UM_DIFF_TRANSFERS_TO_HOST,
	UM_DIFF_DEVICE_FAULTS,
	UM_DIFF_HOST_FAULTS,
	UM_DIFF_REMOTE_MAPS,
	UM_DIFF_TRANSFER_TIME, /* of each migration, added up */
	UM_DIFF_KERNEL_TIME,   /* of each launch, added up */
	UM_DIFF_LAUNCHES,
	UM_DIFF_QUANTITIES
};

enum um_diff_unit { UM_DIFF_COUNT, UM_DIFF_BYTES, UM_DIFF_NS };

struct um_diff_quantity_info {
	const char *name;   /* in JSON */
	const char *title;  /* in text */
	const char *head;   /* of a column, two lines at most */
	const char *record; /* of table origin, that it comes from; NULL: all files tell it */
	enum um_diff_unit unit;
};
extern const struct um_diff_quantity_info um_diff_quantities[UM_DIFF_QUANTITIES];

/* UM_NULL: some row does not tell it, or the file does not. */
struct um_diff_values {
	int64_t value[UM_DIFF_QUANTITIES];
};

/* A kernel by its name without parameters, an allocation; what only one side has is NULL on the other. */
struct um_diff_row {
	char *names[UM_DIFF_SIDES];
	const char *kinds[UM_DIFF_SIDES]; /* of allocations; static */
	int64_t ids[UM_DIFF_SIDES], bytes[UM_DIFF_SIDES];
	struct um_diff_values values[UM_DIFF_SIDES];
};

struct um_diff_rows {
	struct um_diff_row *rows; /* those whose bytes, then faults, differ most are first */
	size_t count;
};

/* What a side is, as text; NULL: not told. */
struct um_diff_fact {
	const char *name;  /* in JSON; static, as the next */
	const char *title; /* in text */
	bool is_long;	   /* of several lines, or JSON: not for a table */
	char *values[UM_DIFF_SIDES];
};
#define UM_DIFF_FACTS_MAX 16

struct um_diff {
	char *paths[UM_DIFF_SIDES];
	struct um_diff_fact facts[UM_DIFF_FACTS_MAX];
	size_t fact_count;
	const char *device[UM_DIFF_SIDES];		  /* of the facts */
	char *origins[UM_DIFF_SIDES][UM_DIFF_QUANTITIES]; /* the word; NULL: absent */
	const char *why_not[UM_DIFF_QUANTITIES]; /* it is not compared; static, NULL: it is */
	struct um_diff_values totals[UM_DIFF_SIDES];
	/* The last row of kernels, if any, is what no launch did: the host, prefetches, copies. */
	struct um_diff_rows kernels, allocations;
	bool has_other;
	char **warnings;
	size_t warning_count;
};

/*
 * Reads and compares both. Allocations are the same that are the n-th of their kind and size; of what
 * is left over, the n-th of their size, whose kind a change may have changed. `skip_frames` as for
 * um_stacks_load(). UM_ENOENT, UM_EFORMAT, UM_EVERSION (um_db_open()), UM_ELIMIT, UM_ENOMEM.
 */
int um_diff_load(struct um_diff **out, const char *const paths[UM_DIFF_SIDES],
		 const char *const *skip_frames);
void um_diff_destroy(struct um_diff *); /* NULL is legal */

/* Whether both sides of a row are there, tell the quantity, and it may be compared. */
bool um_diff_is_compared(const struct um_diff *, const struct um_diff_row *, enum um_diff_quantity);

#endif
