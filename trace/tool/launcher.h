/* Programs that start other programs, in whose place umtrace was asked to trace them. */
#ifndef UM_LAUNCHER_H
#define UM_LAUNCHER_H

#include <stdbool.h>

/* Whether it starts the ranks of a job (mpirun, srun, ...), by its name. */
bool um_launcher_is(const char *program);
/*
 * The command that traces the ranks, as far as it can be told from the words up to NULL: "mpirun -n 4
 * umtrace ./app"; malloc'ed, NULL without memory. Which word is the program is a guess: the first one
 * behind the launcher that can be executed.
 */
char *um_launcher_advice(char *const *words);

#endif
