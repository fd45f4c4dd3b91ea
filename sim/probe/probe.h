/*
 * Every number leaves the simulator through a probe: a list of observers that the machine and the
 * actors call. probe_db writes schema rows, probe_totals adds up for the table. An observer leaves
 * NULL what it does not want. Observers never change anything and never fail; one that cannot write
 * remembers its error for um_probe_error().
 */
#ifndef UM_PROBE_H
#define UM_PROBE_H

#include "trace/db/rows.h"

struct um_observer {
	void *context;
	void (*op)(void *, const struct um_op_row *); /* with simulated times, when it ends */
	void (*fault)(void *, const struct um_fault_row *);
	void (*migration)(void *, const struct um_migration_row *);
	void (*mapping)(void *, const struct um_mapping_row *);
	void (*remote_access)(void *, const struct um_remote_access_row *);
	void (*driver_event)(void *, const struct um_driver_event_row *);
	void (*copy_traffic)(void *, const struct um_copy_traffic_row *);
	void (*peer_traffic)(void *, const struct um_peer_traffic_row *);
	/* A device is about to access these pages, which it can; as often as kernels touch them. */
	void (*touch)(void *, uint32_t allocation, uint32_t first_page, uint32_t pages);
	/* Once at the end: how long each direction of a device's link was taken. */
	void (*link_time)(void *, int64_t device, uint64_t to_device_ns, uint64_t to_host_ns);
	int (*finish)(void *); /* flush; first error */
};

struct um_probe;
int um_probe_create(struct um_probe **out);
void um_probe_destroy(struct um_probe *);
int um_probe_add(struct um_probe *, const struct um_observer *); /* copied */
/* The observer with this context goes without its finish(). */
void um_probe_remove(struct um_probe *, const void *context);
int um_probe_finish(struct um_probe *);

void um_probe_op(struct um_probe *, const struct um_op_row *);
void um_probe_fault(struct um_probe *, const struct um_fault_row *);
void um_probe_migration(struct um_probe *, const struct um_migration_row *);
void um_probe_mapping(struct um_probe *, const struct um_mapping_row *);
void um_probe_remote_access(struct um_probe *, const struct um_remote_access_row *);
void um_probe_driver_event(struct um_probe *, const struct um_driver_event_row *);
void um_probe_copy_traffic(struct um_probe *, const struct um_copy_traffic_row *);
void um_probe_peer_traffic(struct um_probe *, const struct um_peer_traffic_row *);
/* Whether anybody wants touches; observers that are added later do not count. */
bool um_probe_wants_touches(const struct um_probe *);
void um_probe_touch(struct um_probe *, uint32_t allocation, uint32_t first_page, uint32_t pages);
void um_probe_link_time(struct um_probe *, int64_t device, uint64_t to_device_ns,
			uint64_t to_host_ns);

/* What every table at the end shows. */
struct um_totals {
	uint64_t device_faults, host_faults;
	uint64_t bytes_to_device, bytes_to_host;
	uint64_t migrated_to_device[UM_CAUSES], migrated_to_host[UM_CAUSES];
	/* Each line once for each launch, 64 bytes: as a cache has it that keeps them all. */
	uint64_t remote_to_device, remote_to_host; /* bytes */
	uint64_t remote_lines_read, remote_lines_written;
	uint64_t remote_requests;	 /* what it is without a cache */
	uint64_t remote_lines_uncounted; /* of the lines, those whose requests are not known */
	uint64_t copied_to_device, copied_to_host;
	uint64_t moved_between;		   /* migrations from device to device: bytes */
	uint64_t peer_copied, peer_remote; /* from device to device, over links of their own */
	uint64_t link_to_device_ns,
		link_to_host_ns; /* how long the links were taken, all devices */
	uint64_t queue_evictions, queues_stopped_ns; /* driver_event rows of that kind */
	/* Faults that were dropped; how long their accesses waited added up, and how long any did. */
	uint64_t dropped_faults, dropped_waited_ns, dropped_ns;
	uint64_t end_ns;
};
/* The observer adds into *totals, which outlives the probe. */
struct um_observer um_probe_totals(struct um_totals *totals);
struct um_db;
enum um_probe_db_flags {
	UM_PROBE_OPS = 1, /* ops go to the op table */
	/*
	 * Rows of an op are merged wherever their pages meet, whatever came in between: few rows,
	 * but they overlap in time and no longer tell an order. Without it only what directly
	 * follows.
	 */
	UM_PROBE_MERGE = 2,
};
/*
 * Rows into db inside transactions. The observer is freed by its finish(), which must be called.
 * Until then it may hold up to some 2^20 rows of each kind.
 */
int um_probe_db(struct um_observer *out, struct um_db *db, unsigned flags);

#endif
