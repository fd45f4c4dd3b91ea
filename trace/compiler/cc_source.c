#include "cc_source.h"

#include "cc_bundle.h"
#include "cc_diagnostics.h"
#include "cc_plan.h"
#include "code_object.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARCHS_MAX 16

/* The temporary files of one source. */
struct files {
	char host_bitcode[1200], device_bitcode[1200], finished_bitcode[1200], bundle[1200];
	char host_messages[1200], device_messages[1200], code_object[1200];
};

/* A message that has the user's place needs no other. */
static int say(const char *message)
{
	fprintf(stderr, "%s%s\n", strstr(message, "error: ") ? "" : "umhipcc: ", message);
	return 1;
}

static void name_files(struct files *f, const struct um_cc_job *job)
{
	const struct {
		char *to;
		const char *name;
	} names[] = {
		{f->host_bitcode, "host.bc"},	      {f->device_bitcode, "device.bc"},
		{f->finished_bitcode, "finished.bc"}, {f->bundle, "bundle"},
		{f->host_messages, "host.txt"},	      {f->device_messages, "device.txt"},
		{f->code_object, "device.so"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		snprintf(names[i].to, sizeof f->bundle, "%s/%u-%s", job->folder, job->number,
			 names[i].name);
}

/* The driver's command line for one source, up to what differs. */
static void start_command(struct um_argv *command, const struct um_cc_args *args)
{
	um_argv_push(command, UM_LLVM_BINDIR "/clang++");
	/* Debian's HIP; clang takes one without a stated version for an old one (hipcc states it
	 * too). */
	um_argv_push(command, "--rocm-path=/usr");
	um_argv_push(command, "--hip-version=5.2");
	um_argv_push(command, "-std=gnu++17");
	if (!args->level_given)
		um_argv_push(command, "-O3");
	if (isatty(STDERR_FILENO))
		um_argv_push(command, "-fcolor-diagnostics");
	um_argv_push_all(command, &args->compile);
}

static const char *stage_option(enum um_cc_stage stage)
{
	switch (stage) {
	case UM_CC_ASSEMBLY:
		return "-S";
	case UM_CC_SYNTAX:
		return "-fsyntax-only";
	case UM_CC_PREPROCESS:
		return "-E";
	default:
		return "-c";
	}
}

static void end_command(struct um_argv *command, enum um_cc_stage stage, const char *language,
			const char *source, const char *output)
{
	um_argv_push(command, stage_option(stage));
	if (output) {
		um_argv_push(command, "-o");
		um_argv_push(command, output);
	}
	if (language) {
		um_argv_push(command, "-x");
		um_argv_push(command, language);
	}
	um_argv_push(command, source);
}

static void host_command(struct um_argv *command, const struct um_cc_job *job,
			 const struct um_cc_input *input, const char *output)
{
	start_command(command, job->args);
	um_argv_push(command, "--cuda-host-only");
	um_argv_push(command, "-nogpulib");
	end_command(command, job->args->stage, "hip", input->path, output);
}

/* Both front ends at once. */
static int run_front_ends(const struct um_cc_plan *plan, const struct files *f)
{
	const char *const messages[] = {f->device_messages, f->host_messages};
	pid_t device = um_spawn(&plan->device, NULL, f->device_messages);
	int host = um_run(&plan->front, NULL, f->host_messages);
	int status = device < 0 ? 127 : um_wait(device);

	um_diagnostics_show(messages, 2);
	return status ? status : host;
}

/* AMD's own code object, by the ordinary compiler. */
static int compile_for_amd(const struct um_cc_job *job, const struct um_cc_input *input,
			   const char *arch, const char *output)
{
	struct um_argv command = {0};
	int status;

	if (access("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", R_OK)) {
		fprintf(stderr,
			"umhipcc: --offload-arch=%s needs AMD's device libraries: install the "
			"package rocm-device-libs\n",
			arch);
		return 1;
	}
	start_command(&command, job->args);
	um_argv_push(&command, "--cuda-device-only");
	um_argv_push(&command, "--hip-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode");
	um_argv_push(&command, "--no-gpu-bundle-output");
	um_argv_pushf(&command, "--offload-arch=%s", arch);
	end_command(&command, UM_CC_COMPILE, "hip", input->path, output);
	status = um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}

static int make_bundle(void **bundle, size_t *bytes, const struct um_cc_job *job,
		       const struct um_cc_input *input, const struct files *f)
{
	struct um_bundle_image images[ARCHS_MAX + 1] = {{UM_CODE_OBJECT_TARGET, f->code_object}};
	char targets[ARCHS_MAX][80], paths[ARCHS_MAX][1200];
	size_t count = job->args->archs.count;
	int status = 0;

	if (count > ARCHS_MAX) {
		fprintf(stderr, "umhipcc: more than %d architectures\n", ARCHS_MAX);
		return 1;
	}
	for (size_t i = 0; i < count && !status; i++) {
		const char *arch = job->args->archs.items[i];

		snprintf(targets[i], sizeof targets[i], "hipv4-amdgcn-amd-amdhsa--%s", arch);
		snprintf(paths[i], sizeof paths[i], "%s/%u-%zu.hsaco", job->folder, job->number, i);
		images[i + 1] = (struct um_bundle_image){targets[i], paths[i]};
		status = compile_for_amd(job, input, arch, paths[i]);
	}
	if (!status && um_bundle_make(bundle, bytes, images, count + 1))
		status = say(um_error_message());
	return status;
}

static int write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	bool ok = file && fwrite(data, 1, bytes, file) == bytes;

	if (file && fclose(file))
		ok = false;
	if (!ok)
		fprintf(stderr, "umhipcc: cannot write %s: %m\n", path);
	return !ok;
}

/* The bundle into the host half, then the user's optimisation and code generation over it. */
static int finish(const struct um_cc_job *job, const struct um_cc_plan *plan, const struct files *f,
		  struct um_code_object *object, const void *bundle, size_t bytes)
{
	if (um_code_object_finish_host(object, bundle, bytes, f->finished_bitcode)) {
		return say(um_error_message());
	}
	(void)job;
	return um_run(&plan->back, NULL, NULL);
}

static int build(const struct um_cc_job *job, const struct um_cc_input *input,
		 const struct um_cc_plan *plan, const struct files *f, const char *output)
{
	const struct um_code_object_request request = {
		.source = input->path,
		.host_bitcode = f->host_bitcode,
		.device_bitcode = f->device_bitcode,
		.level = job->args->level,
		.folder = job->folder,
		.number = job->number,
		.install = job->install,
		.output = f->code_object,
	};
	struct um_code_object *object;
	void *bundle = NULL;
	size_t bytes = 0;
	int status;

	if (um_code_object_make(&object, &request)) {
		return say(um_error_message());
	}
	status = um_code_object_is_empty(object) ? 0 : make_bundle(&bundle, &bytes, job, input, f);
	if (!status)
		status = job->args->stage == UM_CC_BUNDLE
				 ? write_file(output, bundle, bytes)
				 : finish(job, plan, f, object, bundle, bytes);
	free(bundle);
	um_code_object_free(object);
	return status;
}

static int compile(const struct um_cc_job *job, const struct um_cc_input *input,
		   const struct um_cc_plan *plan, const struct files *f, const char *output)
{
	int status = run_front_ends(plan, f);

	if (status || job->args->stage == UM_CC_SYNTAX)
		return status;
	return build(job, input, plan, f, output);
}

int um_cc_compile_hip(const struct um_cc_job *job, const struct um_cc_input *input,
		      const char *output)
{
	struct um_argv command = {0};
	struct um_cc_plan plan;
	struct files f;
	int status;

	name_files(&f, job);
	host_command(&command, job, input, output);
	if (job->args->stage == UM_CC_PREPROCESS) {
		status = um_run(&command, NULL, NULL);
	} else {
		const struct um_cc_plan_files files = {f.host_bitcode, f.device_bitcode,
						       f.finished_bitcode, job->install->prelude};

		um_argv_push(&command, "-###");
		status = um_cc_plan_make(&plan, &command, &files, job->folder) != 0;
		if (!status)
			status = compile(job, input, &plan, &f, output);
		um_cc_plan_fini(&plan);
	}
	um_argv_fini(&command);
	return status;
}

int um_cc_compile_other(const struct um_cc_job *job, const struct um_cc_input *input,
			const char *output)
{
	struct um_argv command = {0};
	int status;

	um_argv_push(&command, UM_LLVM_BINDIR "/clang");
	if (!job->args->level_given)
		um_argv_push(&command, "-O3");
	um_argv_push_all(&command, &job->args->compile);
	end_command(&command, job->args->stage, input->x, input->path, output);
	status = um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}
