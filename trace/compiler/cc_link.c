#include "cc_link.h"

#include "cc_units.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has_word(const struct um_argv *argv, const char *word)
{
	for (size_t i = 0; i < argv->count; i++)
		if (!strcmp(argv->items[i], word))
			return true;
	return false;
}

static void push_inputs(struct um_argv *command, const struct um_cc_args *args,
			char *const *objects)
{
	size_t input = 0;

	for (size_t i = 0; i < args->link.count; i++) {
		while (input < args->input_count && args->inputs[input].link_index < i)
			input++;
		if (*args->link.items[i])
			um_argv_push(command, args->link.items[i]);
		else if (input < args->input_count && objects[input])
			um_argv_push(command, objects[input]);
	}
}

/* In a process of its own: LLVM's switches are for one module (um_ir_optimise). */
static int link_units(const struct um_cc_units *units, const struct um_cc_args *args,
		      const struct um_cc_install *install, const char *folder, char *object)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		int status = um_cc_units_link(units, args, install, folder, object);

		fflush(NULL);
		_exit(status);
	}
	return um_wait(child);
}

struct device_part {
	char object[1200]; /* relocatable device code of the inputs; "": there is none */
	unsigned headers;  /* of um_cc_units */
};

static int link_device(struct device_part *out, const struct um_cc_args *args,
		       const struct um_cc_install *install, const char *folder,
		       char *const *objects)
{
	struct um_cc_units units = {0};
	int status = 0;

	if (um_cc_units_find(&units, args, objects)) {
		fprintf(stderr, "umhipcc: %s\n", um_error_message());
		status = 1;
	} else if (units.count) {
		snprintf(out->object, sizeof out->object, "%s/units.o", folder);
		status = link_units(&units, args, install, folder, out->object);
	}
	out->headers = units.headers;
	um_cc_units_fini(&units);
	return status;
}

/* By the name that AMD's runtime for these headers has, so that the program runs with that too. */
static void push_runtime(struct um_argv *command, const struct um_cc_install *install,
			 unsigned headers)
{
	um_argv_pushf(command, "-L%s", install->library_folder);
	if (headers > 5)
		um_argv_pushf(command, "-l:libamdhip64.so.%u", headers);
	else
		um_argv_push(command, "-lamdhip64");
	/* RUNPATH, not RPATH: LD_LIBRARY_PATH may choose AMD's runtime. */
	um_argv_pushf(command, "-Wl,--enable-new-dtags,-rpath,%s", install->library_folder);
}

/* Not of a program: no runtime, and device code stays with the objects. */
static bool is_partial(const struct um_cc_args *args)
{
	return has_word(&args->link, "-r") || has_word(&args->link, "--emit-static-lib");
}

int um_cc_link(const struct um_cc_args *args, const struct um_cc_install *install,
	       const char *folder, char *const *objects)
{
	struct um_argv command = {0};
	struct device_part device = {0};
	int status = 0;

	if (!is_partial(args) && !args->show_only)
		status = link_device(&device, args, install, folder, objects);
	if (status)
		return status;
	um_argv_push(&command, UM_LLVM_BINDIR "/clang++");
	if (args->output) {
		um_argv_push(&command, "-o");
		um_argv_push(&command, args->output);
	}
	if (*device.object)
		um_argv_push(&command, device.object);
	push_inputs(&command, args, objects);
	if (!is_partial(args))
		push_runtime(&command, install, device.headers);
	if (args->show_only)
		um_argv_print(&command);
	status = args->show_only ? 0 : um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}
