/* The file that the trace goes into: its name, and having it to oneself among the ranks of a job. */
#ifndef UM_OUTPUT_H
#define UM_OUTPUT_H

#include "job_rank.h"

#include "trace/db/trace_db.h"

#include <sys/types.h>

struct um_output {
	char host[65];
	struct um_job_rank rank;
	char *pattern; /* of output_name.h */
	char *path;    /* NULL until it was made */
};

/*
 * Finds the rank in an environment (as `environ`); `pattern` NULL is the default for `program`, the word on
 * the command line, under a policy of this name (NULL: none). UM_ENOMEM.
 */
int um_output_init(struct um_output *, const char *pattern, const char *policy, const char *program,
		   char *const *environment);
void um_output_fini(struct um_output *);
/*
 * Names and makes the database; `pid` is the program's, `command` how it was called. UM_EEXIST: it is there
 * and `force` is not given; or it is in use; or it is of another rank of this job, which `force` does not
 * replace either. As um_db_create() for the rest.
 */
int um_output_create(struct um_db **out, struct um_output *, pid_t pid, const char *command,
		     bool force);

#endif
