/*
 * The least that any driver under any policy could have done with a trace's accesses: proven lower
 * bounds, with the proof in ideal.c.
 *
 * Bytes are those of migration and remote access to managed memory together, each way; explicit
 * copies are the program's own and not in them. A line (64 bytes) whose last writer is on the other
 * side must cross before it is read here; what a device cannot keep between two operations must
 * cross again. Faults are the fewest with which pages of one size can be brought in and kept within
 * the capacity, where every access to a page that is not there costs one (pure demand paging: a
 * prefetch or a remote mapping needs none, which is why the table names the page size beside them).
 */
#ifndef UM_IDEAL_H
#define UM_IDEAL_H

#include <stdint.h>

struct um_db;
struct um_machine_spec;

struct um_ideal_request {
	struct um_db *trace;
	const struct um_machine_spec *machine;
	uint64_t memory_bytes; /* of each device, that the program can use */
	uint64_t page_bytes;   /* for the faults: 4 KiB times a power of two */
};

struct um_ideal {
	uint64_t bytes_to_device, bytes_to_host;
	uint64_t device_faults, host_faults;
};

/* UM_ENOTSUP where the trace has no accesses; UM_EFORMAT, UM_ENOMEM. */
int um_ideal_bounds(struct um_ideal *out, const struct um_ideal_request *);

#endif
