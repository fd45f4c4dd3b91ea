#include "command.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct um_command commands[] = {
	{"summary", "TRACE...",
	 "what a trace or a simulation holds, on one page; or all ranks of a job", um_cmd_summary},
	{"report", "TRACE...",
	 "all of it as one page for a browser, with charts; several side by side", um_cmd_report},
	{"ops", "TRACE", "the program's calls of HIP in their order, one by one", um_cmd_ops},
	{"diff", "A B", "two of them beside each other: measured and predicted, before and after",
	 um_cmd_diff},
	{"export", "TRACE", "for other programs: a timeline (Perfetto), CSV, JSON", um_cmd_export},
	{"findings", "TRACE",
	 "what costs more than it has to, where, and what each change would save", um_cmd_findings},
	{"advise", "TRACE", "a policy file of all changes that help", um_cmd_advise},
	{0},
};

static void print_help(void)
{
	fputs("Usage: umanalyze COMMAND [options] TRACE...\n"
	      "Reads what umtrace recorded and what umsim simulated (*.um.db).\n"
	      "\n"
	      "Commands:\n",
	      stdout);
	for (const struct um_command *command = commands; command->name; command++)
		printf("  %-8s %-8s %s\n", command->name, command->arguments, command->summary);
	fputs("\n"
	      "umanalyze COMMAND --help tells about one. --version prints the version.\n"
	      "Exit status: 0 fine, 1 the file cannot be read, 2 the command line is wrong.\n",
	      stdout);
}

static int unknown_command(const char *name)
{
	const char *meant =
		um_suggest(name, &commands[0].name, sizeof(commands) / sizeof(commands[0]) - 1,
			   sizeof(commands[0]));

	fprintf(stderr, "umanalyze: no command \"%s\"", name);
	if (meant)
		fprintf(stderr, ": did you mean \"%s\"?\n", meant);
	else
		fputs("; umanalyze --help lists them\n", stderr);
	return UM_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	argp_err_exit_status = UM_EXIT_USAGE;
	if (argc < 2) {
		fputs("umanalyze: which command? umanalyze --help lists them\n", stderr);
		return UM_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0) {
		print_help();
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("umanalyze " UM_VERSION);
		return 0;
	}
	for (const struct um_command *command = commands; command->name; command++)
		if (strcmp(argv[1], command->name) == 0)
			return command->run(argc - 1, argv + 1);
	return unknown_command(argv[1]);
}
