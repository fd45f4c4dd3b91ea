/* What umtrace put into the environment of a traced program, for whoever takes it out again. */
#ifndef UM_SPOOL_ENVIRONMENT_H
#define UM_SPOOL_ENVIRONMENT_H

#define UM_SPOOL_VARIABLE "UMTRACE_SPOOL"

/* The path of the spool; NULL when umtrace did not start this program. Valid until it is removed. */
const char *um_environment_spool(void);
/* Removes a variable from environ, and from the memory that /proc/self/environ shows. */
void um_environment_remove(const char *name);
/* Takes the library at `path` off LD_PRELOAD. */
void um_environment_remove_preload(const char *path);

#endif
