/*
 * The bounds, operation by operation: what ideal.c reads in a trace it tells here. No database, no
 * streams: how operations are ordered comes in as two facts of each. The proof is in ideal.c.
 *
 * Errors are UM_ENOMEM throughout; after one the core can only be destroyed.
 */
#ifndef UM_IDEAL_CORE_H
#define UM_IDEAL_CORE_H

#include "ideal.h"

#include "sim/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

struct um_ideal_core;

struct um_ideal_terms {
	uint32_t devices;
	bool coherent;	     /* the host accesses device memory over the link, and need not fault */
	bool peers;	     /* as in um_ideal_request */
	uint64_t unit_pages; /* of the faults, a power of two */
	bool limited[UM_DEVICES_MAX]; /* what is touched may be more than the device holds */
};

int um_ideal_core_create(struct um_ideal_core **out, const struct um_ideal_terms *);
void um_ideal_core_destroy(struct um_ideal_core *);

/*
 * An allocation of managed memory comes; `place` is the caller's number for it, counted from 0. Of its
 * first and last page so many lines at least are its own, and no other's: UM_PAGE_LINES where each
 * allocation begins a page.
 */
int um_ideal_core_add(struct um_ideal_core *, uint32_t place, uint64_t pages, unsigned first_lines,
		      unsigned last_lines);
/* It goes; everything is over. Nothing happens if it is not there. */
int um_ideal_core_remove(struct um_ideal_core *, uint32_t place);
/* What the device can hold of managed pages, for operations from now on. */
void um_ideal_core_room(struct um_ideal_core *, um_device_id, uint64_t pages);

/*
 * An operation of a device begins, the next by number from 1. alone: all those before are certain to
 * be over.
 */
int um_ideal_core_device_op(struct um_ideal_core *, um_device_id, bool alone);
/* One of the host begins; operations of devices with numbers up to `over` are certain to be over. */
int um_ideal_core_host_op(struct um_ideal_core *, uint32_t over);
/*
 * The operation touches these pages, in ascending order; lines of each, 0 to UM_PAGE_LINES. What is
 * known by the page only is all of its lines. Pages beyond the allocation's end are left out.
 */
int um_ideal_core_touch(struct um_ideal_core *, uint32_t place, uint64_t first_page, uint64_t pages,
			unsigned lines_read, unsigned lines_written);
int um_ideal_core_op_end(struct um_ideal_core *);

/* Once, at the end. */
int um_ideal_core_finish(struct um_ideal_core *, struct um_ideal *out);

#endif
