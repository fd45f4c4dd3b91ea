/*
 * What libroctx64.so.4 calls in the runtime: the ranges of user_range.c. Exported there; the library
 * looks for them among what is loaded, so that a program runs as well without the runtime. `caller`
 * is where the return address into the program lies (UM_STACK_OWN_SLOT, spool_stack.h); names are any
 * bytes but NUL, NULL stands for "". Off (nothing is done) when umtrace did not start the program.
 */
#ifndef UM_ROCTX_HOOKS_H
#define UM_ROCTX_HOOKS_H

#include <stdint.h>

#ifndef UM_ROCTX_HOOK
#define UM_ROCTX_HOOK
#endif

UM_ROCTX_HOOK void um_roctx_push(const char *name, uintptr_t caller);
/* Without a range that this thread has open: nothing. */
UM_ROCTX_HOOK void um_roctx_pop(void);
/* `id`: none that is open. */
UM_ROCTX_HOOK void um_roctx_start(uint64_t id, const char *name, uintptr_t caller);
UM_ROCTX_HOOK void um_roctx_stop(uint64_t id);
UM_ROCTX_HOOK void um_roctx_mark(const char *name, uintptr_t caller);
/* Profilers are to go on, or to pause, for the thread with that id of the system's, 0: for all. */
UM_ROCTX_HOOK void um_roctx_profiler(int on, uint64_t thread, uintptr_t caller);

#endif
