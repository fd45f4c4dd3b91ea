/* Places in the program that call HIP, numbered from 1 in the order they were first seen. */
#ifndef UM_TRACER_SITE_H
#define UM_TRACER_SITE_H

#include "../spool/spool_record.h"

#include <stdbool.h>

/*
 * The id of `return_address`; 0 when there is no memory for more. `*is_new`: it was given just now.
 */
uint32_t um_site_intern(const void *return_address, bool *is_new);
/* The SITE record of an address: module and nearest symbol. Valid until the next call. */
const struct um_record_site *um_site_describe(uint32_t site, const void *return_address);

#endif
