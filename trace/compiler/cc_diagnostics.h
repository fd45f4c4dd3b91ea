/* The front ends of host and device say the same of the same source: each thing is shown once. */
#ifndef UM_CC_DIAGNOSTICS_H
#define UM_CC_DIAGNOSTICS_H

#include <stddef.h>

/* Prints to stderr what the files say, in order, without repetitions and without clang's totals. */
void um_diagnostics_show(const char *const *paths, size_t count);

#endif
