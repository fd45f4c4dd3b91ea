/*
 * The times of a driver's services out of a measured trace, each with what is in it. A part of
 * calibrate.h.
 *
 * A fault row of a device is a batch: from its first fault to the replay. What moved or was mapped
 * within is what it served; batches of which neither tells what they were for (first touch) stay out,
 * and those that overlap.
 */
#ifndef UM_CALIBRATE_BATCHES_H
#define UM_CALIBRATE_BATCHES_H

#include "calibrate_trace.h"
#include "least_squares.h"

enum um_batch_term {
	UM_BATCH_TERM_BATCH,
	UM_BATCH_TERM_BLOCK,
	UM_BATCH_TERM_PAGE,	  /* that faulted (F) */
	UM_BATCH_TERM_PREFETCHED, /* pages brought along (P) */
	UM_BATCH_TERM_NEW_BLOCK,  /* that had no memory on the device */
	UM_BATCH_TERM_UNMAP,	  /* blocks of which pages left the host */
	UM_BATCH_TERM_MAP,	  /* runs mapped from afar */
	UM_BATCH_TERM_HOST_BLOCK, /* 2 MiB that were nowhere, made on the host */
	UM_BATCH_TERM_INTERRUPT,  /* the driver was idle */
	UM_BATCH_TERM_WAKE,	  /* and had been for long */
	UM_BATCH_TERMS
};

enum um_host_term { UM_HOST_TERM_FAULT, UM_HOST_TERM_PAGE, UM_HOST_TERMS };
enum um_transfer_term { UM_TRANSFER_TERM_EACH, UM_TRANSFER_TERM_BYTE, UM_TRANSFER_TERMS };

/* Idle: nothing to serve for so long; so that the driver's last round after a replay is not one. */
#define UM_IDLE_AFTER_NS 1500
/* Idle for long: between what was measured as short (100 us) and as long (milliseconds). */
#define UM_WAKE_AFTER_NS 1000000

/* Samples of transfers one way. UM_ENOMEM. */
int um_calibrate_transfers(struct um_samples *, const struct um_measured *, bool to_device);
/*
 * Samples of batches; fixed_ns is the link's part, from the costs of a transfer and a byte. Group: the
 * configuration. UM_ENOMEM.
 */
int um_calibrate_batches(struct um_samples *, const struct um_measured *,
			 const double to_device_ns[UM_TRANSFER_TERMS]);
/* Samples of faults of the host on what lies on a device, each up to the next. UM_ENOMEM. */
int um_calibrate_host_faults(struct um_samples *, const struct um_measured *,
			     const double to_host_ns[UM_TRANSFER_TERMS]);

/* What batches of one configuration served in all. */
struct um_batch_sums {
	double transfers, pages, cpu_faults;
};
struct um_batch_sums um_calibrate_sums(const struct um_measured *,
				       const struct um_measured_range *);

#endif
