/* Tables of the runtime itself in a program's address space: large, and mostly never touched. */
#ifndef UM_LAZY_MAP_H
#define UM_LAZY_MAP_H

#include <stdint.h>

/*
 * Zeroed memory that is there as it is touched; munmap() gives it back. NULL, with errno, if there
 * is none. It is left out of core dumps, which also keeps the kernel from joining it to mappings of
 * the program (pageable.h has those as they are).
 */
void *um_lazy_map(uint64_t bytes);

#endif
