/* Between the files of the driver explicit_copy (driver_explicit_copy.c says what it is). */
#ifndef UM_EXPLICIT_COPY_H
#define UM_EXPLICIT_COPY_H

#include "driver.h"

struct explicit_copy {
	struct um_driver base;
	const struct um_driver_env *env;
	struct um_machine *machine;
	um_device_id devices;
	bool pageable;
	um_ns staging_ns; /* of a MiB that the host copies into or out of pinned memory */
	uint64_t staging_bytes;
	struct um_server staging; /* the host's thread that does */
	uint16_t *buffers;	  /* by allocation: bit n, device n has one for it */
	size_t buffer_slots;
	/* Pages that an access needs all the same (explicit_copy_fault.c). */
	um_ns busy_until;
	bool service_is_due;
};
_Static_assert(UM_DEVICES_MAX <= 16, "a bit of `buffers` for each device");

/*
 * Copies what the operation needs and `device` has not, from `at` on, and has all of it mapped as it
 * is accessed; *end: when the last byte is there. UM_ELIMIT: no room for a buffer.
 */
int um_explicit_copy_provide(struct explicit_copy *, const struct um_accesses *, um_ns at,
			     um_ns *end);
/* One copy of pages that `from` has and `to` has not, one of them the host. */
int um_explicit_copy_send(struct explicit_copy *, const struct um_page_range *, um_device_id from,
			  um_device_id to, uint32_t op, um_ns at, um_ns *end);
int um_explicit_copy_on_faults(struct um_driver *, struct um_fault_buffer *);

static inline struct explicit_copy *explicit_copy_of(struct um_driver *driver)
{
	return (struct explicit_copy *)driver;
}

#endif
