/*
 * The calling thread's stack, by the tables that exceptions unwind with. That costs some 0.2 us a
 * frame, so each stack is walked in this way once: a function that was called at the same place of
 * the stack and returns to the same place in it has its return address where it had it before. So
 * frames are kept as a tree, by their return addresses and where these lay, and a stack that was met
 * before is followed from one to the next. (A function whose frame varies in size, alloca(), may be
 * taken for an earlier call of itself.)
 *
 * A tree of many is spread over memory, at a cache miss a frame; those of the last calls are kept as lists
 * besides, and compared with the stack as they are.
 *
 * Nothing here allocates with the program's malloc(). um_stack_find() and um_stack_keep() are called
 * with a lock of the caller's; um_stack_walk() need not be.
 */
#ifndef UM_SPOOL_STACK_H
#define UM_SPOOL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stacks that were met before, with their sites. All zeros: none yet; it is kept for good. */
struct um_stack_table {
	struct um_stack_node *nodes; /* the first is not used */
	uint32_t *slots;
	uint32_t node_count;
	struct um_stack_recent *recent;
	uint32_t recent_count; /* how many came among them so far */
};

#define UM_STACK_MAX	    64u /* return addresses of the program's that are kept of a call */
#define UM_STACK_FRAMES_MAX 96u /* with those that are hidden */

struct um_stack {
	uint32_t known_site; /* of um_stack_find() */
	bool can_be_kept;
	size_t depth; /* how many of the last frames are the program's */
	size_t frames;
	/* Innermost first. The frame that returns to address_in[i] ends at slot[i]: x86-64. */
	uintptr_t slot[UM_STACK_FRAMES_MAX]; /* where the return addresses lie */
	uintptr_t
		address_in[UM_STACK_FRAMES_MAX]; /* where a signal interrupted: behind that byte */
};

/*
 * The site of the stack whose innermost return address lies at `slot`, which is what
 * UM_STACK_OWN_SLOT is in a function; 0: it was not met before. Where it was, sets frames, slot and
 * address_in too.
 */
uint32_t um_stack_find(struct um_stack_table *, struct um_stack *, uintptr_t slot);
#define UM_STACK_OWN_SLOT ((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t))
/*
 * Walks it, in a function called by the one that `slot` is of. `is_hidden` (NULL: none) says which
 * of the innermost frames are not the program's.
 */
void um_stack_walk(struct um_stack *, uintptr_t slot, bool (*is_hidden)(uintptr_t address));
/* Its site is known from now on: of a stack that was walked. */
void um_stack_keep(struct um_stack_table *, const struct um_stack *, uint32_t site);
/*
 * In a signal handler: where the return address of the interrupted function lies, whose instruction and
 * stack pointer these are. 0: it has none, or the tables do not say.
 */
uintptr_t um_stack_interrupted(uintptr_t instruction, uintptr_t stack_pointer);

#endif
