/* The measured side: a trace of a GPU. */
#ifndef UM_CHECK_MEASURED_H
#define UM_CHECK_MEASURED_H

#include "check_side.h"

/*
 * Reads the measured trace at `path`. UM_EFORMAT, UM_ENOENT (see um_db_open()); UM_EINVAL: it is a
 * simulation, or a trace that was measured on no GPU, or one that has no migrations: the message
 * says which. On an error nothing is to be freed.
 */
int um_check_measured_read(struct um_check_side *out, const char *path);

#endif
