/*
 * A machine file out of measurements of a card: what its link, NVIDIA's driver and umtrace's records
 * take there. The measurements are a folder as tests/gpu/measure and `umtrace calibrate` make it:
 *
 *   configurations.um.db   the trace of measure.hip under --faults=all
 *   times.tsv              how long each configuration took, untraced, with --faults=off and all
 *   machine.tsv            the card
 *
 * The costs of a batch of faults are those that fit its measured times best (least_squares.h), given
 * what it served (calibrate_batches.h):
 *
 *   T = batch + block * blocks + page * F + prefetched * P + new_block * new blocks
 *       + unmap * blocks that leave the host + map * runs mapped from afar
 *       + host_block * 2 MiB made on the host + interrupt or wake, where the driver was idle
 *       + transfers * latency + bytes / bandwidth
 *
 * They are traced times. What a record of a transfer and of a faulted page costs, from the times with
 * and without, is taken out of them and written as `tracing:`.
 */
#ifndef UM_CALIBRATE_H
#define UM_CALIBRATE_H

#include "calibrate_batches.h"
#include "least_squares.h"

#include <stdint.h>
#include <stdio.h>

/* Of machine.tsv. */
struct um_calibrated_card {
	char name[64], arch[32], driver[32], date[32], link[32];
	uint64_t memory_bytes, l2_bytes;
	uint64_t compute_units, threads_per_unit, wave_lanes;
	uint64_t clock_khz, memory_clock_khz, memory_bus_bits;
};

struct um_calibration {
	struct um_calibrated_card card;
	struct um_fit to_device, to_host, batches, cpu_faults;
	struct um_fit records, fault_records, cpu_fault_records;
	size_t configurations, left_out;
};

/*
 * From the folder; configurations named in the file `test_set` (NULL: none), one a line, have no part
 * in it. UM_ENOENT, UM_EIO, UM_EFORMAT; UM_ELIMIT: too few batches or times, which the message counts.
 */
int um_calibrate(struct um_calibration *, const char *folder, const char *test_set);
/*
 * The machine file; `name` is the machine's. `source`: where the measurements are, for its first lines.
 * UM_EIO.
 */
int um_calibration_write(FILE *, const struct um_calibration *, const char *name,
			 const char *source);

#endif
