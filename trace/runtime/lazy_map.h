/* Tables of the runtime itself in a program's address space: large, and mostly never touched. */
#ifndef UM_LAZY_MAP_H
#define UM_LAZY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Zeroed memory that is there as it is touched; munmap() gives it back. NULL, with errno, if there
 * is none. It is left out of core dumps, which also keeps the kernel from joining it to mappings of
 * the program (pageable.h has those as they are).
 */
void *um_lazy_map(uint64_t bytes);
/*
 * Room for one more element behind the `count` of a table of such memory; `array` is the address of
 * the pointer to it, which may change. False, with errno, if there is none: the table stays.
 */
bool um_lazy_room(void *array, size_t count, size_t *capacity, size_t element_bytes);

#endif
