/* What of the surroundings of a program says later which run its trace is of. */
#ifndef UM_RUN_CONTEXT_H
#define UM_RUN_CONTEXT_H

#include "trace/db/rows.h"

/*
 * Sets environment of `run` from an environment (as `environ`). *text is what run->environment points to;
 * the caller frees it. UM_ENOMEM.
 */
int um_run_context(struct um_run_row *run, char **text, char *const *environment);

#endif
