/* What the loader says of a place in the program that calls HIP. */
#ifndef UM_TRACER_SITE_H
#define UM_TRACER_SITE_H

#include "../spool/spool_site.h"

/* The SITE record of an address: module and nearest symbol. Valid until the next call. */
const struct um_record_site *um_site_describe(uint32_t site, const void *return_address);

#endif
