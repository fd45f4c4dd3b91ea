/*
 * What kernels took on a GPU, from a trace that was measured there: by name and shape, the shortest of the
 * launches alike, which waited least for pages.
 */
#ifndef UM_KERNEL_TIMES_H
#define UM_KERNEL_TIMES_H

#include "trace/db/trace_db.h"

#include <stdint.h>

struct um_kernel_times;

/* UM_ENOTSUP: the trace has no measured times of kernels. UM_EIO, UM_EFORMAT, UM_ENOMEM. */
int um_kernel_times_load(struct um_kernel_times **out, const char *path);
void um_kernel_times_destroy(struct um_kernel_times *); /* NULL is legal */
/* The file, and the device that it was measured on. */
const char *um_kernel_times_path(const struct um_kernel_times *);
const char *um_kernel_times_device(const struct um_kernel_times *);
/* Of a launch of that name (without its parameters) and shape; 0: none was measured. */
uint64_t um_kernel_times_find(const struct um_kernel_times *, const struct um_kernel_row *);

#endif
