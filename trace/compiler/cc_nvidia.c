#include "cc_nvidia.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nvidia {
	const struct um_cc_args *args;
	char *nvcc, *headers;
};

/* --- finding nvcc --- */

static bool take_if_executable(char **out, const char *folder, const char *below)
{
	if (asprintf(out, "%s%s/nvcc", folder, below) < 0) {
		*out = NULL;
		return false;
	}
	if (!access(*out, X_OK))
		return true;
	free(*out);
	*out = NULL;
	return false;
}

static bool find_in_path(char **out)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = path, *folder;
	bool found = false;

	while (!found && path && (folder = strsep(&rest, ":")))
		found = *folder && take_if_executable(out, folder, "");
	free(path);
	return found;
}

/* CUDA's own variables, then PATH, then where NVIDIA's packages put it. */
static int find_nvcc(char **out)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *folder = getenv(variables[i]);

		if (folder && *folder && take_if_executable(out, folder, "/bin"))
			return 0;
	}
	if (find_in_path(out) || take_if_executable(out, "/usr/local/cuda", "/bin"))
		return 0;
	return um_fail(UM_ENOENT,
		       "--nvidia needs nvcc of CUDA 12 or 13: it is neither in CUDA_HOME "
		       "or CUDA_PATH, nor in PATH, nor in /usr/local/cuda/bin");
}

static int find_headers(char **out)
{
	int error = um_path_share(out, "nvidia");

	if (error || !access(*out, R_OK))
		return error;
	return um_fail_errno(UM_ENOENT, "umtrace is not installed whole: %s", *out);
}

/* --- options --- */

/* A word for the host's compiler, at whose commas nvcc does not split. */
static void push_for_host(struct um_argv *command, const char *word)
{
	um_argv_push(command, "-Xcompiler");
	um_argv_pushf(command, strchr(word, ',') ? "\"%s\"" : "%s", word);
}

static bool begins_with_any(const char *word, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(word, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

static bool is_any(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* nvcc has no GNU dialects by name: gnu++17 is c++17, with the host compiler's extensions. */
static void push_standard(struct um_argv *command, const char *word)
{
	const char *value = strchr(word, '=') + 1;

	if (strncmp(value, "gnu++", 5))
		um_argv_pushf(command, "-std=%s", value);
	else
		um_argv_pushf(command, "-std=c%s", value + strlen("gnu"));
}

/* What the host's compiler is told about floating point holds on the device too. */
static void push_for_device(struct um_argv *command, const char *word)
{
	static const char *const pairs[][2] = {{"-ffp-contract=off", "-fmad=false"},
					       {"-ffast-math", "-use_fast_math"}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (!strcmp(word, pairs[i][0]))
			um_argv_push(command, pairs[i][1]);
}

static void push_compile_options(struct um_argv *command, const struct um_argv *options)
{
	static const char *const of_host[] = {"-W", "-f", "-m", "-pthread", "-B", NULL};
	/* Only clang has these, and they have a value of their own. */
	static const char *const of_clang[] = {"-Xclang", "-mllvm", "-Xarch_device", "-target",
					       NULL};
	static const char *const standard[] = {"-std=", "--std=", NULL};

	for (size_t i = 0; i < options->count; i++) {
		const char *word = options->items[i];

		if (is_any(word, of_clang))
			i++;
		else if (begins_with_any(word, standard))
			push_standard(command, word);
		else if (!strncmp(word, "-g", 2))
			um_argv_push(command, "-g");
		else if (!strncmp(word, "-O", 2))
			continue; /* the level stands apart */
		else if (begins_with_any(word, of_host)) {
			push_for_host(command, word);
			push_for_device(command, word);
		} else {
			um_argv_push(command, word);
		}
	}
}

static void push_archs(struct um_argv *command, const struct um_argv *archs)
{
	for (size_t i = 0; i < archs->count; i++)
		if (!strncmp(archs->items[i], "sm_", 3))
			um_argv_pushf(command, "-gencode=arch=compute_%s,code=%s",
				      archs->items[i] + 3, archs->items[i]);
}

static void push_for_linker(struct um_argv *command, const char *word)
{
	um_argv_push(command, "-Xlinker");
	um_argv_push(command, word);
}

/* The option of the linking at *at, with its value when that stands apart. */
static void push_link_option(struct um_argv *command, const struct um_argv *link, size_t *at)
{
	static const char *const of_nvcc[] = {"-l", "-L", "-shared", "-Xlinker", "-g", NULL};
	static const char *const of_linker[] = {"-z", "-T", "-u", "-rpath", NULL};
	const char *word = link->items[*at];

	if (!strncmp(word, "-Wl,", 4)) {
		push_for_linker(command, word + 4);
	} else if (is_any(word, of_linker)) {
		push_for_linker(command, word);
		push_for_linker(command, link->items[++*at]);
	} else if (!strcmp(word, "--emit-static-lib")) {
		um_argv_push(command, "-lib");
	} else if (*word != '-' || begins_with_any(word, of_nvcc)) {
		um_argv_push(command, word);
	} else if (strncmp(word, "-O", 2)) {
		push_for_host(command, word);
	}
}

static void push_link_inputs(struct um_argv *command, const struct um_cc_args *args,
			     char *const *objects)
{
	size_t input = 0;

	for (size_t i = 0; i < args->link.count; i++) {
		while (input < args->input_count && args->inputs[input].link_index < i)
			input++;
		if (*args->link.items[i])
			push_link_option(command, &args->link, &i);
		else if (input < args->input_count && objects[input])
			um_argv_push(command, objects[input]);
	}
}

/* --- running --- */

static int run_or_show(const struct um_cc_args *args, struct um_argv *command)
{
	int status = 0;

	if (args->show_only)
		um_argv_print(command);
	else
		status = um_run(command, NULL, NULL);
	um_argv_fini(command);
	return status;
}

/* As nvcc's -x has it; NULL: none that nvcc knows. */
static const char *language_of(const struct um_cc_input *input)
{
	static const char *const known[] = {"c", "c++", NULL};

	if (input->language == UM_CC_HIP)
		return "cu";
	if (input->language == UM_CC_C)
		return "c";
	return input->x && is_any(input->x, known) ? input->x : NULL;
}

static int compile(const struct nvidia *nvidia, const struct um_cc_input *input, const char *output)
{
	const struct um_cc_args *args = nvidia->args;
	struct um_argv command = {0};

	um_argv_push(&command, nvidia->nvcc);
	um_argv_pushf(&command, "-I%s", nvidia->headers);
	um_argv_push(&command, "-D__HIP_PLATFORM_NVIDIA__");
	push_archs(&command, &args->archs);
	/* nvcc knows -O0 to -O3; what is about size is of the host's compiler only. */
	if (strchr("0123", args->level[1]))
		um_argv_pushf(&command, "-%s", args->level);
	push_compile_options(&command, &args->compile);
	um_argv_push(&command, args->stage == UM_CC_PREPROCESS ? "-E" : "-c");
	if (output) {
		um_argv_push(&command, "-o");
		um_argv_push(&command, output);
	}
	um_argv_push(&command, "-x");
	um_argv_push(&command, language_of(input));
	um_argv_push(&command, input->path);
	return run_or_show(args, &command);
}

static int link_all(const struct nvidia *nvidia, char *const *objects)
{
	const struct um_cc_args *args = nvidia->args;
	struct um_argv command = {0};

	um_argv_push(&command, nvidia->nvcc);
	push_archs(&command, &args->archs);
	um_argv_push(&command, "-o");
	um_argv_push(&command, args->output ? args->output : "a.out");
	push_link_inputs(&command, args, objects);
	return run_or_show(args, &command);
}

/* dir/name.hip -> name.o */
static char *object_name(const char *source)
{
	const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
	const char *dot = strrchr(name, '.');
	char *output = NULL;

	if (asprintf(&output, "%.*s.o", dot ? (int)(dot - name) : (int)strlen(name), name) < 0)
		return NULL;
	return output;
}

static char *output_of(const struct um_cc_args *args, size_t input, const char *folder)
{
	char *output = NULL;

	if (args->stage == UM_CC_LINK)
		return asprintf(&output, "%s/%zu.o", folder, input) < 0 ? NULL : output;
	if (args->output || args->stage == UM_CC_PREPROCESS)
		return args->output ? strdup(args->output) : NULL;
	return object_name(args->inputs[input].path);
}

static int run(const char *folder, void *context)
{
	const struct nvidia *nvidia = context;
	const struct um_cc_args *args = nvidia->args;
	char **objects = calloc(args->input_count + 1, sizeof *objects);
	int status = objects ? 0 : 1;

	for (size_t i = 0; i < args->input_count && !status; i++) {
		if (args->inputs[i].language == UM_CC_OBJECT)
			continue;
		objects[i] = output_of(args, i, folder);
		status = compile(nvidia, &args->inputs[i], objects[i]);
	}
	if (!status && args->stage == UM_CC_LINK)
		status = link_all(nvidia, objects);
	for (size_t i = 0; objects && i < args->input_count; i++)
		free(objects[i]);
	free(objects);
	return status;
}

static int check_stage(const struct um_cc_args *args)
{
	if (args->stage == UM_CC_LINK || args->stage == UM_CC_COMPILE ||
	    args->stage == UM_CC_PREPROCESS)
		return 0;
	return um_fail(UM_ENOTSUP, "--nvidia compiles, links and preprocesses only: -S, "
				   "-fsyntax-only and --genco are not for it");
}

static int check_inputs(const struct um_cc_args *args)
{
	for (size_t i = 0; i < args->input_count; i++)
		if (args->inputs[i].language != UM_CC_OBJECT && !language_of(&args->inputs[i]))
			return um_fail(UM_ENOTSUP, "%s: --nvidia takes HIP, C and C++ only",
				       args->inputs[i].path);
	return 0;
}

int um_cc_nvidia(const struct um_cc_args *args)
{
	struct nvidia nvidia = {.args = args};
	int error = check_stage(args), status = UM_EXIT_FAILURE;

	if (!error)
		error = check_inputs(args);
	if (!error)
		error = find_nvcc(&nvidia.nvcc);
	if (!error)
		error = find_headers(&nvidia.headers);
	if (error)
		fprintf(stderr, "umhipcc: %s\n", um_error_message());
	else
		status = um_with_temporary_folder(run, &nvidia);
	free(nvidia.nvcc);
	free(nvidia.headers);
	return status;
}
