/*
 * Places in the program, numbered from 1 in the order they were first seen. A place is a return
 * address and the place that called it, so that call stacks are a tree; whoever records no callers
 * has 0 for all of them. Callers hold a lock of their own.
 */
#ifndef UM_SPOOL_SITE_H
#define UM_SPOOL_SITE_H

#include "spool_record.h"

#include <limits.h>
#include <stdbool.h>

#define UM_SITE_SYMBOL_MAX 8192u /* mangled names of templates are long; a longer one is cut */
#define UM_SITE_RECORD_MAX (sizeof(struct um_record_site) + PATH_MAX + UM_SITE_SYMBOL_MAX + 8)

/* All zeros: none yet; it is kept for good. */
struct um_site_table {
	struct um_site_slot *slots;
	uint32_t slot_count, site_count;
};

/*
 * The id of `return_address`; 0 when there is no memory for more. `*is_new`: it was given just now.
 */
uint32_t um_site_intern(struct um_site_table *, uint32_t parent, const void *return_address,
			bool *is_new);
/*
 * Its record. `offset` is that of the return address in the module. Valid until the next call.
 */
const struct um_record_site *um_site_record(uint32_t site, uint32_t parent, uint64_t offset,
					    const char *module, const char *symbol);
/*
 * The path of a loaded object. The program itself has the name ""; others may be relative to a
 * former cwd.
 */
void um_site_module_path(char path[PATH_MAX], const char *name);

#endif
