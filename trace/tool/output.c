#include "output.h"

#include "output_name.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int um_output_init(struct um_output *output, const char *pattern, const char *policy,
		   const char *program, char *const *environment)
{
	int error = um_job_rank_find(&output->rank, environment);

	gethostname(output->host, sizeof(output->host) - 1);
	if (error)
		return error;
	if (!pattern)
		return um_output_default(&output->pattern, program, policy, &output->rank);
	output->pattern = strdup(pattern);
	return output->pattern ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

void um_output_fini(struct um_output *output)
{
	um_job_rank_fini(&output->rank);
	free(output->pattern);
	free(output->path);
	output->pattern = output->path = NULL;
}

/* --- traces of other ranks --- */

struct standing {
	const struct um_output *output;
	const char *command;
	const char *path;
};

/*
 * Where a launcher does not name its jobs (MPICH's Hydra), as many ranks of the same command are taken for
 * the same job: to keep a file that could go is the lesser harm.
 */
static bool is_of_this_job(const struct um_run_row *run, const struct standing *standing)
{
	const struct um_job_rank *rank = &standing->output->rank;

	if (run->job && rank->job)
		return strcmp(run->job, rank->job) == 0;
	return run->ranks == rank->ranks && strcmp(run->command, standing->command) == 0;
}

static int look_at_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	const struct standing *standing = context;
	const struct um_job_rank *rank = &standing->output->rank;

	if (run->rank == UM_NULL || rank->rank == UM_NULL || run->rank == rank->rank ||
	    !is_of_this_job(run, standing))
		return 0;
	return um_fail(UM_EEXIST,
		       "%s has the trace of rank %" PRId64
		       " of this job%s: each rank needs a name of "
		       "its own (%%r in -o is the rank)",
		       standing->path, run->rank,
		       run->job && rank->job ? "" : ", or of one before it that was alike");
}

/* What is damaged, or an old file that tells no rank, makes way. */
static int keep_other_ranks(const char *path, void *context)
{
	struct standing *standing = context;
	struct um_db *db;

	if (um_db_open(&db, path) != 0)
		return 0;
	standing->path = path;
	int error = um_db_run(db, look_at_run, standing);
	if (error == UM_EEXIST) {
		char message[1024];

		snprintf(message, sizeof(message), "%s", um_error_message());
		um_db_close(db);
		return um_fail(error, "%s", message);
	}
	um_db_close(db);
	return 0;
}

/* --- making it --- */

/* What to do about a name that is taken. */
static int name_remedy(const struct um_output *output, bool force)
{
	bool is_shared = um_job_rank_is_of_several(&output->rank) &&
			 !um_output_tells_ranks_apart(output->pattern);
	char message[1024];

	snprintf(message, sizeof(message), "%s", um_error_message());
	if (strstr(message, "%r"))
		return UM_EEXIST;
	if (is_shared)
		return um_fail(UM_EEXIST,
			       "%s: each rank needs a name of its own (%%r in -o is the rank)",
			       message);
	return force ? UM_EEXIST
		     : um_fail(UM_EEXIST, "%s (--force replaces it; -o FILE names another)",
			       message);
}

int um_output_create(struct um_db **out, struct um_output *output, pid_t pid, const char *command,
		     bool force)
{
	const struct um_output_place place = {output->host, pid, &output->rank};
	struct standing standing = {.output = output, .command = command};
	int error = um_output_name(&output->path, output->pattern, &place);

	if (error)
		return error;
	error = force ? um_db_create_over(out, output->path, keep_other_ranks, &standing)
		      : um_db_create(out, output->path, false);
	return error == UM_EEXIST ? name_remedy(output, force) : error;
}
