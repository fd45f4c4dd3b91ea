/*
 * What a reader of a foreign format tells, and whoever takes it: the writer of a trace
 * (import_writer.h), or a test. Times are ns of the file's own clock. Addresses are the program's. What the
 * format does not tell is UM_NULL (numbers) or NULL (texts), never a guess.
 */
#ifndef UM_IMPORT_EVENTS_H
#define UM_IMPORT_EVENTS_H

#include "trace/db/rows.h"

#include <stdbool.h>

/* What is known of the run. Each may be NULL or UM_NULL. */
struct um_import_run {
	const char *command, *host, *driver_version;
	const char *started; /* ISO 8601, UTC */
	const char *xnack;   /* "on", "off" */
	const char *clock;   /* in place of the format's own */
	int64_t pid;
};

/* Something that the program asked for. */
struct um_import_op {
	enum um_op_kind kind;
	unsigned flags; /* UM_OP_ASYNC */
	int64_t start_ns, end_ns;
	bool on_device; /* the times are of the device, not of the call */
	int64_t thread, stream, device, result;
	const struct um_kernel_row
		*kernel; /* of a launch: what is known; its op is not looked at */
	/* Of allocations and what acts on them: the first byte, of a copy the target's; 0: not told. */
	uint64_t address, source_address;
	int64_t bytes;
	int64_t allocation_kind; /* enum um_allocation_kind; alloc only, UM_NULL: not told */
	const char *advice;	 /* of um_advice_words */
	int64_t value;		 /* copy: hipMemcpyKind; memset: the pattern */
};

/*
 * Each returns 0 or an error that ends the import. Rows hold addresses: op, allocation and
 * first_page are not looked at. In the order of their times, as nearly as the file has it.
 */
struct um_import_events {
	void *context;
	int (*run)(void *context, const struct um_import_run *);
	int (*device)(void *context, const struct um_device_row *);
	int (*op)(void *context, const struct um_import_op *);
	int (*fault)(void *context, const struct um_fault_row *);
	int (*migration)(void *context, const struct um_migration_row *);
	int (*mapping)(void *context, const struct um_mapping_row *);
	int (*event)(void *context, const struct um_driver_event_row *);
	int (*loss)(void *context, const struct um_loss_row *);
	/* How far the file is read. NULL: nobody wants to know. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *progress_context;
};

/* Rows with nothing known in them. */
struct um_import_op um_import_op(enum um_op_kind);
struct um_fault_row um_import_fault(void);
struct um_migration_row um_import_migration(void);
struct um_mapping_row um_import_mapping(void);
struct um_driver_event_row um_import_event(void);
struct um_kernel_row um_import_kernel(void);
struct um_device_row um_import_device(int64_t device, const char *name);

/* 4 KiB pages that [address, address + bytes) touches. */
int64_t um_import_pages(uint64_t address, uint64_t bytes);

#endif
