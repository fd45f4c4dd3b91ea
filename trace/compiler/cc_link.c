#include "cc_link.h"

#include <string.h>

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

int um_cc_link(const struct um_cc_args *args, const struct um_cc_install *install,
	       char *const *objects)
{
	struct um_argv command = {0};
	int status;

	um_argv_push(&command, UM_LLVM_BINDIR "/clang++");
	if (args->output) {
		um_argv_push(&command, "-o");
		um_argv_push(&command, args->output);
	}
	push_inputs(&command, args, objects);
	if (!has_word(&args->link, "-r") && !has_word(&args->link, "--emit-static-lib")) {
		um_argv_pushf(&command, "-L%s", install->library_folder);
		um_argv_push(&command, "-lamdhip64");
		/* RUNPATH, not RPATH: LD_LIBRARY_PATH may choose AMD's runtime. */
		um_argv_pushf(&command, "-Wl,--enable-new-dtags,-rpath,%s",
			      install->library_folder);
	}
	if (args->show_only)
		um_argv_print(&command);
	status = args->show_only ? 0 : um_run(&command, NULL, NULL);
	um_argv_fini(&command);
	return status;
}
