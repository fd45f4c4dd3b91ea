/* Memory of the program that hipHostRegister() made known: not in the arena, so hooks do not see
 * it. */
#ifndef UM_MEMORY_REGISTERED_H
#define UM_MEMORY_REGISTERED_H

#include "arena.h"

/* NULL when out of memory. The allocation's offset is meaningless. */
struct um_allocation *um_registered_add(void *start, uint64_t bytes);
void um_registered_remove(struct um_allocation *);
struct um_allocation *um_registered_find(const void *address);
/* True if any byte of the range is registered. */
bool um_registered_overlaps(const void *start, uint64_t bytes);
/* The one that counts in the page of the address: whole pages, from that in which it begins. */
struct um_allocation *um_registered_page(uintptr_t address);
/* Narrows [*start, *end) around an address that is in none to where there is none. */
void um_registered_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end);
void *um_registered_start(const struct um_allocation *);

#endif
