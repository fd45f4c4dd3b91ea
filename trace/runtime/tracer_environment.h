/*
 * What umtrace put into the environment: UMTRACE_SPOOL, and into LD_PRELOAD this library and
 * perhaps libumtrace_wrap.so, and the tool that Kokkos loads, which stays until it has where the program
 * has Kokkos compiled in. All go away, so that the program and its children see the environment
 * of an untraced run.
 */
#ifndef UM_TRACER_ENVIRONMENT_H
#define UM_TRACER_ENVIRONMENT_H

#include "../spool/spool_environment.h"

#include <stdbool.h>

/* Before main(), in whatever umtrace starts: what only then can be settled, for Kokkos. */
void um_environment_begin(void);
/* Removes them: from environ, and from the memory that /proc/self/environ shows. */
void um_environment_clean(void);
/*
 * Whether any object in the program was linked with a HIP runtime: a shell that starts one was not.
 */
bool um_program_uses_hip(void);

#endif
