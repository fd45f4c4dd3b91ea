/*
 * A driver model: it answers events, and is the only one that changes the machine. Policies propose
 * (advice, prefetch, eviction order), the driver disposes. Time passes only through the machine's
 * verbs and um_fault_buffer_serve(). One file a driver; registry.c is the only list of names.
 *
 * Called from the engine's events only, never reentrantly. An error (UM_E*, message set) ends the
 * simulation; what a driver merely does not honour it reports through env->ignored.
 */
#ifndef UM_DRIVER_H
#define UM_DRIVER_H

#include "sim/machine/machine.h"
#include "sim/machine/param.h"

struct um_driver;
struct um_evictor; /* sim/driver/evictor.h: an eviction order */

struct um_driver_env {
	struct um_machine *machine;
	const struct um_param_value *params; /* one for each of ops->params, in order; checked */
	uint64_t page_bytes;		     /* as asked for; 0: the driver's own default */
	struct um_evictor *evictor;	     /* NULL: the driver's own order */
	/* Tells once per kind that the driver ignores something it was asked, with its reason. */
	void (*ignored)(void *context, const char *what, const char *why);
	void *ignored_context;
};

struct um_alloc {
	um_alloc_id allocation;
	uint32_t kind;	/* enum um_allocation_kind */
	uint32_t flags; /* hipMemAttach* */
	uint64_t bytes;
	um_device_id device; /* current at the call */
	uint32_t op;
};

/* hipMemoryAdvise, less the prefix, in HIP's order (hip_runtime_api.h, hipMemAdvise*). */
enum um_advice_kind {
	UM_ADVICE_READ_MOSTLY = 1,
	UM_ADVICE_UNSET_READ_MOSTLY = 2,
	UM_ADVICE_PREFERRED_LOCATION = 3,
	UM_ADVICE_UNSET_PREFERRED_LOCATION = 4,
	UM_ADVICE_ACCESSED_BY = 5,
	UM_ADVICE_UNSET_ACCESSED_BY = 6,
	UM_ADVICE_COARSE_GRAIN = 100,
	UM_ADVICE_UNSET_COARSE_GRAIN = 101,
};
struct um_advice {
	struct um_page_range range;
	enum um_advice_kind kind;
	um_device_id device;
	uint32_t op;
};

struct um_prefetch {
	struct um_page_range range;
	um_device_id to;
	uint32_t op;
};

/*
 * Faults that wait for the driver, oldest first. Two faults of one device on a page are one entry
 * (`duplicates` counts the rest). The host's faults come through the same buffer, device UM_HOST.
 */
struct um_fault {
	um_device_id device;
	um_alloc_id allocation;
	um_page page;
	/* How many pages from `page` on the same access is about to touch in order (>= 1): a hint,
	 * so that what costs nothing can be dealt with in one step. */
	uint32_t pages_ahead;
	bool write;
	uint32_t op;
	uint32_t duplicates;
	um_ns raised_at;
};
struct um_fault_buffer;
size_t um_fault_buffer_pending(const struct um_fault_buffer *);
const struct um_fault *um_fault_buffer_peek(const struct um_fault_buffer *, size_t index);
/*
 * The oldest `count` faults have been dealt with and their accesses can be tried again at `done_at`
 * (>= now). `range` is what the driver made accessible, for the probe's fault row; `batch` counts
 * the driver's services from 1. Every fault of the same device on those pages in the buffer is
 * woken too and counts as a duplicate. batch 0: nothing that this driver counts as a fault (first
 * touch by the host is the operating system's), no row.
 */
int um_fault_buffer_serve(struct um_fault_buffer *, size_t count, const struct um_page_range *range,
			  uint64_t batch, um_ns done_at);

struct um_driver_ops {
	const char *name;
	const char *summary;   /* one line for --help */
	const char *validated; /* "textbook, not a real driver"; "rules from source, not checked on
				  hardware" */
	const struct um_param *params; /* typed, ranged, with unit and help: policy file, --help and
					  `run` share it; ends with a NULL name */
	const uint64_t *page_bytes; /* page sizes it takes, ascending, ends with 0; NULL: fixed */
	uint64_t default_page_bytes;
	int (*create)(struct um_driver **out,
		      const struct um_driver_env *env); /* env outlives the driver */
	int (*on_alloc)(struct um_driver *, const struct um_alloc *);
	int (*on_free)(struct um_driver *, um_alloc_id);
	int (*on_advice)(struct um_driver *, const struct um_advice *);
	/* On its stream, at now; *done_at: when the next operation of the stream may start. */
	int (*on_prefetch)(struct um_driver *, const struct um_prefetch *, um_ns *done_at);
	/* The driver is idle and faults wait: takes as many as it services at once, at least one.
	 */
	int (*on_faults)(struct um_driver *, struct um_fault_buffer *);
	/* An explicit copy or a device allocation needs room: must free `bytes`, or refuse with
	 * UM_ELIMIT. */
	int (*on_pressure)(struct um_driver *, um_device_id, uint64_t bytes);
	/* A touch hit (device resident or remote): only for orders that a real driver could not
	 * keep. May be NULL. */
	void (*on_touch)(struct um_driver *, const struct um_page_range *, um_device_id,
			 bool write);
	void (*destroy)(struct um_driver *); /* NULL is legal */
};

struct um_driver { /* first member of every driver's own struct */
	const struct um_driver_ops *ops;
};

/* NULL and a message that lists the names, if there is none such. */
const struct um_driver_ops *um_driver_find(const char *name);
const struct um_driver_ops *const *um_driver_registry(size_t *count);

#endif
