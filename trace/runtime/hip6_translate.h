/*
 * Between what a program of HIP 6 or 7 headers passes and what this runtime's 5.2 has: to_ is into the
 * runtime, from_ out of it. With 5.x headers all is as it is. The facts are hip_headers.h's.
 */
#ifndef UM_HIP6_TRANSLATE_H
#define UM_HIP6_TRANSLATE_H

#include "hip6_types.h"

#include <stdbool.h>

/* A number that HIP 5.2 has no type for becomes hipMemoryTypeUnified. */
hipMemoryType um_to_memory_type(unsigned type);
unsigned um_from_memory_type(hipMemoryType);
hipGraphNodeType um_from_node_type(hipGraphNodeType);
/* What `params` points to is of the program; NULL stays NULL. `kept` holds the result. */
const hipMemsetParams *um_to_memset_params(hipMemsetParams *kept, const void *params);
void um_from_memset_params(void *out, const hipMemsetParams *);
/* Of 64-bit fields, as 6.0 has them; its memory types are the program's still. */
void um_to_memcpy_3d(struct um_memcpy_3d_6 *out, const void *params);
/* NULL stays NULL. */
const hipMemAllocationProp *um_to_allocation_prop(hipMemAllocationProp *kept, const void *prop);
void um_from_allocation_prop(void *out, const hipMemAllocationProp *);

#endif
