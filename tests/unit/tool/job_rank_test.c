/* Ranks, from environments as launchers make them. */
#include "trace/tool/job_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct expected {
	int64_t rank, ranks;
	const char *source, *job, *notes;
};

static void same(const char *got, const char *wanted)
{
	if (wanted)
		assert_string_equal(got ? got : "(none)", wanted);
	else
		assert_null(got);
}

static void expect(const char *const *environment, struct expected wanted)
{
	struct um_job_rank rank;

	assert_int_equal(um_job_rank_find(&rank, (char *const *)environment), 0);
	assert_int_equal(rank.rank, wanted.rank);
	assert_int_equal(rank.ranks, wanted.ranks);
	same(rank.source, wanted.source);
	same(rank.job, wanted.job);
	same(rank.notes, wanted.notes);
	um_job_rank_fini(&rank);
}

#define FROM(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void each_launcher_is_known(void **state)
{
	const struct {
		const char *const *environment;
		struct expected wanted;
	} cases[] = {
		{FROM("OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=3",
		      "PMIX_NAMESPACE=506724353"),
		 {3, 8, "OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE=506724353", NULL}},
		{FROM("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
		      "OMPI_MCA_ess_base_jobid=7"),
		 {0, 2, "OMPI_COMM_WORLD_RANK", "OMPI_MCA_ess_base_jobid=7", NULL}},
		{FROM("MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=4"),
		 {1, 4, "MV2_COMM_WORLD_RANK", NULL, NULL}},
		{FROM("MVP_COMM_WORLD_RANK=1", "MVP_COMM_WORLD_SIZE=4"),
		 {1, 4, "MVP_COMM_WORLD_RANK", NULL, NULL}},
		{FROM("JSM_NAMESPACE_RANK=41", "JSM_NAMESPACE_SIZE=42", "PMIX_NAMESPACE=9"),
		 {41, 42, "JSM_NAMESPACE_RANK", "PMIX_NAMESPACE=9", NULL}},
		/* Cray's PALS has no size; its PMI does. */
		{FROM("PALS_RANKID=5", "PALS_APID=a-b-c", "PMI_RANK=5", "PMI_SIZE=6"),
		 {5, 6, "PALS_RANKID", "PALS_APID=a-b-c", NULL}},
		{FROM("PMI_RANK=1", "PMI_SIZE=2"), {1, 2, "PMI_RANK", NULL, NULL}},
		{FROM("PMI_RANK=1", "PMI_SIZE=2", "I_MPI_HYDRA_UUID=55"),
		 {1, 2, "PMI_RANK", "I_MPI_HYDRA_UUID=55", NULL}},
		{FROM("PMIX_RANK=2", "PMIX_NAMESPACE=x"),
		 {2, UM_NULL, "PMIX_RANK", "PMIX_NAMESPACE=x", NULL}},
		{FROM("FLUX_TASK_RANK=7", "FLUX_JOB_SIZE=8", "FLUX_JOB_ID=f1"),
		 {7, 8, "FLUX_TASK_RANK", "FLUX_JOB_ID=f1", NULL}},
		{FROM("ALPS_APP_PE=9", "ALPS_APP_ID=1"),
		 {9, UM_NULL, "ALPS_APP_PE", "ALPS_APP_ID=1", NULL}},
		{FROM("SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4", "SLURM_NTASKS=64",
		      "SLURM_JOB_ID=100", "SLURM_STEP_ID=0"),
		 {3, 4, "SLURM_PROCID", "SLURM_JOB_ID=100.0", NULL}},
		/* srun --mpi=pmix: the size is the step's. */
		{FROM("PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.100.0", "SLURM_PROCID=3",
		      "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4"),
		 {3, 4, "PMIX_RANK", "PMIX_NAMESPACE=slurm.pmix.100.0", NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i].environment, cases[i].wanted);
}

static void without_a_job_there_is_none(void **state)
{
	const struct expected none = {UM_NULL, UM_NULL, NULL, NULL, NULL};

	(void)state;
	expect(FROM("HOME=/", "PMI_RANKS=4", "PMI_RANK="), none);
	/* A batch script is no task of a step, though it has a number. */
	expect(FROM("SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_JOB_ID=1"), none);
}

static void mpi_is_believed_before_the_step_that_it_runs_in(void **state)
{
	(void)state;
	expect(FROM("SLURM_PROCID=0", "SLURM_STEP_ID=3", "SLURM_STEP_NUM_TASKS=2",
		    "FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2", "OMPI_COMM_WORLD_RANK=5",
		    "OMPI_COMM_WORLD_SIZE=8"),
	       (struct expected){5, 8, "OMPI_COMM_WORLD_RANK", NULL, NULL});
	expect(FROM("PMI_RANK=3", "PMI_SIZE=4", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"),
	       (struct expected){
		       1, 2, "OMPI_COMM_WORLD_RANK", NULL,
		       "OMPI_COMM_WORLD_RANK says rank 1 of 2, PMI_RANK says rank 3 of 4: "
		       "the first is taken\n"});
	expect(FROM("PMI_RANK=1", "PMI_SIZE=4", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"),
	       (struct expected){
		       1, 2, "OMPI_COMM_WORLD_RANK", NULL,
		       "OMPI_COMM_WORLD_RANK says rank 1 of 2, PMI_RANK says rank 1 of 4: "
		       "the first is taken\n"});
}

static void what_is_no_rank_is_ignored_and_noted(void **state)
{
	(void)state;
	expect(FROM("PMI_RANK=1x", "PMI_SIZE=2", "PMIX_RANK=-1"),
	       (struct expected){UM_NULL, UM_NULL, NULL, NULL,
				 "PMI_RANK=1x is no rank: ignored\n"
				 "PMIX_RANK=-1 is no rank: ignored\n"});
	expect(FROM("PMI_RANK=99999999999999999999", "FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=many"),
	       (struct expected){2, UM_NULL, "FLUX_TASK_RANK", NULL,
				 "PMI_RANK=99999999999999999999 is no rank: ignored\n"
				 "FLUX_JOB_SIZE=many is no number of ranks: ignored\n"});
	expect(FROM("PMI_RANK=4", "PMI_SIZE=4"),
	       (struct expected){UM_NULL, UM_NULL, NULL, NULL,
				 "PMI_RANK=4 of PMI_SIZE=4 cannot be: ignored\n"});
	expect(FROM("PMI_RANK=0", "PMI_SIZE=0"),
	       (struct expected){0, UM_NULL, "PMI_RANK", NULL,
				 "PMI_SIZE=0 is no number of ranks: ignored\n"});
	expect(FROM("PMI_RANK=2147483647"),
	       (struct expected){2147483647, UM_NULL, "PMI_RANK", NULL, NULL});
	expect(FROM("PMI_RANK=2147483648"),
	       (struct expected){UM_NULL, UM_NULL, NULL, NULL,
				 "PMI_RANK=2147483648 is no rank: ignored\n"});
}

static void one_rank_is_not_several(void **state)
{
	(void)state;
	assert_false(um_job_rank_is_of_several(
		&(struct um_job_rank){.rank = UM_NULL, .ranks = UM_NULL}));
	assert_false(um_job_rank_is_of_several(&(struct um_job_rank){.rank = 0, .ranks = 1}));
	assert_true(um_job_rank_is_of_several(&(struct um_job_rank){.rank = 0, .ranks = 2}));
	assert_true(um_job_rank_is_of_several(&(struct um_job_rank){.rank = 0, .ranks = UM_NULL}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_launcher_is_known),
		cmocka_unit_test(without_a_job_there_is_none),
		cmocka_unit_test(mpi_is_believed_before_the_step_that_it_runs_in),
		cmocka_unit_test(what_is_no_rank_is_ignored_and_noted),
		cmocka_unit_test(one_rank_is_not_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
