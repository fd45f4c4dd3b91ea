/* Between source.c and groups.c. */
#ifndef UM_SOURCE_INTERNAL_H
#define UM_SOURCE_INTERNAL_H

#include "source.h"
#include "trace_cache.h"

struct um_db *um_source_db(const struct um_source *);
struct um_trace_cache *um_source_cache(const struct um_source *);

#endif
