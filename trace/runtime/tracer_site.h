/*
 * Places in the program that call HIP, and where it keeps what it gets. Off when the tracer is
 * (tracer.h). Callers hold the runtime lock.
 */
#ifndef UM_TRACER_SITE_H
#define UM_TRACER_SITE_H

#include "../spool/spool_site.h"
#include "../spool/spool_stack.h"

/*
 * The id of the stack whose innermost return address lies at `slot` (spool_stack.h), of a function
 * that has not returned. 0 when off, and where a signal handler asks within this function.
 */
uint32_t um_tracer_site(uintptr_t slot);
/* The id of a place where the host touched watched memory (hostwatch_place.h); 0: none. */
uint32_t um_tracer_touch_site(uint32_t place);
/* Says in what the program of this stack keeps the allocation's address: what `out` points to. */
void um_tracer_variable(uint32_t allocation, uintptr_t slot, const void *out);

/*
 * The SITE record of an address: its module. Waits for no lock of the loader's, as dladdr() would: a
 * library's constructor that calls HIP has that lock. Valid until the next call.
 */
const struct um_record_site *um_site_describe(uint32_t site, uint32_t parent,
					      const void *return_address);

#endif
