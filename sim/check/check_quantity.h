/*
 * What a prediction and a measurement are compared by. The one list: names, units, what a measured
 * trace must have told for it, and where a folder's figures.tsv has it of each repetition.
 */
#ifndef UM_CHECK_QUANTITY_H
#define UM_CHECK_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum um_check_quantity {
	UM_CHECK_BYTES_TO_DEVICE, /* migrations of every cause; so the next three */
	UM_CHECK_BYTES_TO_HOST,
	UM_CHECK_RECORDS_TO_DEVICE, /* pieces on the link */
	UM_CHECK_RECORDS_TO_HOST,
	UM_CHECK_CPU_FAULTS,
	UM_CHECK_FAULT_BATCHES, /* of devices */
	UM_CHECK_REMOTE_MAPS,	/* times that a device mapped memory elsewhere */
	UM_CHECK_REMOTE_MAP_BYTES,
	UM_CHECK_TRANSFER_TIME,	    /* of each migration, added up */
	UM_CHECK_KERNEL_TIME,	    /* of each launch, added up */
	UM_CHECK_FAULT_KERNEL_TIME, /* of the launches that faulted when they were measured */
	UM_CHECK_WAIT_TIME,	    /* during which a device ran something or a link moved pages */
	UM_CHECK_STEP_TIME,	    /* during which a kernel ran, untraced: of a folder only */
	UM_CHECK_MAIN_QUANTITIES,
	/* The bytes by cause, to the device and to the host. */
	UM_CHECK_SERVED_TO_DEVICE = UM_CHECK_MAIN_QUANTITIES,
	UM_CHECK_SERVED_TO_HOST,
	UM_CHECK_BROUGHT_TO_DEVICE,
	UM_CHECK_BROUGHT_TO_HOST,
	UM_CHECK_PREFETCHED_TO_DEVICE,
	UM_CHECK_PREFETCHED_TO_HOST,
	UM_CHECK_EVICTED_TO_DEVICE,
	UM_CHECK_EVICTED_TO_HOST,
	UM_CHECK_OTHER_TO_DEVICE,
	UM_CHECK_OTHER_TO_HOST,
	UM_CHECK_COPIED_TO_DEVICE,
	UM_CHECK_COPIED_TO_HOST,
	UM_CHECK_REMOTE_TO_DEVICE,
	UM_CHECK_REMOTE_TO_HOST,
	UM_CHECK_QUANTITIES
};

enum um_check_unit { UM_CHECK_COUNT, UM_CHECK_BYTES, UM_CHECK_NS };

/* A column of figures.tsv behind the name; none: it is not there. */
#define UM_CHECK_NO_COLUMN (-1)

struct um_check_quantity_info {
	const char *name;  /* in JSON and TSV: "records_to_device"; --max-error takes all four */
	const char *group; /* of several: "records" */
	const char *title; /* "records to device" */
	const char *head;  /* of a column, two lines: "records\nin" */
	enum um_check_unit unit;
	const char *record; /* of table origin, that it comes from; NULL: of no trace */
	int column;	    /* of figures.tsv */
	const char *mode;   /* whose repetitions count there */
};
extern const struct um_check_quantity_info um_check_quantities[UM_CHECK_QUANTITIES];

/*
 * Whether a quantity is what people call so: its name, its group, its title or the head of its column,
 * whatever stands between words: "records_to_device", "records", "Records to device", "records in".
 */
bool um_check_is_named(enum um_check_quantity, const char *name);

/* "64 MiB", "1,234", "1.25 ms" of a value; at least 32 bytes. Returns `buffer`. */
char *um_check_format(char *buffer, size_t capacity, enum um_check_unit, double value);

#endif
