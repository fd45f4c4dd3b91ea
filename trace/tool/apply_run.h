/* umtrace -P: a policy that a program is to apply to itself, from its file to what came of it. */
#ifndef UM_APPLY_RUN_H
#define UM_APPLY_RUN_H

#include "apply_build.h"
#include "ingest.h"

#include "trace/spool/spool_ring.h"

#include <stdio.h>

struct um_apply_run {
	struct um_policy *policy; /* NULL: there is none, and nothing below is */
	char *policy_text;	  /* the effective policy, as run.policy has it */
	char *earlier_path;	  /* the trace in which its rules found what they are about */
	struct um_apply_build build;
	struct um_apply_header
		*outcome; /* the table as the program left it; NULL: it never had it */
	uint32_t made;	  /* calls, once it has ended */
	char *report;	  /* what it did besides, in lines; what it did not: table loss */
};

/*
 * Reads the policy and settles it by the earlier trace; `earlier` NULL is that of `program` as umtrace calls
 * it by itself. UM_EINVAL, UM_ENOENT (with what to do), or of the policy and the trace.
 */
int um_apply_run_init(struct um_apply_run *, const char *policy, const char *earlier,
		      const char *program);
void um_apply_run_fini(struct um_apply_run *); /* also of zeros */
/* The table's bytes; 0 without a policy. */
uint32_t um_apply_run_bytes(const struct um_apply_run *);
/* Hands it over, before the program starts. */
void um_apply_run_hand_over(const struct um_apply_run *, struct um_spool_reader *);
/* What of the policy is not applied, whatever the program does. */
void um_apply_run_print_notes(FILE *, const struct um_apply_run *);
/* When the program has ended: copies what came of it. */
void um_apply_run_take(struct um_apply_run *, struct um_spool_reader *);
/*
 * Writes losses of kind 'policy' for what was not done and for what the earlier run did not have, and makes the
 * report. The database's error.
 */
int um_apply_run_finish(struct um_apply_run *, struct um_db *);
/* "x.yaml" of "a/x.yaml" without its ".yaml"; malloc'ed, NULL without memory. */
char *um_apply_policy_name(const char *path);

#endif
