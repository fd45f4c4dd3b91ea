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
/*
 * Takes `library` off the list in a variable that begins with it, entries being parted by semicolons: what
 * umtrace put before what the user had. Where nothing is left the variable goes.
 */
void um_environment_remove_first(const char *variable, const char *library);

/*
 * The library of Kokkos's hooks that lies beside `own`, a library of umtrace's, in the variables that
 * Kokkos reads it from: KOKKOS_TOOLS_LIBS (from 3.7 on), KOKKOS_PROFILE_LIBRARY (before; one that reads both
 * warns of it). umtrace sets the first. Kokkos loads the first entry of the list.
 */
#define UM_KOKKOS_LIBRARY "libumtrace_kokkos.so"
#define UM_KOKKOS_VARIABLES                                                                        \
	{                                                                                          \
		"KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"                                      \
	}
/* Before main(): where the program has only the older Kokkos, sets its variable instead. */
void um_environment_choose_kokkos(const char *own);
/* In a program that is recorded: where it has no Kokkos, takes the library out. */
void um_environment_drop_kokkos(const char *own);

#endif
