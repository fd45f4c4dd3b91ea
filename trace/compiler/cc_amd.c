#include "cc_amd.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Debian's package rocm-device-libs. */
#define DEVICE_LIBRARIES "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

/* Dependencies are the host half's to write. */
static void push_without_dependencies(struct um_argv *to, const struct um_argv *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const char *text = from->items[i];
		bool has_value = strlen(text) == 3 && strchr("FTQJ", text[2]);

		if (strncmp(text, "-M", 2))
			um_argv_push(to, text);
		else
			i += has_value;
	}
}

static void start(struct um_cc_amd_item *item, const struct um_cc_job *job,
		  const struct um_cc_input *input, const char *arch)
{
	struct um_argv all = {0}, command = {0};

	um_cc_start_command(&all, job, input);
	push_without_dependencies(&command, &all);
	um_argv_push(&command, "--cuda-device-only");
	um_argv_push(&command, "--hip-device-lib-path=" DEVICE_LIBRARIES);
	um_argv_push(&command, "--no-gpu-bundle-output");
	um_argv_pushf(&command, "--offload-arch=%s", arch);
	um_argv_push(&command, "-c");
	um_argv_push(&command, "-o");
	um_argv_push(&command, item->image);
	um_argv_push(&command, "-x");
	um_argv_push(&command, "hip");
	um_argv_push(&command, input->path);
	item->compiler = um_spawn(&command, NULL, item->messages);
	um_argv_fini(&command);
	um_argv_fini(&all);
}

int um_cc_amd_start(struct um_cc_amd *out, const struct um_cc_job *job,
		    const struct um_cc_input *input)
{
	const struct um_argv *archs = &job->args->archs;

	out->count = 0;
	if (!archs->count || job->args->stage == UM_CC_SYNTAX)
		return 0;
	if (archs->count > UM_CC_AMD_MAX)
		return um_fail(UM_ELIMIT, "more than %d architectures", UM_CC_AMD_MAX);
	if (access(DEVICE_LIBRARIES "/ocml.bc", R_OK))
		return um_fail(UM_ENOENT,
			       "--offload-arch=%s needs AMD's device libraries: install the Debian "
			       "package rocm-device-libs",
			       archs->items[0]);
	for (size_t i = 0; i < archs->count; i++) {
		struct um_cc_amd_item *item = &out->items[out->count++];

		snprintf(item->target, sizeof item->target, "hipv4-amdgcn-amd-amdhsa--%s",
			 archs->items[i]);
		snprintf(item->image, sizeof item->image, "%s/%u-%zu.hsaco", job->folder,
			 job->number, i);
		snprintf(item->messages, sizeof item->messages, "%s/%u-%zu.txt", job->folder,
			 job->number, i);
		start(item, job, input, archs->items[i]);
	}
	return 0;
}

int um_cc_amd_wait(struct um_cc_amd *amd)
{
	int status = 0;

	for (size_t i = 0; i < amd->count; i++) {
		pid_t compiler = amd->items[i].compiler;
		int one = compiler < 0 ? 127 : um_wait(compiler);

		status = status ? status : one;
	}
	return status;
}
