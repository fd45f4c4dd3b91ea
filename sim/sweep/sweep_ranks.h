/*
 * A sweep by several processes that MPI started: rank 0 hands out configurations, the others send back what
 * came of them. MPI itself is in a module of its own (sweep_mpi.c), which is loaded when it is asked for, so
 * that nothing else needs it.
 */
#ifndef UM_SWEEP_RANKS_H
#define UM_SWEEP_RANKS_H

#include "sweep.h"

#include <stdbool.h>

/* What the module has; it aborts all ranks where MPI fails, as MPI's own error handler does. */
struct um_ranks_ops {
	int (*rank)(void);
	int (*size)(void);
	/* To a rank; returns when `bytes` may be used again. */
	void (*send)(int to, const void *bytes, size_t count);
	/* Whether a message is there, from whom and how large; blocks: until there is one. */
	bool (*probe)(bool blocks, int *from, size_t *count);
	void (*receive)(int from, void *bytes, size_t count);
	/* Ends all ranks, now, with this status. */
	void (*abort)(int status);
	void (*finish)(void);
};
#define UM_RANKS_SYMBOL "um_ranks_open_module"
/* In the module: begins MPI. */
typedef const struct um_ranks_ops *(*um_ranks_open_fn)(void);

/*
 * Loads the module. UM_ENOTSUP: umsim was built without it, or MPI's own library is not there (the message
 * says which).
 */
int um_ranks_open(const struct um_ranks_ops **out);

/*
 * All ranks, once each is as far as it comes on its own: `own_error` with its message, or 0 and `identity`, in
 * which all have to agree: the trace, and what is to be run. 0 on all ranks, or an error on all, of which rank
 * 0 alone has the message: "rank 2: ...".
 */
int um_ranks_agree(const struct um_ranks_ops *, int own_error, const char *identity);
/*
 * Points of the request among all ranks, each of which calls it with the same ones; rank 0 says which of them
 * (`todo`, of the others NULL). result() and tick() are called on rank 0 only, for all of them. After an error on
 * rank 0 the others may still be at work: abort(). Without ops this process is the only one.
 */
int um_sweep_run_ranks(const struct um_sweep *, const struct um_ranks_ops *, const size_t *todo,
		       size_t todo_count);

#endif
