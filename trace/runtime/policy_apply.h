/*
 * umtrace -P: what of a policy the program does besides what it asks for itself, by the table that lies behind
 * the spool (spool/apply_table.h). Nothing of it shows to the program: what it is told of its memory
 * (hipMemRangeGetAttribute(), the kinds of pointers) stays as it asked for it, and memory that counts as of
 * another kind lies where it would. Off where there is no table, in the child of a fork, and once umtrace has
 * gone. Callers hold the runtime lock.
 */
#ifndef UM_POLICY_APPLY_H
#define UM_POLICY_APPLY_H

#include "api.h"

/* A site was told. */
void um_policy_site(const struct um_record_site *);

/*
 * An allocation was made, and its record is about to be written: the kind that it is recorded as. What the
 * policy does about it comes with um_policy_allocated(), behind its op.
 */
enum um_allocation_kind um_policy_allocation(const struct um_allocation *,
					     const struct um_record_op *, const char *name);
void um_policy_allocated(void);
void um_policy_freed(const struct um_allocation *);

/* A part got its name by this op, which has ended, or has it no more. */
void um_policy_named(const struct um_record_op *, const void *pointer);
void um_policy_unnamed(const void *pointer);

/* A launch of the kernel with this symbol is about to begin. */
void um_policy_before_launch(const char *symbol, const struct um_stream *);

/* Whether the program's own hint of this op is to be left out; if so what the op would flush is. */
bool um_policy_leaves_out(struct um_record_op *);

#endif
