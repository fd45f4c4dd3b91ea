/* Whether an allocation can be of another kind: what a trace proves of it. */
#ifndef UM_APPLY_KIND_H
#define UM_APPLY_KIND_H

#include "trace/db/trace_db.h"

/*
 * `from` and `to` are of enum um_allocation_kind and differ. *why: NULL where the program works just so, else
 * a literal that says what speaks against it. What reading the trace says.
 */
int um_apply_kind_check(const char **why, struct um_db *trace, int64_t allocation, int from,
			int to);

#endif
