/* Shared by machine*.c only. */
#ifndef UM_MACHINE_INTERNAL_H
#define UM_MACHINE_INTERNAL_H

#include "machine.h"
#include "machine_topology.h"
#include "page_planes.h"
#include "sim/probe/probe.h"

#include <assert.h>

/* A place is the host (0) or device n (n + 1). */
#define UM_PLACES_MAX (UM_DEVICES_MAX + 1)

struct place_pages {			   /* one bit a page of an allocation */
	struct um_plane valid;		   /* the place holds a valid copy */
	struct um_plane map_low, map_high; /* enum um_mapping_state of the place's page table */
	uint64_t resident_pages;	   /* set in `valid` */
	struct um_plane reserved;	   /* of a device: it has memory for the page */
	uint64_t reserved_pages;	   /* set in `reserved` */
};

/*
 * What became of copies, in pages, by place: gain() and lose() enter why. A transfer is entered at
 * both ends, so that the rows that tell of it can be set against it (machine_check.c).
 */
enum ledger_entry {
	LEDGER_BORN,	/* the page's first home, or an explicit copy: no migration */
	LEDGER_CAME,	/* with a transfer, or with the home of a page without data */
	LEDGER_WENT,	/* the same, at the place that they left */
	LEDGER_COPIED,	/* sent on, and kept */
	LEDGER_DROPPED, /* another copy is the valid one */
	LEDGER_FREED,	/* with their allocation */
	LEDGER_ENTRIES
};

/* What rows tell of a page of the driver's own (um_machine_name_own()). */
struct page_name {
	um_alloc_id allocation; /* 0: nothing */
	um_page page;
};

struct allocation {
	um_alloc_id id;
	enum um_home home;
	um_device_id device; /* of UM_HOME_DEVICE */
	uint64_t bytes;
	um_page pages;
	uint64_t *planes; /* the memory of all of them; owned */
	struct um_plane populated;
	struct page_name *names; /* of the driver's own pages; NULL: none has one */
	/* Of what lies on the driver's own pages: those, or 0 (um_machine_lay_on()). */
	um_alloc_id alias_of;
	um_page alias_first;
	bool alias_reaches_on;
	struct place_pages place[]; /* of UM_HOME_MANAGED: one each place */
};

struct device_memory {
	uint64_t total_bytes, used_bytes;
};

/* An event that is due when a device's queues are resumed. */
struct queue_waiter {
	um_event_fn call;
	void *context;
	uint64_t argument;
};

struct device_queues {
	unsigned stops; /* not yet resumed */
	um_ns stopped_at, stopped_ns;
	struct queue_waiter *waiters;
	size_t waiter_count, waiter_capacity;
};

/* What pages take over a link, which does not change: asked at every transfer. */
struct pace {
	double bytes_per_s; /* of the slowest link on the way */
	double ns_per_page;
	um_ns page_ns; /* of one page alone, without latency */
};

struct link {
	struct um_server to_device, to_host;
	struct pace pace_to_device, pace_to_host;
	uint64_t bytes_to_device, bytes_to_host; /* booked */
};

/* Pages on their way: those of [first_page, end_page) arrive one after another. */
struct arrival {
	um_alloc_id allocation;
	um_device_id to;
	um_page first_page, end_page;
	um_ns data_from; /* when the first byte arrives */
	double ns_per_page;
	um_ns end;
};

struct um_machine {
	const struct um_machine_spec *spec;
	struct um_engine *engine;
	struct um_probe *probe;
	unsigned places;
	uint64_t ledger[UM_PLACES_MAX][LEDGER_ENTRIES]; /* pages */
	struct device_memory memory[UM_DEVICES_MAX];
	struct device_queues queues[UM_DEVICES_MAX];
	struct link link[UM_DEVICES_MAX];
	struct um_server peer_link[UM_DEVICES_MAX][UM_DEVICES_MAX]; /* from, to */
	struct um_server topology_link[UM_TOPOLOGY_LINKS_MAX][2];   /* and back */
	struct allocation **allocations;			    /* by id */
	size_t allocation_slots;
	struct allocation **own; /* by id less UM_OWN_PAGES */
	size_t own_count, own_capacity;
	struct arrival *arrivals;
	size_t arrival_count, arrival_capacity;
	um_ns last_arrival;
	/* What moved last: mapping it afterwards is no news. */
	struct um_page_range moved;
	um_device_id moved_to;
	bool join_next, record_next;
};

static inline unsigned place_of(um_device_id device)
{
	return (unsigned)(device + 1);
}

static inline struct allocation *find_allocation(const struct um_machine *machine, um_alloc_id id)
{
	if (id >= UM_OWN_PAGES)
		return id - UM_OWN_PAGES < machine->own_count ? machine->own[id - UM_OWN_PAGES]
							      : NULL;
	return id < machine->allocation_slots ? machine->allocations[id] : NULL;
}

/* The managed allocation of a range that lies in it: anything else is a bug of the caller. */
static inline struct allocation *um_machine_managed(const struct um_machine *machine,
						    const struct um_page_range *range)
{
	struct allocation *allocation = find_allocation(machine, range->allocation);

	assert(allocation && allocation->home == UM_HOME_MANAGED);
	assert(range->first_page <= allocation->pages &&
	       range->pages <= allocation->pages - range->first_page);
	return allocation;
}

/* Which copies the pages of a run have, all alike. */
struct copies {
	bool populated;
	uint32_t holders; /* bit n: place n */
};
/* The first page behind `from`, at most `limit`, with other copies than `from` has. */
um_page um_machine_copies_end(const struct um_machine *, const struct allocation *, um_page from,
			      um_page limit, struct copies *);

/* Before anything goes over links. */
void um_machine_init_links(struct um_machine *);
/* Books pages over the link and remembers that they are on their way. */
struct transfer {
	um_ns start, end;
};
int um_machine_send_pages(struct um_machine *, const struct um_page_range *, um_device_id from,
			  um_device_id to, um_ns latency, um_ns at, struct transfer *);
/* The same from device to device, which are peers. */
int um_machine_send_to_peer(struct um_machine *, const struct um_page_range *, um_device_id from,
			    um_device_id to, um_ns at, struct transfer *);
/* What a transfer takes beside its bytes; and a migration, which has a record under umtrace. */
um_ns um_machine_latency_ns(const struct um_machine *, bool to_device);
um_ns um_machine_recorded_latency_ns(const struct um_machine *, bool to_device);

static inline enum um_mapping_state mapping_of(const struct place_pages *place, um_page page)
{
	return (enum um_mapping_state)(um_plane_get(place->map_low, page) |
				       um_plane_get(place->map_high, page) << 1);
}

static inline void set_mapping(struct place_pages *place, um_page first, uint32_t pages,
			       enum um_mapping_state state)
{
	um_plane_fill(place->map_low, first, pages, state & 1);
	um_plane_fill(place->map_high, first, pages, state & 2);
}

/* A row for pages that went; `joined`: to the transfer before. */
void um_machine_report_migration(struct um_machine *, const struct um_page_range *run,
				 um_device_id from, um_device_id to, uint64_t bytes,
				 const struct um_why *, bool joined, const struct transfer *);
/* As rows name it, UM_NULL if they do not. */
void um_machine_name(const struct um_machine *, const struct um_page_range *run,
		     int64_t *allocation, int64_t *first_page);

static inline int64_t or_null(uint64_t value)
{
	return value ? (int64_t)value : UM_NULL;
}

#endif
