/*
 * The program's calls in their order, one after another: a trace may have more than memory holds.
 */
#ifndef UM_OPS_H
#define UM_OPS_H

#include "trace/db/stacks.h"

#include <stdbool.h>

/* What is asked for; NULL, UM_NULL, false: all. Patterns are as the shell has them. */
struct um_ops_choice {
	const char *const
		*kinds;	    /* op.kind, ends with NULL; else all but 'host', which is no call */
	const char *kernel; /* of a launch, with or without arguments and template arguments */
	const char *
		allocation; /* its number, or a pattern of its name or of a part that is named, as target or source */
	const char *range; /* of a range (roctx, NVTX) that the call was made in */
	int64_t stream, thread;
	bool failed; /* only what did not return success */
	const char *const *skip_frames;
};

/* Strings live until the next call. */
struct um_op_view {
	struct um_op_row op;
	const char *allocation_name, *allocation_kind, *source_name;
	const char *kernel, *symbol; /* of launches */
	int64_t grid[3], block[3], lds_bytes;
	int64_t recorded;  /* 1: in detail; 0: not; UM_NULL: no launch, or not known */
	const char *range; /* name of an op of kind 'range' */
	const char *part;  /* name of what an op of kind 'name' or 'name_end' names; NULL: none */
	const struct um_stack_frame *user; /* NULL: not known */
	const struct um_stack_frame *frames[UM_STACKS_FRAMES_MAX];
	size_t frame_count;
};

/*
 * Calls `call` for each, in program order; a result other than 0 stops and is returned. UM_ENOENT:
 * `range` names none that there is; UM_EFORMAT: damage; UM_ENOMEM.
 */
int um_ops_each(struct um_db *, const struct um_ops_choice *,
		int (*call)(const struct um_op_view *, void *context), void *context);
/* Whether there are calls of that kind in traces at all, for who takes kinds from a user. */
bool um_ops_is_kind(const char *kind);

#endif
