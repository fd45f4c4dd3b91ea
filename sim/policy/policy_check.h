/* A policy beside a trace: which allocations and launches each rule is about. */
#ifndef UM_POLICY_CHECK_H
#define UM_POLICY_CHECK_H

#include "policy.h"

struct um_db;

/* An allocation of the trace, with everything that a selector can ask for. */
struct um_subject {
	int64_t allocation;
	int64_t made_op, freed_op; /* 0 and INT64_MAX where not known or never */
	const char *place;	   /* where it was made: "file:line" if known; NULL if nothing is */
	struct um_allocation_facts facts;
};

/* All allocations of a trace, in program order. */
struct um_subjects;
int um_subjects_load(struct um_subjects **out, struct um_db *trace);
void um_subjects_destroy(struct um_subjects *); /* NULL is legal */
size_t um_subjects_count(const struct um_subjects *);
const struct um_subject *um_subjects_at(const struct um_subjects *, size_t index);

/* What one rule matches. */
struct um_rule_report {
	size_t *subjects; /* indices */
	size_t subject_count;
	uint64_t launches;	   /* that its moment matches; 0 where it acts at the allocation */
	int64_t first_op, last_op; /* of those launches; 0 if there are none */
};

/* One report for each rule, malloc'ed; a rule that matches nothing is no error here. */
int um_policy_report(struct um_rule_report **out, const struct um_policy *,
		     const struct um_subjects *, struct um_db *trace);
void um_policy_report_free(struct um_rule_report *, size_t rule_count); /* NULL is legal */
/* UM_EINVAL with the line of the first rule that matches nothing. */
int um_policy_report_check(const struct um_policy *, const struct um_rule_report *);

/* "preferred_location host, accessed_by gpu0": what the rule does; malloc'ed. */
int um_rule_action_text(char **out, const struct um_rule *);

#endif
