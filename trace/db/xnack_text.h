/*
 * The line on XNACK that every summary, table and report opens with: whether devices retried faults,
 * who decided that, and what it means for managed memory. One wording for all tools.
 */
#ifndef UM_XNACK_TEXT_H
#define UM_XNACK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Who decided that (run.xnack_source), where the program's environment has a say and does not use it. */
#define UM_XNACK_UNSET_TEXT   "HSA_XNACK is not set"
#define UM_XNACK_NEITHER_TEXT "HSA_XNACK is neither 0 nor 1"

struct um_xnack_facts {
	const char *xnack;  /* run.xnack; NULL: there is no such switch, or it is not known */
	const char *source; /* run.xnack_source; may be NULL */
	const char *driver; /* the model that the faults are of; NULL: none is */
	bool is_modelled;   /* by that driver */
	bool shares_memory; /* host and device do (UM_LINK_NONE) */
};

/*
 * "XNACK off (HSA_XNACK is not set): managed memory does not migrate on faults"; "" where xnack is
 * NULL. Returns `buffer` (512 bytes do).
 */
char *um_xnack_text(char *buffer, size_t capacity, const struct um_xnack_facts *);

#endif
