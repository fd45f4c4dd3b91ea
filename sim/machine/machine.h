/*
 * The machine: host and devices, the page tables, device memory and its capacity, links. It keeps
 * invariants (asserted in every build: a copy on a device lies in memory reserved for it, what is
 * reserved never exceeds the capacity, a populated page has at least one valid copy, a local
 * mapping implies a valid copy there) and lets time pass; it has no opinion. The driver model is
 * the only writer; probes see every change.
 *
 * Pages are 4 KiB here whatever the driver's unit is, held per allocation. A run of pages in one
 * state is handled as one step: bitmaps and word operations, not page by page.
 */
#ifndef UM_MACHINE_H
#define UM_MACHINE_H

#include "sim/engine/engine.h"
#include "trace/db/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_HOST	       (-1)
#define UM_DEVICES_MAX 16

/* What is kept by id stays within memory, whatever a damaged trace has for one. */
#define UM_ALLOC_IDS_END (1u << 26)

typedef int32_t um_device_id; /* UM_HOST or 0.. */
typedef uint32_t um_alloc_id; /* of the trace, from 1, below UM_ALLOC_IDS_END */
typedef uint32_t um_page;     /* within its allocation */

/*
 * --- what a machine file holds (machine_file.h reads it), where each figure's source stands ---
 */
/* Whether a device can retry an access that faulted, and who says that it does. */
enum um_xnack_support {
	UM_XNACK_NEVER,	  /* a fault ends the process (GFX10 and later) */
	UM_XNACK_BOOT,	  /* as the driver was loaded (amdgpu.noretry): HSA_XNACK changes nothing */
	UM_XNACK_PROCESS, /* each process chooses (HSA_XNACK); off unless it asks */
	UM_XNACK_ALWAYS,  /* there is no such switch (NVIDIA) */
};

struct um_link_spec {
	char name[32];		      /* "PCIe 4.0 x16" */
	double to_device_bytes_per_s; /* achieved by large transfers, not the signalling rate */
	double to_host_bytes_per_s;
	um_ns to_device_latency_ns; /* of one transfer */
	um_ns to_host_latency_ns;
	uint32_t remote_request_bytes; /* payload of one remote request: 64 */
	double remote_requests_per_s;  /* that a device keeps in flight over the link */
	bool coherent; /* the host can map device memory (xGMI to the CPU), and need not fault */
};
/*
 * From each device to each other, each way for itself. Without one (bytes_per_s 0) what goes between devices
 * takes the links to the host.
 */
struct um_peer_link_spec {
	char name[32]; /* "Infinity Fabric (xGMI)" */
	double bytes_per_s;
	um_ns latency_ns;
	double remote_requests_per_s; /* that a device keeps in flight over one */
};
/*
 * What it costs to record: added where a machine is simulated as it is under umtrace
 * (um_simulation.traced), and nowhere else.
 */
struct um_tracing_spec {
	um_ns to_device_record_ns; /* of a transfer to a device, beside its latency */
	um_ns fault_record_ns;	   /* of a page of which a device faulted */
	um_ns cpu_fault_record_ns; /* of a fault of the host for which something is sent */
};
/* From 1; 0: not of a file. */
struct um_machine_place {
	unsigned line, column;
};
/* A driver's parameter as this machine has it, where a policy does not say otherwise. */
struct um_machine_setting {
	char *driver, *name, *text;
	struct um_machine_place driver_at, name_at, text_at;
};
struct um_machine_spec {
	char name[32];	      /* "mi250x" */
	char device_name[64]; /* as hipGetDeviceProperties has it */
	char arch[32];
	uint32_t devices;
	uint64_t memory_bytes; /* of each device */
	uint32_t compute_units;
	uint32_t waves_per_unit; /* resident at most */
	uint32_t wave_lanes;
	uint32_t clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
	double memory_bytes_per_s;
	um_ns launch_ns;       /* from launch to first group */
	double accesses_per_s; /* of lanes, that the compute units issue; 0: bytes alone count */
	double atomics_per_s;  /* of lanes on one address, which take turns; 0: they take no time */
	enum um_xnack_support xnack;
	bool apu;		  /* host and device share one memory: nothing migrates */
	struct um_link_spec link; /* host to each device; of an apu: the shared memory itself */
	struct um_peer_link_spec peer_link; /* between any two devices; rate 0: none */
	struct um_topology *topology; /* which links there are (machine_topology.h); owned; NULL:
					       each device has its own to the host */
	struct um_tracing_spec tracing;
	struct um_machine_setting *settings; /* owned, as the strings in them; checked by who has
						the drivers (um_policy_settle()) */
	size_t setting_count;
	char *path; /* as messages have it; owned */
	char *text; /* the file as read; owned */
};

struct um_machine;
struct um_probe;

enum um_place_state {
	UM_PAGE_HOST = 1,      /* host memory holds a valid copy */
	UM_PAGE_DEVICE = 2,    /* device memory holds a valid copy */
	UM_PAGE_POPULATED = 4, /* was ever touched: before, it has no data and moves nothing */
};
enum um_mapping_state {
	UM_MAP_NONE = 0,
	UM_MAP_LOCAL,
	UM_MAP_REMOTE,
	UM_MAP_LOCAL_READ /* duplicate: a write faults */
};

/* `pages` pages of one allocation. */
struct um_page_range {
	um_alloc_id allocation;
	um_page first_page;
	uint32_t pages;
};

/* --- life: memory limit in bytes, 0 for the spec's --- */
/* UM_EINVAL: a device has less. */
int um_machine_check_memory(const struct um_machine_spec *, uint64_t limit_bytes);
int um_machine_create(struct um_machine **out, const struct um_machine_spec *, struct um_engine *,
		      struct um_probe *, uint64_t memory_limit_bytes);
void um_machine_destroy(struct um_machine *);
const struct um_machine_spec *um_machine_spec(const struct um_machine *);

/* --- what a driver may ask --- */
um_ns um_machine_now(const struct um_machine *);
uint64_t um_machine_memory_free(const struct um_machine *, um_device_id);
uint64_t um_machine_memory_total(const struct um_machine *, um_device_id);
/*
 * The first page at or behind `from` whose state differs from that of `from` for `device`
 * (UM_HOST too): one call finds how far a run reaches. *place and *map receive the state of `from`.
 */
um_page um_machine_run_end(const struct um_machine *, um_alloc_id, um_page from, um_page limit,
			   um_device_id device, uint32_t *place, enum um_mapping_state *map);
um_page um_machine_pages(const struct um_machine *,
			 um_alloc_id); /* of the allocation, 0 if unknown */

/* Pages of the range that no memory of the device is reserved for. */
uint64_t um_machine_unreserved(const struct um_machine *, const struct um_page_range *,
			       um_device_id device);

/*
 * --- what a driver may do. `at` is the earliest start; each returns through *end when it is done
 * (link and copy time booked). State changes at once; who waits is woken at *end by the caller. ---
 *
 * Device memory is reserved first and filled afterwards: by the page, the chunk or the whole range,
 * as the driver has it. A page keeps its memory when its copy leaves, until it is released or its
 * allocation removed; bringing a copy to where none is reserved is a bug of the driver (asserted).
 */
/* Pages that have memory there already cost nothing. UM_ELIMIT: no room for the others, and nothing
 * is reserved. */
int um_machine_reserve(struct um_machine *, const struct um_page_range *, um_device_id device);
/* Gives back the memory of those pages that have no valid copy there. */
void um_machine_release(struct um_machine *, const struct um_page_range *, um_device_id device);
/*
 * The queues of the device are stopped: its kernels and memsets touch nothing and come to no end
 * until as many calls of resume. Copies and prefetches go on.
 */
void um_machine_stop(struct um_machine *, um_device_id device);
int um_machine_resume(struct um_machine *, um_device_id device);
struct um_why {
	enum um_cause cause;
	uint32_t op;	/* of the trace, 0 none */
	uint64_t batch; /* of faults, 0 none */
};
/* Moves the valid copies to `to` and invalidates the others; unpopulated pages only change home. */
int um_machine_migrate(struct um_machine *, const struct um_page_range *, um_device_id to,
		       const struct um_why *, um_ns at, um_ns *end);
/* Gives `to` a second valid copy (read-mostly). */
int um_machine_duplicate(struct um_machine *, const struct um_page_range *, um_device_id to,
			 const struct um_why *, um_ns at, um_ns *end);
/*
 * What is migrated or duplicated next goes on where the last transfer ended: it is part of that one,
 * which was of pages of another allocation.
 */
void um_machine_join_next(struct um_machine *);
/*
 * An explicit copy, one transfer: pages with data that are at `from` and not at `to`, one of them the
 * host, or both peers, are at both then, mapped for reading. It is no migration and has no row:
 * um_probe_copy_traffic(), or um_probe_peer_traffic(), is the caller's. UM_ENOMEM.
 */
int um_machine_copy_pages(struct um_machine *, const struct um_page_range *, um_device_id from,
			  um_device_id to, um_ns at, um_ns *end);
/*
 * The copy there is the only one from now on, also of pages that had none there: whoever writes all
 * of them needs no data. Nothing moves, and no row tells of it.
 */
void um_machine_keep_only(struct um_machine *, const struct um_page_range *, um_device_id device);
/* Drops the copy at `from` of pages that have another; moves nothing. */
int um_machine_drop(struct um_machine *, const struct um_page_range *, um_device_id from,
		    const struct um_why *);
/* First touch: gives unpopulated pages a home without a transfer. */
int um_machine_populate(struct um_machine *, const struct um_page_range *, um_device_id at_device,
			const struct um_why *);
/*
 * The driver wrote the pages without data that are on the device (UM_HOST too): zeros, which move
 * like any data from now on. They have a first_touch row.
 */
void um_machine_fill(struct um_machine *, const struct um_page_range *, um_device_id device,
		     uint32_t op);
/*
 * LOCAL needs the only valid copy there, LOCAL_READ a valid copy, REMOTE a valid copy elsewhere. A
 * mapping row leaves through the probe for REMOTE and NONE, and for LOCAL where nothing has just
 * moved there.
 */
int um_machine_map(struct um_machine *, const struct um_page_range *, um_device_id,
		   enum um_mapping_state, const struct um_why *);
/*
 * One page of a machine's only device, in one step. Comes to the device, as with reserve, migrate and
 * map (LOCAL) there; goes to the host, as with migrate, map (LOCAL) there and release. Not *done, and
 * nothing has happened, where the page is in another state than most: it comes with its data from
 * the host, or is nowhere and has none, to where there is room; or goes with its data, of which the device
 * has the only copy. UM_ENOMEM.
 */
int um_machine_bring_page(struct um_machine *, const struct um_page_range *page,
			  const struct um_why *, um_ns at, um_ns *end, bool *done);
int um_machine_send_page_home(struct um_machine *, const struct um_page_range *page,
			      const struct um_why *, um_ns at, um_ns *end, bool *done);
/* What is mapped next is one of the driver's own records: its row is not merged with others. */
void um_machine_record_next(struct um_machine *);

/*
 * --- what the actors do: allocations come and go, memory is accessed, explicit copies run ---
 */
enum um_home {
	UM_HOME_MANAGED = 1, /* pages with a state of their own, nowhere at first */
	UM_HOME_DEVICE,	     /* takes device memory until it is removed */
	UM_HOME_HOST,	     /* pinned, registered, pageable: devices access it over the link */
};
/* UM_ELIMIT: no room for a device allocation (the driver was asked before). */
int um_machine_add(struct um_machine *, um_alloc_id, enum um_home, um_device_id, uint64_t bytes);
void um_machine_remove(struct um_machine *, um_alloc_id);
/*
 * Managed pages that the program did not ask for and the driver has nevertheless, such as what is
 * left of a block: like an allocation, but that its rows name none, and its id is UM_OWN_PAGES or
 * above. UM_ENOMEM.
 */
#define UM_OWN_PAGES UM_ALLOC_IDS_END
int um_machine_add_own(struct um_machine *, uint32_t pages, um_alloc_id *id);
/*
 * Managed allocations can lie on such pages, several on the same one: memory, copies and rows are
 * those of the driver's own pages, which the driver changes. From now on the allocation's pages are
 * the own ones from `first` on; its last page is, if it reaches on, also the one behind.
 */
void um_machine_lay_on(struct um_machine *, um_alloc_id, um_alloc_id own, um_page first,
		       bool reaches_on);
/*
 * What they lie on has changed: these pages of such an allocation are now where that is, and mapped
 * as that is. No bytes move, and no row tells of it. A page that lies on two is where the first is,
 * and mapped as far as both are.
 */
void um_machine_follow(struct um_machine *, const struct um_page_range *);
/*
 * Rows of these own pages name pages of the allocation, from first_page on, from now on; 0: none. What
 * the driver does in one call to own pages must have names that follow each other. UM_ENOMEM.
 */
int um_machine_name_own(struct um_machine *, const struct um_page_range *own, um_alloc_id,
			um_page first_page);
/* 0 if there is no such allocation now. */
enum um_home um_machine_home(const struct um_machine *, um_alloc_id);
/* Where a UM_HOME_DEVICE allocation is. */
um_device_id um_machine_home_device(const struct um_machine *, um_alloc_id);
/*
 * Managed pages that `device` can access now are accessed by it: pages without data get data, with
 * a first_touch row. The mapping must allow it (asserted).
 */
void um_machine_touch(struct um_machine *, const struct um_page_range *, um_device_id device,
		      bool write, uint32_t op);
/*
 * A copy engine wrote these pages, each of which has a home: they have data, in the host's copy if
 * there is one, else in the device's; other copies are dropped.
 */
void um_machine_copy_into(struct um_machine *, const struct um_page_range *, uint32_t op);
/*
 * The first page behind `from` that a copy engine would find elsewhere: it takes the host's copy if
 * there is one. *holder: UM_HOST too where the page is nowhere, *nowhere tells.
 */
um_page um_machine_holder_end(const struct um_machine *, um_alloc_id, um_page from, um_page limit,
			      um_device_id *holder, bool *nowhere);
/* Whether the queues of `device` are stopped, and for how long they have been in all. */
bool um_machine_is_stopped(const struct um_machine *, um_device_id device);
um_ns um_machine_stopped_ns(const struct um_machine *, um_device_id device);
/* Schedules the event for when they are resumed; they must be stopped. UM_ENOMEM. */
int um_machine_when_resumed(struct um_machine *, um_device_id device, um_event_fn, void *context,
			    uint64_t argument);
/* When the last byte of these pages that is on its way to `device` is there; 0: all is. */
um_ns um_machine_ready_at(struct um_machine *, const struct um_page_range *, um_device_id device);
/*
 * Where the pages are that a device can read and write as it likes, since they are mapped there with
 * their only copy, and have data: a touch of one changes nothing in the machine. It is as things are
 * until the allocation is removed.
 */
#define UM_OWN_PAGES_APART 8
struct um_machine_own_pages {
	/* A bit a page, 64 of them a word, and UM_OWN_PAGES_APART words from one to the next. */
	const uint64_t *mapped, *restricted, *populated;
};
struct um_machine_own_pages um_machine_own_pages(const struct um_machine *, um_alloc_id managed,
						 um_device_id device);
static inline bool um_machine_owns(const struct um_machine_own_pages *own, um_page page)
{
	size_t word = (size_t)(page / 64) * UM_OWN_PAGES_APART;

	return (own->mapped[word] & ~own->restricted[word] & own->populated[word]) >> page % 64 & 1;
}
/* A hint: um_machine_owns() is asked about the page soon. */
static inline void um_machine_owns_ahead(const struct um_machine_own_pages *own, um_page page)
{
	__builtin_prefetch(&own->mapped[(size_t)(page / 64) * UM_OWN_PAGES_APART], 1);
}
/* Nothing is on its way anywhere, and the queues of `device` are not stopped. */
bool um_machine_is_calm(const struct um_machine *, um_device_id device);
/* Books the link of `device`: latency + bytes / bandwidth. Returns the end; 0 bytes end at `at`. */
um_ns um_machine_transfer(struct um_machine *, um_device_id device, bool to_device, uint64_t bytes,
			  um_ns at);
/*
 * Books remote accesses of a kernel in both directions: no faster than the bytes of either, nor
 * than the requests that the device keeps in flight.
 */
um_ns um_machine_remote(struct um_machine *, um_device_id device, uint64_t bytes_to_device,
			uint64_t bytes_to_host, uint64_t requests, um_ns at);
/* Whether devices have links to each other. */
/* Of these two; of any. */
bool um_machine_are_peers(const struct um_machine *, um_device_id, um_device_id);
bool um_machine_has_peer_links(const struct um_machine *);
/* Books the link from one device to another, as um_machine_transfer() does; there must be one. */
um_ns um_machine_peer_transfer(struct um_machine *, um_device_id from, um_device_id to,
			       uint64_t bytes, um_ns at);
/* As um_machine_remote(), of a kernel on `device` in the memory of `peer`. */
um_ns um_machine_peer_remote(struct um_machine *, um_device_id device, um_device_id peer,
			     uint64_t bytes_read, uint64_t bytes_written, uint64_t requests,
			     um_ns at);
/* How long the link of `device` has been taken in all. */
um_ns um_machine_link_busy(const struct um_machine *, um_device_id device, bool to_device);

#endif
