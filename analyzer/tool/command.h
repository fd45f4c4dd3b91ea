/* The commands of umanalyze. */
#ifndef UM_ANALYZE_COMMAND_H
#define UM_ANALYZE_COMMAND_H

struct um_command {
	const char *name; /* NULL ends the table */
	const char *arguments;
	const char *summary;		   /* for umanalyze --help */
	int (*run)(int argc, char **argv); /* argv[0] is the command; returns the exit status */
};

int um_cmd_report(int argc, char **argv);
int um_cmd_summary(int argc, char **argv);
int um_cmd_ops(int argc, char **argv);
int um_cmd_diff(int argc, char **argv);
int um_cmd_export(int argc, char **argv);
int um_cmd_findings(int argc, char **argv);
int um_cmd_advise(int argc, char **argv);

#endif
