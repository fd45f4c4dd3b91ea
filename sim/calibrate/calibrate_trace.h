/*
 * What a measured trace of tests/gpu/measure.hip says of a driver's times: rows by time, configuration
 * by configuration. A part of calibrate.h.
 */
#ifndef UM_CALIBRATE_TRACE_H
#define UM_CALIBRATE_TRACE_H

#include "trace/db/rows.h"
#include "trace/db/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times in ns of the trace's clock. */
struct um_measured_range { /* a configuration */
	char *name;	   /* without "#1"; owned */
	int64_t start_ns, end_ns;
	bool thrashes; /* it has driver_event rows: its batches wait for more than their own work */
};

struct um_measured_fault {	  /* a batch of a device, or a fault of the host */
	int64_t start_ns, end_ns; /* of the host: UM_NULL, its end is not told */
	int64_t allocation, first_page;
};

struct um_measured_move { /* one transfer of the driver */
	int64_t start_ns, end_ns, allocation, first_page, pages, bytes;
	bool to_device;
	enum um_cause cause;
};

struct um_measured_map { /* of a device, onto the host's memory */
	int64_t at_ns, allocation, first_page, pages;
};

struct um_measured {
	struct um_measured_range *ranges;
	struct um_measured_fault *faults, *host_faults;
	struct um_measured_move *moves;
	struct um_measured_map *maps;
	size_t range_count, fault_count, host_fault_count, move_count, map_count;
	int64_t *read_mostly; /* allocations that were advised so */
	size_t read_mostly_count;
	char *arch; /* of the first device; owned */
};

/*
 * Reads the trace; all by time. Ranges of which `is_left_out` says so are as if they had not been
 * measured. UM_EFORMAT: it is no measured trace of configurations; else as um_db_open().
 */
typedef bool (*um_left_out_fn)(void *context, const char *name);
int um_measured_read(struct um_measured *, const char *path, um_left_out_fn is_left_out,
		     void *context);
void um_measured_free(struct um_measured *);

#endif
