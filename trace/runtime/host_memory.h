/* How much memory this host lets the program have. */
#ifndef UM_HOST_MEMORY_H
#define UM_HOST_MEMORY_H

#include <stdint.h>

/*
 * Physical memory and swap, or the memory limit of the program's control group where that is less.
 */
uint64_t um_host_memory_bytes(void);

#endif
