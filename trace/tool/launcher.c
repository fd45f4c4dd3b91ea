#include "launcher.h"

#include "program.h"

#include "trace/base/shell_quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Open MPI and PRRTE, MPICH and Intel MPI, MVAPICH2, Slurm, ALPS, JSM, Flux, TACC; with "mpirun.openmpi"
 * as Debian has them.
 */
static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "prun", "mpirun_rsh",
				    "srun",   "aprun",	 "jsrun",   "lrun",    "flux", "ibrun"};

bool um_launcher_is(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* Behind the launcher and its options; the end where none can be executed. */
static size_t find_program(char *const *words)
{
	size_t at = 1;

	for (; words[at]; at++) {
		char *path;

		if (words[at][0] != '-' && um_program_find(&path, words[at]) == 0) {
			free(path);
			break;
		}
	}
	return at;
}

/* The words with umtrace before the one at `place`. */
static char *quote_with(char *const *words, size_t count, size_t place)
{
	char **longer = calloc(count + 2, sizeof(*longer)), *text;

	if (!longer)
		return NULL;
	memcpy(longer, words, place * sizeof(*longer));
	longer[place] = (char *)"umtrace";
	memcpy(longer + place + 1, words + place, (count - place) * sizeof(*longer));
	text = um_shell_quote(longer);
	free(longer);
	return text;
}

char *um_launcher_advice(char *const *words)
{
	size_t place = find_program(words), count = 0;
	char *text, *launcher;

	while (words[count])
		count++;
	if (place < count)
		return quote_with(words, count, place);
	launcher = um_shell_quote((char *const[]){words[0], NULL});
	if (!launcher || asprintf(&text, "%s OPTIONS umtrace PROGRAM", launcher) < 0)
		text = NULL;
	free(launcher);
	return text;
}
