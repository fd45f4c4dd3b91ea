/* An address that nothing is known of yet: what lies there. */
#ifndef UM_PAGEABLE_MAPPING_H
#define UM_PAGEABLE_MAPPING_H

#include "pageable_parts.h"

/*
 * The new part that holds the address; a mapping of the program gets an allocation, which is told.
 * NULL: nothing that can be read is mapped there, or there is no memory to keep it in.
 */
const struct um_part *um_pageable_discover(uintptr_t address);

#endif
