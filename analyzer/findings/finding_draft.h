/*
 * A finding that is being written, and the changes that several rules offer: code for a line, and the
 * same as rules of a policy. Each returns 0 or UM_ENOMEM.
 */
#ifndef UM_FINDING_DRAFT_H
#define UM_FINDING_DRAFT_H

#include "finding_rule.h"

struct um_finding_draft {
	const struct um_finding_rule *rule;
	const struct um_facts *facts;
	struct um_findings *out;
	const struct um_fact_group *group; /* NULL: it is about calls alone */
	struct um_finding *finding;	   /* until the next um_finding_begin() */
};

/* Adds the finding, about draft->group if there is one. */
int um_finding_begin(struct um_finding_draft *);

/* printf'ed. */
int um_draft_title(struct um_finding_draft *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The verb for the group as a subject: one allocation, or several. A literal of the caller's. */
const char *um_draft_verb(const struct um_finding_draft *, const char *one, const char *several);
int um_draft_because(struct um_finding_draft *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Of the accesses, or of the baseline: their origins differ. */
int um_draft_accessed(struct um_finding_draft *, const char *label, enum um_finding_unit,
		      int64_t value);
int um_draft_moved(struct um_finding_draft *, const char *label, enum um_finding_unit,
		   int64_t value);
/* The kernels that touch the group, and during which ops: phase, first and last op. */
int um_draft_uses(struct um_finding_draft *);
/* What the group moved, faulted and reached in place, as concerned_bytes, where nothing says more. */
int64_t um_group_bytes(const struct um_fact_group *);

/* --- devices --- */

/* On which devices launches touch the group, a bit each; of no launch's: device 0. */
uint32_t um_group_devices(const struct um_facts *, const struct um_fact_group *);
/* The one with most launches that touch it, the first of equal ones. */
int um_group_device(const struct um_facts *, const struct um_fact_group *);
/* What code calls it: "device" where all launches of the program are on one, else its number. */
const char *um_device_code(struct um_finding_draft *, int device);

/* --- changes --- */

/* Advice behind the allocation: it stays with the host, devices reach it over the link. */
int um_change_stay_on_host(struct um_finding_draft *);
/* The same of bytes [start, end) of each member. */
int um_change_part_stays_on_host(struct um_finding_draft *, int64_t start_bytes, int64_t end_bytes);
/* It stays on the device that uses it most; the host and other devices reach it there where the link lets them. */
int um_change_stay_on_device(struct um_finding_draft *);
int um_change_read_mostly(struct um_finding_draft *);
/* `kind`: "device" or "pinned", `call`: what allocates such memory. */
int um_change_allocate_as(struct um_finding_draft *, const char *kind, const char *call);
/*
 * A prefetch before launches that bring the group's pages by faults, or reach them in place; `own`: on
 * a stream of its own, `ahead` launches earlier. Without such launches nothing is added.
 */
int um_change_prefetch(struct um_finding_draft *, bool own, unsigned ahead);
/* The call's line goes. */
int um_change_without(struct um_finding_draft *, const struct um_fact_op *call);

/* "data, 4194304": pointer and bytes of the group, where they are all alike. NULL: out of memory. */
const char *um_group_pointer_and_bytes(const struct um_finding_draft *);
/* "data" or "p": what the program calls the group. */
const char *um_group_pointer(const struct um_fact_group *);

#endif
