/*
 * Who leaves when device memory is short. A driver model keeps what it holds on a device in an
 * order, by its own units (a page, a chunk, a whole buffer object), and asks it for the next victim.
 * Orders are registered by name (evict_registry.c is the only list); a driver's own is its
 * default, any other is hypothetical: no real driver does it, and the result says so.
 *
 * Units that are in one order at a time do not overlap. An order draws on nothing but its calls, its
 * seed and the future of the trace: the same calls give the same victims.
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
	/* Why no driver does it, after "hypothetical: "; where it is the driver's own, unsaid. */
	const char *hypothetical;
	bool takes_seed;   /* um_evict_choice.seed */
	bool needs_future; /* um_evict_choice.future is not NULL */
	/* The choice, which is not kept, has these ops; of its future it keeps what it needs. */
	int (*create)(struct um_evict_order **out, const struct um_evict_choice *, um_device_id);
	void (*destroy)(struct um_evict_order *); /* NULL is legal */
	/* The unit, which is not in the order, is on the device now. UM_ENOMEM. */
	int (*arrived)(struct um_evict_order *, const struct um_page_range *unit);
	/*
	 * The device accessed pages, wherever they are; the order finds its units among them. NULL:
	 * it does not look, as a real driver, which sees no hits.
	 */
	void (*touched)(struct um_evict_order *, const struct um_page_range *);
	/* A hint: what is kept of the unit that begins there is asked for soon. NULL: nothing to do. */
	void (*ahead)(const struct um_evict_order *, um_alloc_id, um_page first_page);
	/* The unit that begins there is gone; nothing happens if it is not in the order. */
	void (*left)(struct um_evict_order *, um_alloc_id, um_page first_page);
	/*
	 * The unit that is to leave first; it stays in the order until left(). False: the order is
	 * empty. What must not leave a driver takes out with left() beforehand.
	 */
	bool (*victim)(struct um_evict_order *, struct um_page_range *unit);
};

struct um_evict_order { /* first member of every order's own struct */
	const struct um_evict_ops *ops;
};

/* Of a policy, resolved: what create() gets. */
struct um_evict_choice {
	const struct um_evict_ops *ops;
	uint64_t seed;			/* of random */
	const struct um_future *future; /* outlives the orders */
};

/*
 * An order for a device: as the policy has it (um_driver_env.evict), where that is NULL the driver's
 * own. UM_ENOMEM.
 */
int um_evict_create(struct um_evict_order **out, const struct um_evict_choice *chosen,
		    const struct um_evict_ops *own, um_device_id device);

/* --- its calls, as um_evict_ops tells them; destroy, touched and ahead are right for any order --- */

static inline void um_evict_destroy(struct um_evict_order *order)
{
	if (order)
		order->ops->destroy(order);
}

static inline int um_evict_arrived(struct um_evict_order *order, const struct um_page_range *unit)
{
	return order->ops->arrived(order, unit);
}

static inline void um_evict_touched(struct um_evict_order *order, const struct um_page_range *pages)
{
	if (order->ops->touched)
		order->ops->touched(order, pages);
}

static inline void um_evict_ahead(const struct um_evict_order *order, um_alloc_id allocation,
				  um_page first_page)
{
	if (order->ops->ahead)
		order->ops->ahead(order, allocation, first_page);
}

static inline void um_evict_left(struct um_evict_order *order, um_alloc_id allocation,
				 um_page first_page)
{
	order->ops->left(order, allocation, first_page);
}

static inline bool um_evict_victim(struct um_evict_order *order, struct um_page_range *unit)
{
	return order->ops->victim(order, unit);
}

const struct um_evict_ops *const *um_evict_registry(size_t *count);

/* First in, first out: the order of arrival, which is what most drivers keep (fault order). */
extern const struct um_evict_ops um_evict_fifo;
extern const struct um_evict_ops um_evict_lru, um_evict_random, um_evict_belady;

#endif
