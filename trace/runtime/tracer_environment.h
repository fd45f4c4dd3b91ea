/*
 * What umtrace put into the environment: UMTRACE_SPOOL, and into LD_PRELOAD this library and
 * perhaps libumtrace_wrap.so. All go away, so that the program and its children see the environment
 * of an untraced run.
 */
#ifndef UM_TRACER_ENVIRONMENT_H
#define UM_TRACER_ENVIRONMENT_H

#include <stdbool.h>

/* The path of the spool; NULL when umtrace did not start this program. Valid until the next call
 * below. */
const char *um_environment_spool(void);
/* Removes them: from environ, and from the memory that /proc/self/environ shows. */
void um_environment_clean(void);
/*
 * Whether any object in the program was linked with a HIP runtime: a shell that starts one was not.
 */
bool um_program_uses_hip(void);

#endif
