/*
 * Which instructions touch watched memory, with their call stacks, for umtrace --host-sync. They are
 * asked for in a signal handler: nothing here waits, allocates or writes records. Their numbers are of
 * this file alone, from 1; whoever writes records goes through them from the innermost outwards.
 *
 * Except for um_touch_walk() callers hold a lock of their own.
 */
#ifndef UM_HOSTWATCH_PLACE_H
#define UM_HOSTWATCH_PLACE_H

#include "../spool/spool_stack.h"
#include "wrap/wrap.h"

/* Where a thread stands. */
struct um_touch_place {
	uintptr_t instruction; /* 0: in a wrapped system call */
	uintptr_t stack_pointer, frame_pointer;
	uintptr_t slot;	 /* where its function's return address lies; 0: to be found out */
	bool lacks_room; /* on an alternate signal stack that is too small to walk one */
	struct um_stack stack;
};

void um_touch_interrupted(struct um_touch_place *, const ucontext_t *);
void um_touch_in_call(struct um_touch_place *, uintptr_t slot);
/* The number of a place that was met before; 0: it has to be walked. */
uint32_t um_touch_find(struct um_touch_place *);
/* Without the lock. A stack that cannot be walked is left at its instruction. */
void um_touch_walk(struct um_touch_place *, um_wrap_guard_call *);
/* Its number, of one that was walked; 0: there is no memory for more. */
uint32_t um_touch_add(struct um_touch_place *);
/* The return address and the caller's number of a place; that of no caller is 0. */
const void *um_touch_address(uint32_t touch, uint32_t *parent);

#endif
