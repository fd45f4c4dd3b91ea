/*
 * What a measured trace must have lost. NVIDIA's driver hands out its records through a queue, and where
 * very many come at once some do not fit in; no count tells of them. But a page that the host had written
 * and a kernel then touched has come to the device or was mapped there from afar, by a record. Pages that
 * the accesses have so and of which no record tells prove that records are missing, whatever any model
 * says.
 */
#ifndef UM_CHECK_LOST_H
#define UM_CHECK_LOST_H

#include "check_pairs.h"

/* Pages to be looked at, of all allocations together; then no more are. */
#define UM_CHECK_LOST_WORK (UINT64_C(1) << 32)

/*
 * How many such pages an allocation has, which is `here` of the accesses and `there` of the measured side.
 * 0 where the measured side's back end does not tell everything (CUPTI does), and for allocations that
 * are not managed or that may share a block of 2 MiB with others, whose record is the other's.
 * `work` is counted down; 0 too where it does not suffice. UM_ENOMEM.
 */
int um_check_lost_pages(uint64_t *out, const struct um_check_side *accesses, size_t here,
			const struct um_check_side *measured, size_t there, uint64_t *work);

#endif
