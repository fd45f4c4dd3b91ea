/*
 * The least that any driver under any policy could have done with a trace's accesses: lower bounds,
 * proven in ideal.c for the model of a machine that stands there.
 *
 * Bytes are those of migration and of remote access to what the trace has as managed memory, each
 * way; explicit copies are the program's own and not in them. What one side wrote must cross before
 * the other reads it, and what a device cannot keep between two operations must cross again. Each
 * direction is a bound of its own, and their sum is one of both together.
 *
 * Faults are the fewest with which units of page_bytes can be brought in and kept within the
 * capacity if nothing but a fault brings them (pure demand paging): a prefetch, a remote mapping or
 * a driver that maps memory beforehand needs none, so that only faults of demand paging can be
 * compared with them.
 *
 * Both hold for every order and interleaving of accesses that the program's streams, events and
 * waiting allow, not only for the one that the trace happened to have.
 */
#ifndef UM_IDEAL_H
#define UM_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

struct um_db;
struct um_machine_spec;

struct um_ideal_request {
	struct um_db *trace;
	const struct um_machine_spec *machine; /* how many devices, and what links them */
	uint64_t memory_bytes;		       /* of each device, that the program can use */
	bool peers; /* devices access each other's memory, not through the host (a hive) */
	uint64_t
		packed_bytes; /* allocations below share pages with others, beginning at multiples of
				  512 bytes (nvidia_uvm's A2); 0: each begins a page */
	uint64_t page_bytes;  /* of the faults' units: 4 KiB times a power of two, counted from each
				allocation's start */
};

/* Of all devices together. */
struct um_ideal {
	uint64_t bytes_to_device, bytes_to_host;
	uint64_t device_faults, host_faults;
};

/*
 * Reads the trace once; memory grows with the pages that are touched in pieces, not with the trace's
 * length. UM_ENOTSUP where the trace has launches but no accesses (as um_source_open() has it);
 * UM_EINVAL: page_bytes; UM_EFORMAT, UM_ENOMEM.
 */
int um_ideal_bounds(struct um_ideal *out, const struct um_ideal_request *);

#endif
