/* What the trace is called: a name with places for what tells processes of a job apart. */
#ifndef UM_OUTPUT_NAME_H
#define UM_OUTPUT_NAME_H

#include "job_rank.h"

#include <sys/types.h>

struct um_output_place {
	const char *host;
	pid_t pid; /* of the program */
	const struct um_job_rank *rank;
};

/*
 * Whether each % of the pattern is one of %h, %p, %r, %%. UM_EINVAL, with what there is.
 */
int um_output_pattern_check(const char *pattern);
/*
 * The name, malloc'ed: %h is the host, %p the process, %r the rank (0 without a job, as MPI has it of a
 * process that no launcher started), %% a percent sign. A '/' in a host's name becomes '_'. Of a pattern
 * that was checked. UM_ENOMEM.
 */
int um_output_name(char **out, const char *pattern, const struct um_output_place *);
/*
 * The pattern without -o: "app.um.db", and of one of several ranks "app.%r.um.db", for the program's
 * word on the command line; under a policy of this name (NULL: none) "app.NAME.applied.um.db"; malloc'ed.
 * UM_ENOMEM.
 */
int um_output_default(char **out, const char *program, const char *policy,
		      const struct um_job_rank *);
/* Whether no two ranks of a job get the same name. */
bool um_output_tells_ranks_apart(const char *pattern);
/*
 * What a shell expands to the traces of all ranks of the pattern: "app.*.um.db", quoted where that is
 * needed; malloc'ed, NULL without memory.
 */
char *um_output_glob(const char *pattern);

#endif
