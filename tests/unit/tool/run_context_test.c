/* Ranks and variables, from environments as launchers make them. */
#include "trace/tool/run_context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *const *environment, int64_t rank, int64_t ranks, const char *text)
{
	struct um_run_row run = {0};
	char *got;

	assert_int_equal(um_run_context(&run, &got, (char *const *)environment), 0);
	assert_int_equal(run.rank, rank);
	assert_int_equal(run.ranks, ranks);
	assert_string_equal(run.environment, text);
	free(got);
}

#define EXPECT(rank, ranks, text, ...)                                                             \
	expect((const char *const[]){__VA_ARGS__, NULL}, rank, ranks, text)

static void ranks_come_from_the_launcher(void **state)
{
	(void)state;
	EXPECT(UM_NULL, UM_NULL, "{}", "HOME=/");
	EXPECT(3, 8, "{}", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_RANK=3");
	EXPECT(2, UM_NULL, "{}", "PMIX_RANK=2");
	/* MPI within a job of Slurm: the inner one knows. */
	EXPECT(1, 2, "{}", "SLURM_PROCID=0", "SLURM_NTASKS=1", "PMI_RANK=1", "PMI_SIZE=2");
	EXPECT(UM_NULL, UM_NULL, "{}", "PMI_RANK=", "SLURM_PROCID=-1", "PMIX_RANK=1x",
	       "PMI_RANKS=4");
	EXPECT(UM_NULL, UM_NULL, "{}", "PMI_RANK=99999999999999999999");
}

static void variables_that_matter_are_kept(void **state)
{
	(void)state;
	EXPECT(UM_NULL, UM_NULL, "{\"HIP_VISIBLE_DEVICES\":\"0,1\",\"HSA_XNACK\":\"1\"}",
	       "PATH=/bin", "HSA_XNACK=1", "AHSA_=2", "HSA_WITHOUT", "HIP_VISIBLE_DEVICES=0,1");
	EXPECT(UM_NULL, UM_NULL, "{}", "HSA_NAME=\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_come_from_the_launcher),
		cmocka_unit_test(variables_that_matter_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
