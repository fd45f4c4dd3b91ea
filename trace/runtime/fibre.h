/*
 * Fibres: bodies that run on stacks of their own, switched by Boost.Context. Stacks come from a
 * pool, the one given back last first, so that few of them stay warm.
 */
#ifndef UM_FIBRE_H
#define UM_FIBRE_H

#include <stdbool.h>
#include <stdint.h>

/* Room for private arrays of a lane and for printf; untouched pages cost nothing. */
#define UM_FIBRE_STACK_BYTES (256u * 1024u)

/* Where a stack waits, to be resumed once. */
typedef void *um_context;
typedef uint32_t um_fibre_stack;

/* Keeps the running stack in *from and resumes `to`. Returns when somebody resumes *from. */
void um_fibre_jump(um_context *from, um_context to);
/*
 * Keeps the running stack in *from and runs `body` on an idle stack. Returns true when somebody
 * resumes *from, or at once false when the system has no memory for one more stack. The body must
 * not return: it ends with um_fibre_leave().
 */
bool um_fibre_start(um_context *from, void (*body)(um_fibre_stack));
/* Gives the running stack back and resumes `to`. */
void um_fibre_leave(um_fibre_stack, um_context to) __attribute__((noreturn));
/* Calls every stack idle, whatever waits on it, and gives most of their memory back. */
void um_fibre_drop_all(void);

#endif
