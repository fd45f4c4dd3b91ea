/*
 * In what a program keeps the address that it gets of an allocation: what its argument points to. That
 * lies in a frame of the stack, in a module's data, or elsewhere, where only pointers of the innermost
 * frames lead to it. Nothing here allocates.
 */
#ifndef UM_SPOOL_VARIABLE_H
#define UM_SPOOL_VARIABLE_H

#include "spool_record.h"
#include "spool_stack.h"

#include <stdbool.h>

struct um_variable {
	const struct um_stack *stack;
	bool in_frame;
	size_t frame; /* of the stack */
	int64_t offset;
	uint32_t pointers;
	struct um_variable_pointer pointer[UM_VARIABLE_POINTERS]; /* site: a frame of the stack */
};

/*
 * Whether `out` lies in a frame of the stack, which was found or walked and is still there; its
 * `hidden` innermost frames are not the program's.
 */
bool um_variable_in_frame(struct um_variable *, const struct um_stack *, size_t hidden,
			  const void *out);
/* Where it lies in none: looks for pointers to it, or to what it is a member of. Unwinds once more. */
void um_variable_search(struct um_variable *, const struct um_stack *, size_t hidden,
			const void *out);
/*
 * Its record. `site_of` gives the site of a frame; `module` is the path of the module whose data it lies
 * in, `module_offset` bytes from its base ("": none). Valid until the next call.
 */
const struct um_record_variable *um_variable_record(const struct um_variable *, uint32_t allocation,
						    uint32_t (*site_of)(const struct um_stack *,
									size_t frame),
						    const char *module, uint64_t module_offset);

#endif
