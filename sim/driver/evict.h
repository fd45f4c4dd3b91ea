/*
 * Who leaves when device memory is short. A driver model keeps what it holds on a device in an
 * order, by its own units (a page, a chunk, a whole buffer object), and asks it for the next victim.
 * Orders are registered by name (evict_registry.c is the only list); a driver's own is its
 * default, any other is hypothetical: no real driver does it, and the result says so.
 */
#ifndef UM_EVICT_H
#define UM_EVICT_H

#include "sim/machine/machine.h"

#include <stdbool.h>

struct um_evict_choice;
struct um_evict_order; /* of one device */
struct um_future;      /* what comes, of the trace; only oracles look (evict_future.h) */

struct um_evict_ops {
	const char *name;    /* "lru" */
	const char *summary; /* one line for --help */
	bool needs_touches;  /* um_evict_touched() must be called: a real driver sees no hits */
	bool needs_future;   /* um_evict_choice.future is not NULL */
	int (*create)(struct um_evict_order **out, const struct um_evict_choice *);
	void (*destroy)(struct um_evict_order *); /* NULL is legal */
	/* The unit, which is not in the order, is on the device now. UM_ENOMEM. */
	int (*arrived)(struct um_evict_order *, const struct um_page_range *unit);
	/* Pages were accessed; the order finds its units among them. */
	void (*touched)(struct um_evict_order *, const struct um_page_range *);
	/* The unit that begins there is gone; nothing happens if it is not in the order. */
	void (*left)(struct um_evict_order *, um_alloc_id, um_page first_page);
	/*
	 * The unit that is to leave first among those that `spares` (NULL: none) does not spare; it
	 * stays in the order until left(). False: there is none.
	 */
	bool (*victim)(struct um_evict_order *, struct um_page_range *unit,
		       bool (*spares)(void *context, const struct um_page_range *unit),
		       void *context);
};

struct um_evict_order { /* first member of every order's own struct */
	const struct um_evict_ops *ops;
};

/* Of a policy, resolved: what create() gets. */
struct um_evict_choice {
	const struct um_evict_ops *ops;
	uint64_t seed; /* of random */
	const struct um_future *future;
};

/* NULL and a message that lists the names, if there is none such. */
const struct um_evict_ops *um_evict_find(const char *name);
const struct um_evict_ops *const *um_evict_registry(size_t *count);

/* First in, first out: the order of arrival, which is what most drivers keep (fault order). */
extern const struct um_evict_ops um_evict_fifo;

#endif
