/*
 * Between the files of the driver nvidia_uvm (driver_nvidia_uvm.c says what it is, and has the rules
 * that all of them name R1, R2 ...): its state, and what each of them does for the others.
 *
 * Addresses are the driver's own. 2 MiB of them are a window; what a range has in one is a block. The
 * state of pages is kept by window, for all of its blocks: they do not overlap. A place is the host
 * (0) or device n (n + 1); sets of places are bits.
 */
#ifndef UM_UVM_H
#define UM_UVM_H

#include "driver.h"
#include "evict.h"
#include "uvm_mask.h"

#include "trace/spool/spool_record.h"

/* Neither the host (UM_HOST) nor a device. */
#define UVM_NOBODY (-2)

enum uvm_version { UVM_515, UVM_535, UVM_550, UVM_580, UVM_590, UVM_595 };

/* Unset is not off: ending what never began is a policy of its own, which cuts ranges (R2). */
enum uvm_duplication { UVM_DUPLICATION_UNSET, UVM_DUPLICATION_ON, UVM_DUPLICATION_OFF };

struct uvm_policy {
	um_device_id preferred; /* or UVM_NOBODY */
	uint32_t accessed_by;	/* places */
	enum uvm_duplication duplication;
};

struct uvm_thrash;

struct uvm_block {
	struct uvm_window *window;
	struct uvm_region pages; /* of the window */
	bool starts_range;
	struct uvm_policy policy;
	um_device_id last_destination; /* of faults (R11), or UVM_NOBODY */
	uint32_t faults_to_last;
	struct uvm_thrash *thrash; /* NULL: nothing happened yet */
	struct uvm_block *next;	   /* of the window, by address */
};

/*
 * Pages of a window, and whose they are: of a shared page, the first that has bytes in it. Those of
 * nobody are the window's own.
 */
struct uvm_piece {
	um_alloc_id allocation;
	um_page first_page;
	struct uvm_region pages;
};

struct uvm_place {
	struct uvm_mask resident, mapped, writable; /* writable: of those that are mapped */
	/* What its access counter has seen since it was cleared (R36). */
	struct uvm_mask remote_touched;
	uint64_t remote_touches;
	bool is_notified;
	struct uvm_window *next_notified;
	/* While its pages have all left the device: the list of those (R26). */
	struct uvm_window *older, *younger;
};

struct uvm_window {
	uint64_t number; /* by address */
	struct uvm_block *blocks;
	struct uvm_piece *pieces; /* by address; they cover the blocks */
	uint32_t piece_count;
	/* Of a window that small allocations share (A2), else nothing. */
	um_alloc_id own;		/* its pages, for the machine */
	struct uvm_allocation **owners; /* by address */
	uint32_t owner_count, owner_capacity;
	uint32_t largest_hole; /* in UVM_CELL_BYTES */
	struct uvm_window *next_in_pool;
	uint32_t has_memory; /* places */
	uint32_t
		in_order; /* places: it is in the order of eviction; else in the list of empty ones */
	struct um_page_range unit; /* as what it is in the orders */
	um_device_id served;	   /* whose faults were served last, */
	um_ns served_until;	   /* and when its accesses try again (A11) */
	struct uvm_mask duplicated;
	struct uvm_place place[]; /* of all places of the machine */
};

/* What small allocations begin at a multiple of (A2). */
#define UVM_CELL_BYTES	 512u
#define UVM_PAGE_CELLS	 (UM_PAGE_BYTES / UVM_CELL_BYTES)
#define UVM_WINDOW_CELLS (UVM_WINDOW_PAGES * UVM_PAGE_CELLS)

struct uvm_allocation {
	um_alloc_id id;
	um_page pages;	    /* of 4 KiB from its first byte, as traces count them */
	uint32_t offset;    /* of its first byte's page in its first window */
	um_page lies_on;    /* pages: one more than its own, if they straddle the window's */
	uint32_t at, cells; /* in the window, of a small one */
	/* Services of faults on two pages, since they were of a later op than any before. */
	uint32_t services_on_two, last_op;
	uint64_t last_service;
	uint32_t window_count;
	struct uvm_window *windows[];
};

struct uvm_costs {
	um_ns host_block_ns, map_ns;
	um_ns batch_ns, block_ns, page_ns, new_block_ns, unmap_ns, evict_ns, host_fault_ns,
		fetch_ns, interrupt_ns;
	um_ns prefetched_page_ns, host_page_ns, wake_ns, wake_after_ns;
};

struct uvm_thrash_params {
	bool enable;
	uint64_t threshold, pin_threshold, max_resets;
	bool adjusts;	/* the lapse was left at its default (R34) */
	um_ns lapse_ns; /* now */
	um_ns nap_ns, epoch_ns, pin_ns;
	int lapse_votes;
};

/* Who serves the faults of one place. */
struct uvm_server {
	uint64_t served;  /* batches */
	um_ns idle_since; /* of a device, once it has served and is not busy */
	bool busy;
	bool napping;	     /* a batch of throttled faults waits for the end of the nap (A8) */
	uint64_t generation; /* of the timer that is meant */
	size_t beyond;	     /* entries that were there when the batch was fetched, and not in it */
	bool discards_all;
	um_ns busy_until; /* of the thread that serves faults and access counters of a device */
	struct um_fault throttled; /* of the host, which sleeps */
};

/* Notifications of a device's access counters, oldest first. */
struct uvm_counters {
	struct uvm_window *first, *last;
	bool is_due; /* an event serves them */
	uint32_t op; /* the last launch */
};

/* Of a batch: a fault, and where its page is. */
struct uvm_entry {
	struct uvm_window *window;
	uint32_t page;
	bool writes;
	const struct um_fault *fault;
};

struct uvm {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_machine *machine;
	um_device_id devices;
	enum uvm_version version;
	bool coherent;	      /* the host can access device memory */
	uint32_t unit;	      /* the driver's page, in 4 KiB (R35) */
	uint64_t remote_runs; /* that were mapped from afar */
	bool prefetches;
	uint64_t prefetch_threshold, prefetch_min_faults;
	size_t batch_entries;
	uint32_t faults_per_wave;
	struct um_fault_path path;
	struct uvm_costs costs;
	struct uvm_thrash_params thrashing;

	struct uvm_allocation **allocations; /* by id */
	size_t allocation_slots;
	uint64_t windows_made;
	struct uvm_window *pool; /* the first that small allocations share (A2) */
	struct um_evict_order *order[UM_DEVICES_MAX];
	struct uvm_window *oldest_empty[UM_DEVICES_MAX], *youngest_empty[UM_DEVICES_MAX];
	struct uvm_pin *first_pin, *last_pin; /* oldest first */

	struct uvm_server server[UM_DEVICES_MAX + 1]; /* by place */
	struct uvm_counters counters[UM_DEVICES_MAX];
	bool counts_accesses;
	uint64_t counter_threshold;
	int failed;		  /* where nobody could be told */
	struct um_fault *entries; /* of a batch, as they came */
	struct uvm_entry *sorted; /* a fault on a page that lies on two is two */
};

static inline struct uvm *uvm_of(struct um_driver *driver)
{
	return (struct uvm *)driver;
}

static inline uint32_t uvm_place_of(um_device_id device)
{
	return (uint32_t)(device + 1);
}

static inline uint32_t uvm_bit(um_device_id device)
{
	return 1u << uvm_place_of(device);
}

static inline uint32_t uvm_places(const struct uvm *uvm)
{
	return (uint32_t)uvm->devices + 1;
}

/* Whether another processor has not had its turn yet. */
static inline bool uvm_is_held(const struct uvm_window *window, um_device_id from, um_ns now)
{
	return window->served != from && window->served_until > now;
}

static inline um_ns uvm_later(um_ns a, um_ns b)
{
	return a > b ? a : b;
}

/* R13 */
static inline bool uvm_can_access(const struct uvm *uvm, um_device_id who, um_device_id where)
{
	return who == where || where == UM_HOST || (who == UM_HOST && uvm->coherent);
}

/* --- windows and blocks (uvm_window.c) --- */

/* NULL if it is none of managed memory. */
struct uvm_allocation *um_uvm_find(const struct uvm *, um_alloc_id);
/* The machine has it. */
int um_uvm_add_allocation(struct uvm *, um_alloc_id, uint64_t bytes);
/* Before the machine removes it. */
int um_uvm_remove_allocation(struct uvm *, struct uvm_allocation *);
/* At the end of the simulation: windows go with their last allocation. */
void um_uvm_drop_allocation(struct uvm *, struct uvm_allocation *);
/* Where its ranges end, counted from the beginning of its first window (R1). */
uint64_t um_uvm_end_of(const struct uvm_allocation *);
/* Where the page is, its first byte; *at: in its window. */
struct uvm_window *um_uvm_window_at(const struct uvm_allocation *, um_page, uint32_t *at);
/* Whether the page lies on two of the window: A2 has that for an allocation's last only. */
static inline bool uvm_lies_on_two(const struct uvm_allocation *allocation, um_page page)
{
	return page + 1 == allocation->pages && allocation->lies_on > allocation->pages;
}
/*
 * Where the fault's page is: *pages of the window, one or two. Of two only the first counts from then
 * on if services bring no later op: who needs both at once, as none does on a card, might never.
 */
struct uvm_window *um_uvm_pages_of_fault(struct uvm *, const struct um_fault *,
					 struct uvm_region *pages);
/* Pages that a range lies on, counted from the beginning of its allocation's first window. */
struct uvm_span {
	uint64_t first, end;
};
struct uvm_span um_uvm_span_of(const struct uvm_allocation *, const struct um_page_range *);
/* The block that has the page of the window. */
struct uvm_block *um_uvm_block_at(const struct uvm_window *, uint32_t page);
/* The driver's page that has it, as far as it is the block's (R35). */
static inline struct uvm_region uvm_unit_at(const struct uvm *uvm, const struct uvm_block *block,
					    uint32_t page)
{
	uint32_t first = page - page % uvm->unit, end = first + uvm->unit;

	return (struct uvm_region){first < block->pages.first ? block->pages.first : first,
				   end > block->pages.end ? block->pages.end : end};
}
static inline bool uvm_is_read_mostly(const struct uvm_block *block)
{
	return block->policy.duplication == UVM_DUPLICATION_ON;
}

/* A range begins at the page: its block is cut there, unless it begins there (R2). UM_ENOMEM. */
int um_uvm_split(struct uvm *, struct uvm_window *, uint32_t page);

/*
 * Calls for each piece of the run, in order, with what the machine has for it, and lets the
 * allocations that lie on it follow what the calls changed; `index` counts them from 0.
 */
typedef int (*uvm_piece_fn)(void *context, const struct um_page_range *, uint32_t index);
int um_uvm_for_each_piece(struct uvm *, const struct uvm_window *, struct uvm_region run,
			  uvm_piece_fn, void *context);
/* The same with the pages' names, as rows have them; nothing follows. */
int um_uvm_for_each_name(const struct uvm_window *, struct uvm_region run, uvm_piece_fn,
			 void *context);
/* The pages of all allocations that have bytes there: those of a shared page are several. */
int um_uvm_for_each_owner(const struct uvm_window *, struct uvm_region run, uvm_piece_fn,
			  void *context);

/* --- device memory (uvm_memory.c) --- */

/*
 * Makes sure that the window has memory on the device, *at: when it has it. UM_ELIMIT: nothing is
 * there that could leave.
 */
int um_uvm_take_memory(struct uvm *, struct uvm_window *, um_device_id, uint32_t op, um_ns *at);
/* Pages of the block became resident there, or were made so again (R26). */
int um_uvm_used(struct uvm *, const struct uvm_block *, um_device_id);
/* Pages of the window may have left the device. */
void um_uvm_note_left(struct uvm *, struct uvm_window *, um_device_id);
/* The allocation that stood for it in the orders may be gone. UM_ENOMEM. */
int um_uvm_rename(struct uvm *, struct uvm_window *);
/* It has no memory anywhere any more. */
void um_uvm_forget_memory(struct uvm *, struct uvm_window *);
int um_uvm_on_pressure(struct um_driver *, const struct um_pressure *, um_ns *done_at);
void um_uvm_on_touch(struct um_driver *, const struct um_page_range *, um_device_id, bool write);

/* --- moving (uvm_move.c) --- */

struct uvm_move {
	struct uvm *uvm;
	struct uvm_block *block;
	um_device_id to;
	enum um_cause cause;		   /* of F */
	const struct uvm_mask *prefetched; /* P, or NULL */
	uint32_t op;
	uint64_t batch;
	um_ns at;  /* when the next step begins */
	um_ns end; /* when the last byte is there */
};

/* The pages are resident at `to`, and nowhere else (R14, R15, R16). */
int um_uvm_make_resident(struct uvm_move *, const struct uvm_mask *pages);
/* The same, but that other copies stay (R16). */
int um_uvm_duplicate(struct uvm_move *, const struct uvm_mask *pages);

/* --- mappings (uvm_map.c) --- */

/* Pages that are resident are mapped where they are. */
int um_uvm_map(struct uvm *, struct uvm_window *, um_device_id, const struct uvm_mask *pages,
	       bool writable, const struct um_why *);
int um_uvm_unmap(struct uvm *, struct uvm_window *, um_device_id, const struct uvm_mask *pages,
		 const struct um_why *);
/* Pages that the place has mapped cannot be written from there any more. */
int um_uvm_revoke(struct uvm *, struct uvm_window *, um_device_id, const struct uvm_mask *pages,
		  const struct um_why *);
/*
 * After pages came to `to`, or were found there, for `by`: accessed-by, and those in `besides`
 * (places), have them mapped (R18).
 */
int um_uvm_map_others(struct uvm *, struct uvm_block *, um_device_id to, um_device_id by,
		      const struct uvm_mask *pages, uint32_t besides, const struct um_why *);
/* What the processor can access of the block's pages it has mapped (R23). */
int um_uvm_map_accessed_by(struct uvm *, struct uvm_block *, um_device_id, const struct um_why *);

/* --- services (uvm_service.c) --- */

/* What one service has to do with one block. */
struct uvm_service {
	struct uvm *uvm;
	struct uvm_block *block;
	um_device_id by;
	enum um_cause cause;
	uint32_t op;
	uint64_t batch;
	um_ns at, end;
	uint32_t destinations; /* places */
	uint32_t fault_pages;
	struct uvm_mask pages[UM_DEVICES_MAX + 1]; /* F, by destination's place; valid if in
						      destinations */
	struct uvm_mask writes, duplicates, pinned;
	um_ns nap_end; /* the earliest, of those that were throttled; UM_NEVER */
};

void um_uvm_service_init(struct uvm_service *, struct uvm *, struct uvm_block *, um_device_id by);
/* A fault on a page of the block, which `by` has not mapped well enough (R5, R12). */
int um_uvm_service_add(struct uvm_service *, uint32_t page, bool write);
/* Serves what was added. */
int um_uvm_service_run(struct uvm_service *);
/* Whether `who` can access the page of the window as it is mapped. */
bool um_uvm_is_authorized(const struct uvm_window *, um_device_id who, uint32_t page, bool write);

/* P, for F = `faulted` going to `to` (R7 to R11). */
struct uvm_mask um_uvm_prefetch(struct uvm *, struct uvm_block *, um_device_id to,
				const struct uvm_mask *faulted);

/* --- faults (uvm_batch.c, uvm_host.c) --- */

int um_uvm_on_faults(struct um_driver *, struct um_fault_buffer *);
int um_uvm_on_device_faults(struct uvm *, um_device_id);
int um_uvm_on_host_faults(struct uvm *);

/* --- access counters (uvm_counters.c) --- */

/* A device touched the pages, wherever they are; what fails is kept in uvm->failed. */
void um_uvm_counters_touched(struct uvm *, const struct um_page_range *, um_device_id);
/* Serves them then, unless they are to be served already. UM_ENOMEM. */
int um_uvm_counters_schedule(struct uvm *, um_device_id, um_ns at);
void um_uvm_counters_forget(struct uvm *, struct uvm_window *);

/* --- thrashing (uvm_thrash.c) --- */

enum uvm_hint_kind { UVM_HINT_NONE, UVM_HINT_PIN, UVM_HINT_THROTTLE };
struct uvm_hint {
	enum uvm_hint_kind kind;
	um_device_id residency; /* PIN */
	um_ns until;		/* THROTTLE */
};

/* Pages of the block moved to `to` for a fault, or along with one (R29). */
int um_uvm_thrash_moved(struct uvm *, struct uvm_block *, um_device_id to, struct uvm_region,
			bool is_prefetch, uint32_t op, um_ns now);
/* The processor lost the right to write these pages of the block (R29). */
int um_uvm_thrash_revoked(struct uvm *, struct uvm_block *, um_device_id, const struct uvm_mask *,
			  uint32_t op, um_ns now);
/* They moved for another reason. */
void um_uvm_thrash_reset(struct uvm *, struct uvm_block *, struct uvm_region, um_ns now);
/* Pages that thrash; NULL: none. */
const struct uvm_mask *um_uvm_thrash_pages(const struct uvm_block *);
/* Processors that fight over the page (places). */
uint32_t um_uvm_thrash_fighters(const struct uvm_block *, uint32_t page);
int um_uvm_thrash_hint(struct uvm *, struct uvm_block *, uint32_t page, um_device_id who, um_ns now,
		       struct uvm_hint *);
/* Pins that are over end (R33). */
void um_uvm_thrash_unpin_due(struct uvm *);
void um_uvm_thrash_forget(struct uvm *, struct uvm_block *);

/* --- calls (uvm_calls.c) --- */

int um_uvm_on_advice(struct um_driver *, const struct um_advice *, um_ns *done_at);
int um_uvm_on_prefetch(struct um_driver *, const struct um_prefetch *, um_ns *done_at);
int um_uvm_on_copied(struct um_driver *, const struct um_page_range *);

/*
 * Calls for each block with pages from `first` to `end`, counted from the beginning of the
 * allocation's first window, with those pages.
 */
typedef int (*uvm_block_fn)(void *context, struct uvm_block *, struct uvm_region);
int um_uvm_walk(const struct uvm_allocation *, uint64_t first, uint64_t end, uvm_block_fn,
		void *context);
/* The same for pages of allocations. */
int um_uvm_for_each_block(struct uvm *, const struct um_page_range *, uvm_block_fn, void *context);

#endif
