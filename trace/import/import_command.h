/* umtrace --import FILE: a trace of what another tool recorded. */
#ifndef UM_IMPORT_COMMAND_H
#define UM_IMPORT_COMMAND_H

#include <stdbool.h>

struct um_import_request {
	const char *path; /* the foreign file */
	const char *
		output; /* NULL: its name with .um.db in place of its ending, in the current folder */
	bool force, quiet;
};

/* Does it and says so on stderr. Returns the exit status (enum um_exit). */
int um_import_command(const struct um_import_request *);

#endif
