/*
 * umhipcc: compiles HIP programs as hipcc does, and gives each code that runs without a GPU.
 *
 * For every HIP source, clang's front end runs over the device code and over the host code, both
 * for x86-64 (cc_plan.h). The device half becomes a code object (ir_device.h, code_object.h), which
 * goes into the fat binary that the host half registers with the HIP runtime (ir_host.h). Other
 * inputs and the linking are clang's (cc_source.h, cc_link.h).
 */
#include "cc_args.h"
#include "cc_install.h"
#include "cc_link.h"
#include "cc_nvidia.h"
#include "cc_source.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"Usage: umhipcc [options] file...\n"
	"\n"
	"Compiles and links HIP programs, as hipcc does. The program runs with umtrace's own HIP\n"
	"runtime on a machine without a GPU, and records what its kernels access when started by\n"
	"umtrace. Sources: .hip .cpp .cc .cxx .cu (HIP), .c (C).\n"
	"\n"
	"  -o FILE                 the output\n"
	"  -c, -S, -E, -fsyntax-only  compile, to assembly, preprocess, check only\n"
	"  -I -D -U -include -std= -O* -g -W* -f* -m* -M*  as clang has them (default -O3)\n"
	"  -shared -fPIC -L -l -Wl,  as clang has them\n"
	"  -x LANGUAGE             of the inputs that follow: hip, c, c++, ..., none\n"
	"  --offload-arch=ARCH     adds code for this AMD GPU, such as gfx90a, beside ours\n"
	"  -fgpu-rdc               device code may use that of other sources; when linking, too\n"
	"  --nvidia                makes a program for an NVIDIA GPU instead, with nvcc\n"
	"                          (--offload-arch=sm_90 ...)\n"
	"  --genco                 writes the code objects alone, for hipModuleLoad\n"
	"  --version, --help\n"
	"\n"
	"Not supported: -save-temps, inline assembly in device code, textures and\n"
	"surfaces.\n"
	"\n"
	"Example: umhipcc -O2 -g app.hip -o app && umtrace ./app\n"
	"With -g the trace has the source lines of the program's calls.\n";

struct work {
	const struct um_cc_args *args;
	const struct um_cc_install *install;
};

/* dir/name.hip -> name.o */
static char *default_output(const char *source, enum um_cc_stage stage)
{
	const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
	const char *dot = strrchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : strlen(name);
	char *output = NULL;

	if (stage == UM_CC_BUNDLE)
		return strdup("a.out");
	if (asprintf(&output, "%.*s.%c", (int)length, name, stage == UM_CC_ASSEMBLY ? 's' : 'o') <
	    0)
		return NULL;
	return output;
}

static char *output_of(const struct um_cc_args *args, const struct um_cc_input *input,
		       const char *folder, unsigned number)
{
	char *output = NULL;

	if (args->stage == UM_CC_LINK)
		return asprintf(&output, "%s/%u.o", folder, number) < 0 ? NULL : output;
	if (args->stage == UM_CC_PREPROCESS || args->stage == UM_CC_SYNTAX)
		return args->output ? strdup(args->output) : NULL;
	return args->output ? strdup(args->output) : default_output(input->path, args->stage);
}

/* In a process of its own: LLVM's switches are for one module (um_ir_optimise). */
static int compile_hip(const struct um_cc_job *job, const struct um_cc_input *input,
		       const char *output)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		int status = um_cc_compile_hip(job, input, output);

		fflush(NULL);
		_exit(status);
	}
	return um_wait(child);
}

static int compile_all(const struct work *work, const char *folder, char **outputs)
{
	const struct um_cc_args *args = work->args;

	for (unsigned i = 0; i < args->input_count; i++) {
		const struct um_cc_input *input = &args->inputs[i];
		const struct um_cc_job job = {args, work->install, folder, i};
		int status;

		if (input->language == UM_CC_OBJECT)
			continue;
		outputs[i] = output_of(args, input, folder, i);
		status = input->language == UM_CC_HIP
				 ? compile_hip(&job, input, outputs[i])
				 : um_cc_compile_other(&job, input, outputs[i]);
		if (status)
			return status;
	}
	return 0;
}

static int run(const char *folder, void *context)
{
	const struct work *work = context;
	size_t count = work->args->input_count;
	char **outputs = calloc(count + 1, sizeof *outputs);
	int status = outputs ? compile_all(work, folder, outputs) : 1;

	if (!status && work->args->stage == UM_CC_LINK)
		status = um_cc_link(work->args, work->install, folder, outputs);
	for (size_t i = 0; outputs && i < count; i++)
		free(outputs[i]);
	free(outputs);
	return status;
}

static size_t count_sources(const struct um_cc_args *args)
{
	size_t count = 0;

	for (size_t i = 0; i < args->input_count; i++)
		count += args->inputs[i].language != UM_CC_OBJECT;
	return count;
}

/* What clang says of itself follows, since build systems look for it. */
static int show_version(void)
{
	struct um_argv command = {0};
	int status;

	printf("umhipcc " UM_VERSION " (HIP for umtrace)\n");
	um_argv_push(&command, UM_LLVM_BINDIR "/clang++");
	um_argv_push(&command, "--version");
	status = um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}

static int usage_error(const char *text)
{
	fprintf(stderr, "umhipcc: %s (umhipcc --help)\n", text);
	return UM_EXIT_USAGE;
}

static int compile_and_link(const struct um_cc_args *args)
{
	struct um_cc_install install;
	struct work work = {args, &install};
	int status;

	if (!args->input_count)
		return usage_error("no input files");
	if (args->output && args->stage != UM_CC_LINK && count_sources(args) > 1)
		return usage_error("-o names one file, but there are several sources");
	if (args->nvidia)
		return um_cc_nvidia(args);
	if (um_cc_install_find(&install)) {
		fprintf(stderr, "umhipcc: %s\n", um_error_message());
		status = UM_EXIT_FAILURE;
	} else {
		status = um_with_temporary_folder(run, &work);
	}
	um_cc_install_fini(&install);
	return status;
}

int main(int argc, char **argv)
{
	struct um_cc_args args;
	int status;

	if (um_cc_args_parse(&args, argc - 1, argv + 1))
		status = usage_error(um_error_message());
	else if (args.help)
		status = fputs(help, stdout) < 0;
	else if (args.version)
		status = show_version();
	else
		status = compile_and_link(&args);
	um_cc_args_fini(&args);
	return status;
}
