/*
 * Fibres: bodies that run on stacks of their own, switched without a system call. Stacks come from
 * a pool, the one given back last first, so that few of them stay warm.
 */
#ifndef UM_FIBRE_H
#define UM_FIBRE_H

#include <stdbool.h>
#include <stdint.h>

/* Room for private arrays of a lane and for printf; untouched pages cost nothing. */
#define UM_FIBRE_STACK_BYTES (256u * 1024u)

/* Where a stack waits, to be resumed once. */
typedef void *um_context;
typedef uint32_t um_fibre_stack; /* its number in the pool */

/*
 * Keeps the running stack in *from and resumes `to`, whose own um_fibre_jump() returns `value`.
 * Returns when somebody resumes *from.
 */
uint64_t um_fibre_jump(um_context *from, um_context to, uint64_t value);
/*
 * Takes an idle stack for `body`, which starts when it is resumed for the first time and must not
 * return: it ends with um_fibre_leave(). One at a time: resume it before the next is made. NULL
 * when the system has no memory for one more stack.
 */
um_context um_fibre_create(void (*body)(um_fibre_stack));
/* Gives the running stack back and resumes `to`. */
void um_fibre_leave(um_fibre_stack, um_context to, uint64_t value) __attribute__((noreturn));
/* Calls every stack idle, whatever waits on it, and gives most of their memory back. */
void um_fibre_drop_all(void);
/* Whether both addresses lie on the same stack. */
bool um_fibre_is_same(const void *address, const void *other);
/* Whether `address` is where a body ends up that needs more than its stack. */
bool um_fibre_overflowed(const void *address);

#endif
