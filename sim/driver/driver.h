/*
 * A driver model: it answers events, and is the only one that changes the machine. Policies propose
 * (advice, prefetch), the driver disposes. Time passes only through the machine's verbs, the times
 * at which it says that something is done, and its own timers. One file a driver; registry.c is the
 * only list of names.
 *
 * Called from the engine's events only, never reentrantly. An error (UM_E*, message set) ends the
 * simulation; what a driver merely does not honour it reports through env->ignored.
 */
#ifndef UM_DRIVER_H
#define UM_DRIVER_H

#include "sim/machine/machine.h"
#include "sim/machine/param.h"
#include "trace/db/rows.h"

struct um_driver;
struct um_fault_buffers;
struct um_evict_choice;
struct um_evict_ops;

struct um_driver_env {
	struct um_machine *machine;
	/* For timers: um_engine_schedule(). While one is due the simulation has not ended. */
	struct um_engine *engine;
	struct um_fault_buffers *faults;
	const struct um_param_value *params; /* one for each of ops->params, in order; checked */
	uint64_t page_bytes;		     /* as asked for; 0: the driver's own default */
	/* The order in which memory is given up (evict.h); NULL: the driver's own. */
	const struct um_evict_choice *evict;
	struct um_probe
		*probe; /* for driver_event rows; all others leave through machine and buffers */
	/*
	 * Tells that the driver ignores something it was asked, with its reason, once per `what`.
	 * Both must be literals: they are kept.
	 */
	void (*ignored)(void *context, const char *what, const char *why);
	void *ignored_context;
};

struct um_alloc {
	um_alloc_id allocation;
	uint32_t kind;	/* enum um_allocation_kind */
	uint32_t flags; /* as given to HIP; of pageable memory UM_PAGEABLE_* */
	uint64_t bytes;
	/* A multiple of ops->alignment_bytes, but of pageable memory; no two live at once overlap. */
	uint64_t address;
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

/* Memory that must be free on a device. */
struct um_pressure {
	um_device_id device;
	uint64_t bytes;
	uint32_t op;
};

/* A kernel or a memset. */
struct um_launch {
	um_device_id device;
	uint32_t op;
};

/*
 * What an operation is about to access, as the trace has it: a launch, a memset, or the host
 * (UM_HOST) until the next device operation. Pages of any home, sorted by allocation and page.
 */
struct um_accesses {
	um_device_id device;
	uint32_t op;
	const struct um_page_access_row *rows;
	size_t count;
};

struct um_fault {
	uint64_t number; /* from 1, in the order in which faults were raised anywhere */
	um_device_id device;
	uint32_t client; /* compute unit; 0 of the host */
	um_alloc_id allocation;
	um_page page;
	/* How many pages from `page` on the same access is about to touch in order (>= 1): a hint,
	 * so that what costs nothing can be dealt with in one step. */
	uint32_t pages_ahead;
	uint32_t waves; /* that make this access, each an entry (um_fault_path); 0: one */
	enum um_fault_access access;
	uint32_t op;
	um_ns late_ns; /* by which the access comes later than it was raised */
	um_ns raised_at;
};

/*
 * How a device's faults come into its buffer. Clients (compute units) are parts of clusters, in
 * order and alike. An access of a client becomes an entry for each wave that makes it, one after
 * another and one at a time, the client that was answered longest ago first; clusters take turns.
 * Accesses of a cluster to one page come together, up to jitter_ns late, at random by a fixed seed.
 * Of the accesses beyond `accesses`, or beyond `misses` aligned pieces of miss_pages pages, of a
 * client, none becomes an entry before the next replay, which has every stalled access come anew.
 */
struct um_fault_path {
	um_ns entry_ns; /* from one entry to the next; 0: a fault is an entry when it is raised */
	uint32_t clients, clusters;
	um_ns jitter_ns;
	uint32_t accesses, misses, miss_pages;
	um_ns touch_ns, store_ns; /* from a wave's load, or store, that hits to its next access */
	uint32_t stores;	  /* that a wave can have under way */
};

static inline bool um_fault_writes(const struct um_fault *fault)
{
	return fault->access == UM_FAULT_WRITE || fault->access == UM_FAULT_ATOMIC;
}

/*
 * Faults that wait for the driver: a buffer for each device, and one for the host (UM_HOST), whose
 * accesses wait in it likewise. Every fault is an entry, oldest first, also several on one page; of
 * a device that has a path (um_driver_ops.fault_path) once it has come. The access that raised it
 * stalls until done or replay lets it go on, whatever happens to the entry; if it still cannot go on
 * it faults anew.
 */
struct um_fault_buffer;
struct um_fault_buffer *um_fault_buffer_of(struct um_fault_buffers *, um_device_id);
/* Lets in the entries that have come by now, where there is a path; before a look. UM_ENOMEM. */
int um_fault_buffer_receive(struct um_fault_buffer *);
size_t um_fault_buffer_waiting(const struct um_fault_buffer *);
/* NULL if none waits. */
const struct um_fault *um_fault_buffer_oldest(const struct um_fault_buffer *);
/* The oldest, at most `most`, leave the buffer; returns how many. */
size_t um_fault_buffer_take(struct um_fault_buffer *, struct um_fault *out, size_t most);
/* All that wait or are to come leave it; their accesses stay stalled until a replay. */
void um_fault_buffer_flush(struct um_fault_buffer *);
/*
 * Accesses stalled on these pages go on at `at` (>= now), in the order in which they faulted, and
 * their entries leave the buffer. UM_ENOMEM.
 */
int um_fault_buffer_done(struct um_fault_buffer *, const struct um_page_range *, um_ns at);
/* Every stalled access goes on at `at`; entries that have come by now stay. UM_ENOMEM. */
int um_fault_buffer_replay(struct um_fault_buffer *, um_ns at);
/*
 * A fault that was served: its row leaves through the probe, from its raising to done_at. `faults`:
 * how many entries it stands for; `batch` counts the driver's services from 1. What the driver does
 * not count as a fault (first touch by the host is the operating system's) it does not report.
 */
void um_fault_buffer_report(struct um_fault_buffer *, const struct um_fault *, uint64_t faults,
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
	uint64_t alignment_bytes; /* of allocations' addresses, a power of two; 0: 2 MiB */
	uint64_t packed_bytes;	  /* smaller managed allocations can share pages; 0: none does */
	/* Who leaves a device when its memory is short, unless the policy names another order
	 * (evict.h); NULL: it evicts nothing, or by rules that are no such order. */
	const struct um_evict_ops *evict;
	/* The program as it would be without managed memory: bounds of that say nothing of it. */
	bool without_managed_memory;
	int (*create)(struct um_driver **out,
		      const struct um_driver_env *env); /* env outlives the driver */
	/*
	 * Calls of the program: the host goes on at *done_at, which comes in as now. What a driver
	 * does not answer to is NULL, except where it says otherwise.
	 */
	/*
	 * Where memory of a kind lives, asked before it is added to the machine; NULL: managed memory
	 * has pages of its own, pageable and pinned memory stays on the host. A driver can make
	 * managed memory pinned (no HMM), or let pageable memory migrate.
	 */
	enum um_home (*home)(struct um_driver *, const struct um_alloc *);
	int (*on_alloc)(struct um_driver *, const struct um_alloc *, um_ns *done_at); /* not NULL */
	int (*on_free)(struct um_driver *, um_alloc_id, um_ns *done_at);	      /* not NULL */
	int (*on_advice)(struct um_driver *, const struct um_advice *, um_ns *done_at);
	/* On its stream, at now; *done_at: when the next operation of the stream may start. */
	int (*on_prefetch)(struct um_driver *, const struct um_prefetch *, um_ns *done_at);
	/* Whether the host too goes on only then: the call is asynchronous by name only. NULL: no. */
	bool (*prefetch_waits)(const struct um_driver *);
	/* Device memory is wanted that is not free (before on_alloc of a device allocation): must
	 * free as much, or refuse with UM_ELIMIT. Not NULL. */
	int (*on_pressure)(struct um_driver *, const struct um_pressure *, um_ns *done_at);
	/*
	 * On how many pages a group faults before it waits (>= 1) that touches that many at once.
	 * NULL: one, which is waited for.
	 */
	uint32_t (*faults_side_by_side)(const struct um_driver *, uint32_t touches);
	/* How faults of devices come; *path comes in as nothing (all 0), which NULL stands for. Such
	 * a driver lets accesses go on by replays only. */
	void (*fault_path)(const struct um_driver *, struct um_fault_path *path);
	/*
	 * Faults came into the buffer, whether the driver is busy or not. What it leaves there it
	 * must come back for, with a timer: the next call comes after the next fault. Not NULL.
	 */
	int (*on_faults)(struct um_driver *, struct um_fault_buffer *);
	/*
	 * Before the operation accesses anything, on its stream: *done_at, which comes in as now, is
	 * when it may. NULL: the driver learns of accesses by faults, as real ones do.
	 */
	int (*on_accesses)(struct um_driver *, const struct um_accesses *, um_ns *done_at);
	/* Whether the host too goes on only then, before a launch. NULL: no. */
	bool (*accesses_wait)(const struct um_driver *);
	/* A kernel has its turn; *start_at comes in as when its first group would start, and may be
	 * put later. on_kernel_end(): its last group has ended. */
	int (*on_launch)(struct um_driver *, const struct um_launch *, um_ns *start_at);
	int (*on_kernel_end)(struct um_driver *, const struct um_launch *);
	/* A touch hit (device resident or remote): only for orders that a real driver could not
	 * keep. */
	void (*on_touch)(struct um_driver *, const struct um_page_range *, um_device_id,
			 bool write);
	/* A hint that the page will be touched soon: what a touch or a fault of it looks at may come
	 * nearer to the processor. Nothing else may happen. */
	void (*on_touch_ahead)(const struct um_driver *, um_alloc_id, um_page, um_device_id);
	/* Copies from and to managed memory are accesses of their device, which fault like a
	 * kernel's; else a copy engine finds pages where they are. */
	bool copies_fault;
	/* A copy wrote managed pages where they are: other copies of them are gone. */
	int (*on_copied)(struct um_driver *, const struct um_page_range *);
	/* The program has ended, and its queues with it: only timers and destroy() still follow. */
	int (*on_exit)(struct um_driver *);
	void (*destroy)(struct um_driver *); /* NULL is legal */
};

struct um_driver { /* first member of every driver's own struct */
	const struct um_driver_ops *ops;
};

/* NULL and a message that lists the names, if there is none such. */
const struct um_driver_ops *um_driver_find(const char *name);
const struct um_driver_ops *const *um_driver_registry(size_t *count);

#endif
