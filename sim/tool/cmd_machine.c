/* umsim machine: what machines there are, what their files may say, and whether one is right. */
#include "command.h"
#include "machine_render.h"
#include "trace/base/format_option.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *verb, *machine, *driver;
	bool json;
};

static const struct argp_option option_table[] = {
	{"driver", 'd', "NAME", 0, "With check: of this driver model, not the machine's own", 0},
	{"format", 'f', "FORMAT", 0, "text (default) or json", 0},
	{0},
};

static const char help[] =
	"list: the machines that umsim and umtrace know by name.\n"
	"keys: all that a machine file may say, with units, ranges and meaning.\n"
	"check: reads a machine's file, and shows every parameter that its driver has there."
	"\v"
	"MACHINE is a name, or a file: ./my.yaml. A file is made by umtrace calibrate (of an NVIDIA GPU), or "
	"out of another (share/umtrace/machines); -P, --machine and a policy's machine: take it.\n\n"
	"Exit status: 0 fine, 2 the file is wrong or there is none such, 1 another failure.";

static int list(const struct options *);
static int list_keys(const struct options *);
static int check(const struct options *);

static const struct verb {
	const char *name;
	int (*run)(const struct options *);
	bool takes_machine;
} verbs[] = {{"list", list, false}, {"keys", list_keys, false}, {"check", check, true}};

/* NULL if there is none such. */
static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void check_arguments(const struct options *options, struct argp_state *state)
{
	const struct verb *verb = find_verb(options->verb);

	if (!verb)
		argp_error(state,
			   "there are: umsim machine list, umsim machine keys, umsim machine "
			   "check MACHINE");
	else if (verb->takes_machine != !!options->machine)
		argp_error(state, options->machine ? "too many arguments" : "which machine?");
	else if (options->driver && !verb->takes_machine)
		argp_error(state, "--driver is for check");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd':
		options->driver = argument;
		return 0;
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case ARGP_KEY_ARG:
		if (options->verb && options->machine)
			argp_error(state, "too many arguments");
		*(options->verb ? &options->machine : &options->verb) = argument;
		return 0;
	case ARGP_KEY_END:
		check_arguments(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- list --- */

static void free_all(char **names, struct um_machine_spec **machines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(names[i]);
		if (machines)
			um_machine_spec_destroy(machines[i]);
	}
	free(names);
	free(machines);
}

static int list(const struct options *options)
{
	struct um_machine_spec **machines;
	char **names;
	size_t count;
	int error = um_machine_names(&names, &count);

	if (error)
		return error;
	machines = calloc(count + 1, sizeof(*machines));
	if (!machines)
		error = um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !error; i++)
		error = um_machine_load(&machines[i], names[i]);
	if (!error)
		error = (options->json ? um_machine_list_json
				       : um_machine_list_text)(stdout, machines, count);
	free_all(names, machines, count);
	return error;
}

static int list_keys(const struct options *options)
{
	return (options->json ? um_machine_keys_json : um_machine_keys_text)(stdout);
}

/* --- check --- */

static int show(const struct options *options, const struct um_machine_spec *machine)
{
	struct um_policy *policy;
	int error = um_policy_default(&policy);

	if (error)
		return error;
	if (options->driver)
		error = um_policy_set_driver(policy, options->driver);
	if (!error)
		error = um_policy_settle(policy, machine, UM_XNACK_UNKNOWN);
	if (!error)
		error = (options->json ? um_machine_show_json : um_machine_show_text)(
			stdout, &(struct um_machine_shown){machine, policy});
	um_policy_destroy(policy);
	return error;
}

static int check(const struct options *options)
{
	struct um_machine_spec *machine;
	int error = um_machine_load(&machine, options->machine);

	if (error)
		return error == UM_ENOENT ? UM_EINVAL : error;
	error = show(options, machine);
	um_machine_spec_destroy(machine);
	return error;
}

int um_cmd_machine(int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse, "list\nkeys\ncheck MACHINE", help, NULL, NULL, NULL};
	struct options options = {0};
	int error;

	argp_err_exit_status = UM_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	error = find_verb(options.verb)->run(&options);
	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	if (error)
		fprintf(stderr, "umsim: %s\n", um_error_message());
	return (int)um_exit_status(error);
}
