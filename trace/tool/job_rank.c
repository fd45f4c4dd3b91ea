/*
 * The order of the table is the order in which launchers are believed: those that start MPI programs
 * before the steps of resource managers, since an mpirun within a job of Slurm or Flux has its daemons
 * started as a step, and what the daemons start inherits that step's variables. Within each the more
 * particular comes first: Open MPI's processes have PMIX_RANK too, those of PALS and Flux PMI_RANK.
 *
 * Sources:
 * - Open MPI: docs.open-mpi.org, "Environment variables set for MPI applications"; PMIX_NAMESPACE and
 *   OMPI_MCA_ess_base_jobid as Open MPI 4.1.4 sets them (seen). Spectrum MPI is the same.
 * - MVAPICH2: its user guide, "MPIRUN_RSH parameters"; MVAPICH 3 and 4 say MVP_ (ASSUMPTION, from programs
 *   that read it).
 * - JSM (jsrun, of Summit and Sierra): as programs read it there; OLCF's Summit user guide.
 * - PMI-1: MPICH's wiki, "PMI v2 API"; Hydra of MPICH 4.0.2 sets PMI_RANK and PMI_SIZE (seen), Intel MPI's
 *   I_MPI_HYDRA_UUID too; Cray MPICH's library reads PMI_JOBID (Slurm's plugin mpi/cray_shasta sets it).
 * - PALS: HPE's libpals and Slurm's mpi/cray_shasta have PALS_RANKID and PALS_APID, and no size.
 * - PMIx: PMIX_RANK and PMIX_NAMESPACE are what PMIx_Init() of a client reads; there is no size.
 * - Flux: flux-environment(7).
 * - ALPS: aprun(1), ALPS_APP_PE and, of Cray's CLE, ALPS_APP_ID; no size.
 * - Slurm: srun(1), "OUTPUT ENVIRONMENT VARIABLES". A batch script has SLURM_PROCID=0 and SLURM_NTASKS of
 *   the whole job without being a task of a step: only a step has SLURM_STEP_ID.
 */
#include "job_rank.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_PARTS     2
#define VALUE_COLUMNS 40

struct launcher {
	const char *rank, *ranks[2]; /* ranks: the first that is there */
	const char *needs;	     /* without it, nothing of this counts */
	const char
		*jobs[2]
		     [JOB_PARTS]; /* that are alike in a job: the first whose parts are all there */
	bool is_step; /* what starts the launchers above inherits it, so that it may well differ */
};

static const struct launcher launchers[] = {
	{.rank = "OMPI_COMM_WORLD_RANK",
	 .ranks = {"OMPI_COMM_WORLD_SIZE"},
	 .jobs = {{"PMIX_NAMESPACE"}, {"OMPI_MCA_ess_base_jobid"}}},
	{.rank = "MV2_COMM_WORLD_RANK", .ranks = {"MV2_COMM_WORLD_SIZE"}},
	{.rank = "MVP_COMM_WORLD_RANK", .ranks = {"MVP_COMM_WORLD_SIZE"}},
	{.rank = "JSM_NAMESPACE_RANK",
	 .ranks = {"JSM_NAMESPACE_SIZE"},
	 .jobs = {{"PMIX_NAMESPACE"}}},
	{.rank = "PALS_RANKID", .jobs = {{"PALS_APID"}}},
	{.rank = "PMI_RANK", .ranks = {"PMI_SIZE"}, .jobs = {{"I_MPI_HYDRA_UUID"}, {"PMI_JOBID"}}},
	{.rank = "PMIX_RANK", .jobs = {{"PMIX_NAMESPACE"}}},
	{.rank = "FLUX_TASK_RANK",
	 .ranks = {"FLUX_JOB_SIZE"},
	 .jobs = {{"FLUX_JOB_ID"}},
	 .is_step = true},
	{.rank = "ALPS_APP_PE", .jobs = {{"ALPS_APP_ID"}}, .is_step = true},
	{.rank = "SLURM_PROCID",
	 .ranks = {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
	 .needs = "SLURM_STEP_ID",
	 .jobs = {{"SLURM_JOB_ID", "SLURM_STEP_ID"}},
	 .is_step = true},
};
#define LAUNCHERS (sizeof(launchers) / sizeof(*launchers))

/* What one launcher said. */
struct told {
	int64_t rank, ranks;
	const char *ranks_name;
};

/* --- the environment --- */

/* One that is empty is as good as unset. */
static const char *find(char *const *environment, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	for (; name && *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return (*environment)[length + 1] ? *environment + length + 1 : NULL;
	return NULL;
}

/* MPI's ranks and sizes are ints. UM_NULL: it is none. */
static int64_t number(const char *text)
{
	int64_t value = 0;

	if (!*text)
		return UM_NULL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > INT32_MAX / 10)
			return UM_NULL;
		value = value * 10 + (*text - '0');
	}
	return value <= INT32_MAX ? value : UM_NULL;
}

/* --- one launcher --- */

static void find_ranks(struct told *told, const struct launcher *launcher, char *const *environment,
		       FILE *notes)
{
	for (size_t i = 0; i < sizeof(launcher->ranks) / sizeof(*launcher->ranks); i++) {
		const char *text = find(environment, launcher->ranks[i]);

		if (!text)
			continue;
		told->ranks_name = launcher->ranks[i];
		told->ranks = number(text);
		if (told->ranks != UM_NULL && told->ranks > 0)
			return;
		told->ranks = UM_NULL;
		fprintf(notes, "%s=%.*s is no number of ranks: ignored\n", launcher->ranks[i],
			VALUE_COLUMNS, text);
	}
}

/* rank UM_NULL: it told none that can be. */
static struct told hear(const struct launcher *launcher, char *const *environment, FILE *notes)
{
	struct told told = {.rank = UM_NULL, .ranks = UM_NULL};
	const char *text = find(environment, launcher->rank);

	if (!text || (launcher->needs && !find(environment, launcher->needs)))
		return told;
	told.rank = number(text);
	if (told.rank == UM_NULL) {
		fprintf(notes, "%s=%.*s is no rank: ignored\n", launcher->rank, VALUE_COLUMNS,
			text);
		return told;
	}
	find_ranks(&told, launcher, environment, notes);
	if (told.ranks != UM_NULL && told.rank >= told.ranks) {
		fprintf(notes, "%s=%" PRId64 " of %s=%" PRId64 " cannot be: ignored\n",
			launcher->rank, told.rank, told.ranks_name, told.ranks);
		told.rank = told.ranks = UM_NULL;
	}
	return told;
}

/* --- all of them --- */

static bool agree(const struct um_job_rank *rank, const struct told *told)
{
	return rank->rank == told->rank &&
	       (rank->ranks == UM_NULL || told->ranks == UM_NULL || rank->ranks == told->ranks);
}

static void put_place(FILE *notes, const char *source, int64_t rank, int64_t ranks)
{
	fprintf(notes, "%s says rank %" PRId64, source, rank);
	if (ranks != UM_NULL)
		fprintf(notes, " of %" PRId64, ranks);
}

static void note_contradiction(FILE *notes, const struct um_job_rank *rank,
			       const struct launcher *launcher, const struct told *told)
{
	put_place(notes, rank->source, rank->rank, rank->ranks);
	fputs(", ", notes);
	put_place(notes, launcher->rank, told->rank, told->ranks);
	fputs(": the first is taken\n", notes);
}

static bool has_job(const char *const *parts, char *const *environment)
{
	bool has = parts[0] != NULL;

	for (size_t i = 0; i < JOB_PARTS && has; i++)
		has = !parts[i] || find(environment, parts[i]);
	return has;
}

static int keep_job(struct um_job_rank *rank, const struct launcher *launcher,
		    char *const *environment)
{
	for (size_t i = 0; i < sizeof(launcher->jobs) / sizeof(*launcher->jobs); i++) {
		const char *const *parts = launcher->jobs[i];
		const char *first = find(environment, parts[0]);
		const char *second = find(environment, parts[1]);

		if (rank->job || !has_job(parts, environment))
			continue;
		int wrote = second ? asprintf(&rank->job, "%s=%s.%s", parts[0], first, second)
				   : asprintf(&rank->job, "%s=%s", parts[0], first);
		if (wrote < 0) {
			rank->job = NULL;
			return um_fail(UM_ENOMEM, "out of memory");
		}
	}
	return 0;
}

/* One that agrees may know what those before it did not say. */
static int take(struct um_job_rank *rank, const struct launcher *launcher, const struct told *told,
		char *const *environment)
{
	rank->rank = told->rank;
	if (rank->ranks == UM_NULL)
		rank->ranks = told->ranks;
	if (!rank->source)
		rank->source = launcher->rank;
	return keep_job(rank, launcher, environment);
}

static int listen(struct um_job_rank *rank, char *const *environment, FILE *notes)
{
	int error = 0;

	for (size_t i = 0; i < LAUNCHERS && !error; i++) {
		struct told told = hear(&launchers[i], environment, notes);

		if (told.rank == UM_NULL)
			continue;
		if (!rank->source || agree(rank, &told))
			error = take(rank, &launchers[i], &told, environment);
		else if (!launchers[i].is_step)
			note_contradiction(notes, rank, &launchers[i], &told);
	}
	return error;
}

int um_job_rank_find(struct um_job_rank *rank, char *const *environment)
{
	char *text = NULL;
	size_t bytes;
	FILE *notes = open_memstream(&text, &bytes);

	*rank = (struct um_job_rank){.rank = UM_NULL, .ranks = UM_NULL};
	if (!notes)
		return um_fail(UM_ENOMEM, "out of memory");
	int error = listen(rank, environment, notes);
	if (fclose(notes) != 0 && !error)
		error = um_fail(UM_ENOMEM, "out of memory");
	if (!error && bytes)
		rank->notes = text;
	else
		free(text);
	return error;
}

void um_job_rank_fini(struct um_job_rank *rank)
{
	free(rank->job);
	free(rank->notes);
	rank->job = rank->notes = NULL;
}

bool um_job_rank_is_of_several(const struct um_job_rank *rank)
{
	return rank->rank != UM_NULL && rank->ranks != 1;
}
