/*
 * The parts that a program named, by their lives: which of them hold a place of an allocation at an op.
 * Asked in the order of ops, as the rows of a trace are read.
 */
#ifndef UM_PART_LIVES_H
#define UM_PART_LIVES_H

#include "trace/db/trace_db.h"

#include <stddef.h>

struct um_life {
	int64_t allocation, start, end; /* bytes of it, start < end */
	int64_t op, end_op;		/* INT64_MAX: never ended */
	size_t group;			/* its name in its allocation: whoever asks numbers these */
	char *name;
	/* While it lives: */
	struct um_life *around; /* the smallest that it lies in; NULL: none */
};

struct um_part_lives;

/* All parts; UM_EFORMAT where one cannot be. */
int um_part_lives_load(struct um_part_lives **out, struct um_db *);
void um_part_lives_destroy(struct um_part_lives *); /* NULL is legal */
/* In the order of their ops. */
struct um_life *um_part_lives_all(struct um_part_lives *, size_t *count);

/* Back to before the first op. */
void um_part_lives_rewind(struct um_part_lives *);
/* To `op`, which is none before the last that was asked for. */
void um_part_lives_go_to(struct um_part_lives *, int64_t op);
/* The same, to the last name, end of one or free that was called by then. */
void um_part_lives_go_to_time(struct um_part_lives *, int64_t at_ns);
/*
 * The next part that begins, which takes its place among those that live; NULL: there is none. For
 * whoever looks at each beginning.
 */
struct um_life *um_part_lives_next(struct um_part_lives *);
/*
 * Those that hold any of the bytes [start, end) now, by their starts, outer ones first; returns how
 * many. The array is the lives' own until the next call.
 */
size_t um_part_lives_at(struct um_part_lives *, int64_t allocation, int64_t start, int64_t end,
			struct um_life *const **found);

#endif
