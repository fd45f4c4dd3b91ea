/*
 * Between the files of the driver amdgpu_svm (driver_amdgpu_svm.c says what it is, and has the
 * rules that all of them name R1, R2 ...): its state, and what each of them does for the others.
 */
#ifndef UM_SVM_H
#define UM_SVM_H

#include "driver.h"
#include "evict.h"

#include "trace/spool/spool_record.h"

/* A location that is neither the host (UM_HOST) nor a device. */
#define SVM_UNDEFINED (-2)

enum svm_kernel { SVM_KERNEL_6_6, SVM_KERNEL_6_8 };

/* KFD_IOCTL_SVM_FLAG_* that HIP's calls can change (kfd_ioctl.h) */
enum svm_flag { SVM_HOST_ACCESS = 0x1, SVM_COHERENT = 0x2, SVM_READ_MOSTLY = 0x20 };

/* Memory of a device, taken for one range and shared by what that was split into (R20). */
struct svm_bo {
	um_device_id device;
	struct um_page_range pages;
	uint32_t holders; /* ranges that have it as theirs */
};

struct svm_allocation;

struct svm_range {
	struct svm_allocation *owner;
	um_page first_page;
	uint32_t pages;
	um_device_id preferred, prefetch; /* or SVM_UNDEFINED */
	um_device_id actual;		  /* a device if any page is on it; else the host */
	uint16_t access, in_place;	  /* bit n: device n */
	uint8_t flags;			  /* enum svm_flag */
	bool mapped_to_gpu;
	bool holds_bo;
	bool invalid;		/* waits for the restore work (R28) */
	uint32_t device_pages;	/* on `actual` */
	struct svm_bo *bo;	/* where its memory is or was, as long as that is there */
	um_ns accepts_at;	/* faults on it are dropped until then (R16) */
	struct svm_range *next; /* that is invalid */
	/* Faults that were dropped (R16), oldest first; their accesses are stalled. */
	struct um_fault *dropped;
	uint32_t dropped_first, dropped_end, dropped_capacity;
};
_Static_assert(UM_DEVICES_MAX <= 16, "a bit of svm_range.access for each device");

struct svm_allocation {
	um_alloc_id id;
	uint64_t address_page;
	um_page pages;
	bool heap_or_stack;
	struct svm_range **ranges; /* by first page */
	uint32_t count, capacity;
};

struct svm_costs {
	um_ns fault_ns, page_update_ns, copy_setup_ns, page_alloc_ns, restore_delay_ns,
		duplicate_ns;
};

/* Growable, of ranges. */
struct svm_ranges {
	struct svm_range **at;
	size_t count, capacity;
};

/* Accesses whose faults were dropped (R16), while there are any: a row of driver_event. */
struct svm_waiting {
	uint64_t now, all; /* that wait; that have since it began */
	um_ns began, counted_at;
	uint64_t waited_ns; /* of all, up to counted_at */
	uint32_t op;	    /* of the first */
	um_device_id device;
};

struct svm {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_machine *machine;
	um_device_id devices;
	enum svm_kernel kernel;
	bool xnack, hmm, hive, prefetch_waits;
	bool apu, coherent; /* coherent: the host maps device memory (R26) */
	struct svm_costs costs;
	um_page block_pages;	 /* 2^granularity */
	um_page max_range_pages; /* a power of two */

	struct svm_allocation **allocations; /* by id */
	size_t allocation_slots;
	struct um_evict_order *order[UM_DEVICES_MAX];
	uint64_t bo_pages[UM_DEVICES_MAX]; /* of all buffer objects */
	struct svm_ranges updates, remaps; /* of the SET_ATTR that goes on */
	struct svm_ranges dropping;	   /* those with dropped faults */
	struct svm_waiting waiting;	   /* the accesses that raised those */

	/* The one server (R30). */
	um_ns busy_until;
	um_ns service_due; /* UM_NEVER: no event will look for faults */
	uint64_t served;

	/* Queues, without XNACK (R28). */
	bool stopped;
	um_ns stopped_at;
	struct um_why stopped_why; /* of the first that was invalidated */
	uint64_t invalidations, restored_invalidations;
	struct svm_range *first_invalid, *last_invalid;
};

static inline struct svm *svm_of(struct um_driver *driver)
{
	return (struct svm *)driver;
}

static inline um_page svm_range_end(const struct svm_range *range)
{
	return range->first_page + range->pages;
}

static inline struct um_page_range svm_pages_of(const struct svm_range *range)
{
	return (struct um_page_range){range->owner->id, range->first_page, range->pages};
}

static inline bool svm_in_hive(const struct svm *svm, um_device_id a, um_device_id b)
{
	return a == b || (svm->hive && a >= 0 && b >= 0);
}

static inline um_ns svm_later(um_ns a, um_ns b)
{
	return a > b ? a : b;
}

/* When the server can start on something new. */
static inline um_ns svm_free_at(const struct svm *svm)
{
	return svm_later(svm->busy_until, um_machine_now(svm->machine));
}

/* --- ranges (svm_range.c) --- */

/* NULL if it is none that can have ranges. */
struct svm_allocation *um_svm_find(const struct svm *, um_alloc_id);
int um_svm_add_allocation(struct svm *, const struct um_alloc *);
/* With its ranges and their memory's books; the machine gives the memory back itself. */
void um_svm_remove_allocation(struct svm *, struct svm_allocation *);
/* The place of the first range that ends behind the page; `count` if none does. */
uint32_t um_svm_range_place(const struct svm_allocation *, um_page);
/* The range that the page is in, NULL if in none. */
struct svm_range *um_svm_range_at(const struct svm_allocation *, um_page);
/* A new range, which overlaps none, with the attributes of R1. */
int um_svm_new_range(struct svm *, struct svm_allocation *, um_page first, uint32_t pages,
		     struct svm_range **out);
/*
 * Cuts the range in two before `at`, which lies within it: it keeps its first part; *tail is the
 * other (R3).
 */
int um_svm_split(struct svm *, struct svm_range *, um_page at, struct svm_range **tail);
/* What the range has in the block of that many pages (a power of two) around the page. */
struct um_page_range um_svm_block(const struct svm_range *, um_page page, um_page block_pages);
int um_svm_ranges_add(struct svm_ranges *, struct svm_range *);

/* --- device memory (svm_memory.c) --- */

/*
 * Makes sure that the range has memory on the device; *end: when it has it. *refused: it cannot
 * (R21), and has none.
 */
int um_svm_get_memory(struct svm *, struct svm_range *, um_device_id, const struct um_why *,
		      um_ns at, um_ns *end, bool *refused);
/* The range has nothing there any more. */
void um_svm_drop_memory(struct svm *, struct svm_range *);
int um_svm_on_pressure(struct um_driver *, const struct um_pressure *, um_ns *done_at);
void um_svm_on_touch(struct um_driver *, const struct um_page_range *, um_device_id, bool write);

/* --- moving (svm_move.c) --- */

/* Pages of `part` that are on the range's device go to the host. */
int um_svm_move_to_host(struct svm *, struct svm_range *, const struct um_page_range *part,
			const struct um_why *, um_ns at, um_ns *end);
/* All pages of `part` go to the device, if memory is not refused. */
int um_svm_move_to_device(struct svm *, struct svm_range *, um_device_id,
			  const struct um_page_range *part, const struct um_why *, um_ns at,
			  um_ns *end, bool *refused);

/* --- mappings (svm_map.c) --- */

/* Devices on which SET_ATTR and the restore work map the range (R11): bit n: device n. */
uint32_t um_svm_map_targets(const struct svm *, const struct svm_range *);
/*
 * Maps `part` on the devices, wherever its pages are; those that are nowhere are made in host
 * memory. Accesses that wait for it go on at *end. With `moved` the cost is in that of moving them.
 * Does nothing for no devices.
 */
int um_svm_validate(struct svm *, struct svm_range *, const struct um_page_range *part,
		    uint32_t devices, bool moved, const struct um_why *, um_ns at, um_ns *end);
/* The pages of the part are about to move (R27). */
int um_svm_invalidate(struct svm *, struct svm_range *, const struct um_page_range *part,
		      const struct um_why *);

/* --- queues (svm_queues.c) --- */

/* The range is about to change under queues that have it mapped (R28). */
int um_svm_stop_queues(struct svm *, struct svm_range *, const struct um_why *);
/* The range is going away. */
void um_svm_forget_invalid(struct svm *, struct svm_range *);
/* Queues that are stopped are gone, and the restore work with them. */
int um_svm_on_exit(struct um_driver *);

/* --- SET_ATTR (svm_attributes.c) --- */

enum svm_attribute {
	SVM_PREFERRED_LOCATION,
	SVM_PREFETCH_LOCATION,
	SVM_ACCESS,
	SVM_ACCESS_IN_PLACE,
	SVM_SET_FLAGS,
	SVM_CLEAR_FLAGS,
};
struct svm_setting {
	enum svm_attribute attribute;
	int32_t value; /* a location, a device, flags */
};
/*
 * Sets them all on the part, splitting the ranges at its ends and making ranges where there are
 * none; moves and maps what that asks for. *end: when that is over, and the server free.
 */
int um_svm_set_attributes(struct svm *, struct svm_allocation *, const struct um_page_range *,
			  const struct svm_setting *, size_t count, const struct um_why *, um_ns at,
			  um_ns *end);

/* --- what the program calls (svm_calls.c) --- */

int um_svm_on_alloc(struct um_driver *, const struct um_alloc *, um_ns *done_at);
int um_svm_on_free(struct um_driver *, um_alloc_id, um_ns *done_at);
int um_svm_on_advice(struct um_driver *, const struct um_advice *, um_ns *done_at);
int um_svm_on_prefetch(struct um_driver *, const struct um_prefetch *, um_ns *done_at);

/* --- faults (svm_fault.c) --- */

int um_svm_on_faults(struct um_driver *, struct um_fault_buffer *);

/* --- faults that were dropped (svm_dropped.c) --- */

/* It comes back when the range accepts faults again. */
int um_svm_drop(struct svm *, struct svm_range *, const struct um_fault *);
/* The range whose oldest dropped fault is the oldest of those that can be served now, or NULL. */
struct svm_range *um_svm_oldest_dropped(const struct svm *);
/* That fault, which is dropped no more. */
struct um_fault um_svm_take_dropped(struct svm *, struct svm_range *);
/* When the first of the ranges with dropped faults accepts faults; UM_NEVER: there is none. */
um_ns um_svm_next_acceptance(const struct svm *);
/*
 * The device has the part mapped from `at` on: its accesses there go on, also those whose faults
 * were dropped.
 */
int um_svm_wake(struct svm *, struct svm_range *, const struct um_page_range *part, um_device_id,
		um_ns at);
/* The range was cut in two: each has the dropped faults on its own pages. */
int um_svm_share_dropped(struct svm *, struct svm_range *, struct svm_range *tail);
/* The range with its dropped faults is going away. */
void um_svm_forget_dropped(struct svm *, struct svm_range *);

#endif
