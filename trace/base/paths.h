/*
 * Where a tool finds its files: ../lib/umtrace and ../share/umtrace beside the folder that the
 * running executable lies in. The build tree and an installed one look the same, so there is no
 * configured prefix and no environment variable, and an installed tree can be moved.
 */
#ifndef UM_PATHS_H
#define UM_PATHS_H

/*
 * *out receives PREFIX/lib/umtrace/`name` (or share), malloc'ed; "" as name gives the folder. Says
 * nothing of whether it exists. UM_EIO, UM_ENOMEM.
 */
int um_path_lib(char **out, const char *name);
int um_path_share(char **out, const char *name);

#endif
