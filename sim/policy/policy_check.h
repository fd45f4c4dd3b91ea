/* A policy beside a trace: which allocations and launches each rule is about. */
#ifndef UM_POLICY_CHECK_H
#define UM_POLICY_CHECK_H

#include "policy.h"

struct um_db;

/*
 * An allocation of the trace, or a part of one that the program named (schema.sql, table part), with
 * everything that a selector can ask for. Of a part: its life, its name, where it was named, its bytes;
 * kind and index are its allocation's.
 */
struct um_subject {
	int64_t allocation;
	int64_t made_op, freed_op; /* 0 and INT64_MAX where not known or never */
	const char *place;	   /* where it was made: "file:line" if known; NULL if nothing is */
	bool is_part;
	uint64_t start_bytes; /* of a part, within the allocation */
	const char
		*of; /* of a part: the allocation's name, else its place; NULL: nothing is known */
	struct um_allocation_facts facts;
};

/*
 * A part is what a rule means that asks for its name, and for nothing that only a whole allocation has
 * (allocate_as).
 */
bool um_subject_matches(const struct um_subject *, const struct um_rule *);

/*
 * All allocations of a trace, in program order, and behind them the parts; of a name for all of an
 * allocation, which is its own, there is none.
 */
struct um_subjects;
int um_subjects_load(struct um_subjects **out, struct um_db *trace);
void um_subjects_destroy(struct um_subjects *); /* NULL is legal */
size_t um_subjects_count(const struct um_subjects *);
size_t um_subjects_allocations(const struct um_subjects *); /* of these, which come first */
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
