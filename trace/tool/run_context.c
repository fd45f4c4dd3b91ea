#include "run_context.h"

#include "trace/base/error.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Where launchers tell a process its place. PMIx gives no size. */
static const struct {
	const char *rank, *ranks;
} launchers[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},	  /* MVAPICH2 */
	{"PMI_RANK", "PMI_SIZE"},			  /* MPICH, Intel MPI, Cray */
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
	{"PMIX_RANK", NULL},
};

/* Of the variables that change what HIP, ROCr, CUDA or a kernel driver do. */
static const char *const prefixes[] = {"HSA_", "HIP_", "ROCR_", "AMD_", "GPU_", "CUDA_"};

static const char *find(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static int64_t number(char *const *environment, const char *name)
{
	const char *text = name ? find(environment, name) : NULL;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return UM_NULL;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	return errno || *end ? UM_NULL : value;
}

static bool matters(const char *variable)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* A value that is not UTF-8 is left out: JSON has no place for it. */
static char *environment_text(char *const *environment)
{
	json_t *all = json_object();

	for (; *environment; environment++) {
		const char *equals = strchr(*environment, '=');

		if (!equals || !matters(*environment))
			continue;
		char *name = strndup(*environment, (size_t)(equals - *environment));
		json_object_set_new(all, name ? name : "", json_string(equals + 1));
		free(name);
	}
	char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	return text;
}

int um_run_context(struct um_run_row *run, char **text, char *const *environment)
{
	run->rank = run->ranks = UM_NULL;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers) && run->rank == UM_NULL;
	     i++) {
		run->rank = number(environment, launchers[i].rank);
		if (run->rank != UM_NULL)
			run->ranks = number(environment, launchers[i].ranks);
	}
	run->environment = *text = environment_text(environment);
	return *text ? 0 : um_fail(UM_ENOMEM, "out of memory");
}
