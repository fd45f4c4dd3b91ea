/* umsim: one subcommand, one file. */
#include "command.h"

#include "trace/base/suggest.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the whole command, "umsim replay" */
	const char *full_name, *summary;
} commands[] = {
	{"replay", um_cmd_replay, "umsim replay", "what a trace would have done under a policy"},
	{"sweep", um_cmd_sweep, "umsim sweep", "many policies and settings of a trace in one pass"},
	{"curve", um_cmd_curve, "umsim curve",
	 "traffic against memory, and where it falls off a cliff"},
	{"check", um_cmd_check, "umsim check", "a prediction beside what was measured on a GPU"},
	{"policy", um_cmd_policy, "umsim policy", "check a policy file, alone or against a trace"},
	{"machine", um_cmd_machine, "umsim machine", "list machines, check a machine file"},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void usage(FILE *out)
{
	fputs("Usage: umsim COMMAND [OPTION...]\n"
	      "Replays a trace of umtrace under other policies, page sizes and machines.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\n  --help, --version\n\numsim COMMAND --help says more.\n", out);
}

static int unknown_command(const char *name)
{
	const char *meant = um_suggest(name, &commands[0].name, COMMANDS, sizeof(*commands));

	if (meant)
		fprintf(stderr, "umsim: no command \"%s\": did you mean \"%s\"?\n", name, meant);
	else
		fprintf(stderr, "umsim: no command \"%s\"; umsim --help lists them\n", name);
	return UM_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		usage(stdout);
		return UM_EXIT_OK;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("umsim " UM_VERSION);
		return UM_EXIT_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name)) {
			argv[1] = (char *)commands[i].full_name;
			return commands[i].run(argc - 1, argv + 1);
		}
	if (*name)
		return unknown_command(name);
	usage(stderr);
	return UM_EXIT_USAGE;
}
