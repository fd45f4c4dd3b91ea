/* The program's calls of one kind by their lines: what rules about prefetches and advice look at. */
#ifndef UM_FINDING_CALLS_H
#define UM_FINDING_CALLS_H

#include "finding_draft.h"

/* Calls of one kind from one line. */
struct um_call_line {
	struct um_finding_place at;
	const struct um_fact_op **calls; /* in program order; at least one */
	size_t count;
};

/*
 * Calls `call` for each line with successful calls of that kind (enum um_op_kind), in the order of their
 * first ones. A result other than 0 stops. UM_ENOMEM.
 */
int um_facts_call_lines(const struct um_facts *, int kind,
			int (*call)(const struct um_call_line *, void *), void *context);

/* Bytes that the prefetches of a line moved, in the baseline. */
int64_t um_line_moved_bytes(const struct um_call_line *);
/* What next touches pages that the call names; NULL: nothing does. `*pages`: how many, at most. */
const struct um_fact_op *um_facts_next_use(const struct um_facts *, const struct um_fact_op *call,
					   int64_t *pages);
/* The line as a finding's place, its calls' allocations as its subject. */
int um_finding_begin_calls(struct um_finding_draft *, const struct um_call_line *);

#endif
