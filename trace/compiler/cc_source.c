#include "cc_source.h"

#include "cc_amd.h"
#include "cc_bundle.h"
#include "cc_diagnostics.h"
#include "cc_plan.h"
#include "code_object.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Behind all others: AMD's own headers come first, where they are installed. */
static void push_own_headers(struct um_argv *command, const struct um_cc_job *job)
{
	um_argv_push(command, "-idirafter");
	um_argv_push(command, job->install->include_folder);
}

/* Code objects alone (--genco) are whole. */
static bool is_relocatable(const struct um_cc_args *args)
{
	return args->relocatable && args->stage != UM_CC_BUNDLE;
}

/*
 * Tells static device variables and kernels of several sources apart. The same however often a
 * source is compiled (FNV-1a).
 */
static const char *unit_id(char id[17], const struct um_cc_job *job,
			   const struct um_cc_input *input)
{
	char *path = realpath(input->path, NULL);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *at = path ? path : input->path; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	free(path);
	snprintf(id, 17, "%016" PRIx64, hash);
	return is_relocatable(job->args) ? id : NULL;
}

void um_cc_start_command(struct um_argv *command, const struct um_cc_job *job,
			 const struct um_cc_input *input)
{
	const struct um_cc_args *args = job->args;

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
	if (is_relocatable(args))
		um_argv_push(command, "-fgpu-rdc");
	push_own_headers(command, job);
	if (input->is_copy)
		um_argv_push(command, "-iquote.");
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

static bool has_option(const struct um_argv *argv, const char *prefix)
{
	for (size_t i = 0; i < argv->count; i++)
		if (!strncmp(argv->items[i], prefix, strlen(prefix)))
			return true;
	return false;
}

/* -MD of a source that is linked at once: named after the source, not after a temporary object. */
static void name_dependencies(struct um_argv *command, const struct um_cc_job *job,
			      const struct um_cc_input *input)
{
	const char *slash = strrchr(input->path, '/'), *name = slash ? slash + 1 : input->path;
	const char *dot = strrchr(name, '.');
	int length = (int)(dot ? (size_t)(dot - name) : strlen(name));

	if (job->args->stage != UM_CC_LINK ||
	    !(has_option(command, "-MD") || has_option(command, "-MMD")))
		return;
	if (!has_option(command, "-MF"))
		um_argv_pushf(command, "-MF%.*s.d", length, name);
	if (!has_option(command, "-MT") && !has_option(command, "-MQ"))
		um_argv_pushf(command, "-MT%.*s.o", length, name);
}

/* clang has the option, and says so to headers by this macro, for amdgcn alone; the last one counts. */
static void take_hardware_atomics(struct um_argv *command)
{
	const char *define = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < command->count; i++) {
		char *item = command->items[i];
		bool on = !strcmp(item, "-munsafe-fp-atomics");

		if (on || !strcmp(item, "-mno-unsafe-fp-atomics")) {
			define = on ? "-D__AMDGCN_UNSAFE_FP_ATOMICS__=1" : NULL;
			free(item);
		} else {
			command->items[kept++] = item;
		}
	}
	command->count = kept;
	if (define)
		um_argv_push(command, define);
}

static void host_command(struct um_argv *command, const struct um_cc_job *job,
			 const struct um_cc_input *input, const char *output)
{
	um_cc_start_command(command, job, input);
	take_hardware_atomics(command);
	um_argv_push(command, "--cuda-host-only");
	um_argv_push(command, "-nogpulib");
	name_dependencies(command, job, input);
	end_command(command, job->args->stage, "hip", input->path, output);
}

/* The front ends of both halves, and AMD's own compilers where asked for, at once. */
static int run_front_ends(const struct um_cc_job *job, const struct um_cc_input *input,
			  const struct um_cc_plan *plan, const struct files *f,
			  struct um_cc_amd *amd)
{
	const char *messages[2 + UM_CC_AMD_MAX] = {f->device_messages, f->host_messages};
	pid_t device = um_spawn(&plan->device, NULL, f->device_messages);
	int error = um_cc_amd_start(amd, job, input);
	int host = um_run(&plan->front, NULL, f->host_messages);
	int status = device < 0 ? 127 : um_wait(device);
	int amd_status = um_cc_amd_wait(amd);

	for (size_t i = 0; i < amd->count; i++)
		messages[2 + i] = amd->items[i].messages;
	um_diagnostics_show(messages, 2 + amd->count);
	if (error)
		return say(um_error_message());
	return status ? status : host ? host : amd_status;
}

static int make_bundle(void **bundle, size_t *bytes, const struct files *f,
		       const struct um_cc_amd *amd)
{
	struct um_bundle_image images[1 + UM_CC_AMD_MAX] = {
		{UM_CODE_OBJECT_TARGET, f->code_object}};

	for (size_t i = 0; i < amd->count; i++)
		images[1 + i] = (struct um_bundle_image){amd->items[i].target, amd->items[i].image};
	return um_bundle_make(bundle, bytes, images, 1 + amd->count) ? say(um_error_message()) : 0;
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
static int finish(const struct um_cc_plan *plan, const struct files *f,
		  struct um_code_object *object, const void *bundle, size_t bytes)
{
	if (um_code_object_finish_host(object, bundle, bytes, f->finished_bitcode))
		return say(um_error_message());
	return um_run(&plan->back, NULL, NULL);
}

static int build(const struct um_cc_job *job, const struct um_cc_input *input,
		 const struct um_cc_plan *plan, const struct files *f, const struct um_cc_amd *amd,
		 const char *output)
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
		.relocatable = is_relocatable(job->args),
	};
	struct um_code_object *object;
	void *bundle = NULL;
	size_t bytes = 0;
	int status = 0;

	if (um_code_object_make(&object, &request))
		return say(um_error_message());
	if (!request.relocatable && !um_code_object_is_empty(object))
		status = make_bundle(&bundle, &bytes, f, amd);
	else if (job->args->stage == UM_CC_BUNDLE)
		status = say("error: --genco, but there is no kernel");
	if (!status)
		status = job->args->stage == UM_CC_BUNDLE ? write_file(output, bundle, bytes)
							  : finish(plan, f, object, bundle, bytes);
	free(bundle);
	um_code_object_free(object);
	return status;
}

static int compile(const struct um_cc_job *job, const struct um_cc_input *input,
		   const struct um_cc_plan *plan, const struct files *f, const char *output)
{
	struct um_cc_amd amd = {0};
	int status = run_front_ends(job, input, plan, f, &amd);

	if (status || job->args->stage == UM_CC_SYNTAX)
		return status;
	return build(job, input, plan, f, &amd, output);
}

static int show(const struct um_cc_plan *plan)
{
	um_argv_print(&plan->device);
	um_argv_print(&plan->front);
	um_argv_print(&plan->back);
	return 0;
}

static int compile_file(const struct um_cc_job *job, const struct um_cc_input *input,
			const char *output)
{
	struct um_argv command = {0};
	struct um_cc_plan plan;
	struct files f;
	char id[17];
	int status;

	name_files(&f, job);
	host_command(&command, job, input, output);
	if (job->args->stage == UM_CC_PREPROCESS) {
		status = um_run(&command, NULL, NULL);
	} else {
		const struct um_cc_plan_files files = {f.host_bitcode, f.device_bitcode,
						       f.finished_bitcode, job->install->prelude,
						       unit_id(id, job, input)};

		um_argv_push(&command, "-###");
		status = um_cc_plan_make(&plan, &command, &files, job->folder) != 0;
		if (!status)
			status = job->args->show_only ? show(&plan)
						      : compile(job, input, &plan, &f, output);
		um_cc_plan_fini(&plan);
	}
	um_argv_fini(&command);
	return status;
}

/* Standard input is read once, and both front ends need it. */
static int keep_standard_input(const struct um_cc_job *job, char *path, size_t capacity)
{
	char block[4096];
	size_t bytes;
	FILE *file;

	snprintf(path, capacity, "%s/%u-stdin.hip", job->folder, job->number);
	file = fopen(path, "wb");
	if (!file) {
		fprintf(stderr, "umhipcc: cannot write %s: %m\n", path);
		return 1;
	}
	fputs("#line 1 \"<stdin>\"\n", file);
	while ((bytes = fread(block, 1, sizeof block, stdin)))
		fwrite(block, 1, bytes, file);
	return fclose(file) != 0;
}

int um_cc_compile_hip(const struct um_cc_job *job, const struct um_cc_input *input,
		      const char *output)
{
	struct um_cc_input kept = *input;
	char path[1200];

	if (strcmp(input->path, "-"))
		return compile_file(job, input, output);
	if (keep_standard_input(job, path, sizeof path))
		return 1;
	kept.path = path;
	kept.is_copy = true;
	return compile_file(job, &kept, output);
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
	if (input->language == UM_CC_C)
		push_own_headers(&command, job);
	if (job->args->show_only)
		um_argv_push(&command, "-###");
	end_command(&command, job->args->stage, input->x, input->path, output);
	status = um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}
