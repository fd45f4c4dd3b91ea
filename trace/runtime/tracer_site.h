/* What the loader says of a place in the program that calls HIP. */
#ifndef UM_TRACER_SITE_H
#define UM_TRACER_SITE_H

#include "../spool/spool_site.h"

/*
 * The SITE record of an address: its module. Waits for no lock of the loader's, as dladdr() would: a
 * library's constructor that calls HIP has that lock. Valid until the next call.
 */
const struct um_record_site *um_site_describe(uint32_t site, uint32_t parent,
					      const void *return_address);

#endif
