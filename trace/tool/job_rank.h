/*
 * Which rank of which job this process is, as the launchers of MPI programs and of parallel jobs tell
 * it in the environment.
 */
#ifndef UM_JOB_RANK_H
#define UM_JOB_RANK_H

#include "trace/db/rows.h"

/*
 * Ranks count from 0. `rank` is UM_NULL where no launcher told one, `ranks` (how many there are) also
 * where one did not say.
 */
struct um_job_rank {
	int64_t rank, ranks;
	const char *source; /* the variable that told the rank: a literal; NULL as `rank` */
	char *job; /* malloc'ed; "PMIX_NAMESPACE=x": alike in the ranks of one job; NULL: not known */
	char *notes; /* malloc'ed lines, of values that were ignored; NULL: none */
};

/*
 * From an environment (as `environ`). The launchers in their order, and where each says so, stand in
 * job_rank.c. Values that are no rank are ignored and noted. UM_ENOMEM.
 */
int um_job_rank_find(struct um_job_rank *, char *const *environment);
void um_job_rank_fini(struct um_job_rank *);
/* One of several processes, as far as the launcher told. */
bool um_job_rank_is_of_several(const struct um_job_rank *);

#endif
