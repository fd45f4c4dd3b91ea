#include "run_context.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of the variables that change what HIP, ROCr, CUDA or a kernel driver do. */
static const char *const prefixes[] = {"HSA_", "HIP_", "ROCR_", "AMD_", "GPU_", "CUDA_"};

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
	run->environment = *text = environment_text(environment);
	return *text ? 0 : um_fail(UM_ENOMEM, "out of memory");
}
