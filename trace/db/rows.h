/*
 * The rows of a trace as C structs, one per table of schema.sql, and the tables' descriptions: a
 * column list that the one generic writer and the one generic reader (trace_db.h) share. Fields are
 * named as the columns are. Text is NUL-terminated, NULL is SQL's NULL; integers that may be NULL
 * hold UM_NULL, reals NaN. A row that is read owns nothing: its text and blobs live until the next
 * row.
 *
 * Line masks are the exception: any 64 bits can be a mask, UM_NULL's too (line 63 alone), so they
 * are never UM_NULL. They are 0 and mean nothing where `touch` has UM_TOUCH_LINES_UNKNOWN, which is
 * where the file has NULL.
 */
#ifndef UM_ROWS_H
#define UM_ROWS_H

#include "words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_NULL INT64_MIN

enum um_column_type {
	UM_COLUMN_INT,
	UM_COLUMN_ID,	/* int64_t; 0 is NULL as well: an id or address that there is not */
	UM_COLUMN_MASK, /* int64_t; NULL where `other` has bits of `unless` */
	UM_COLUMN_REAL,
	UM_COLUMN_TEXT,
	UM_COLUMN_WORD, /* const char *; `stored` has its place in `words`, this is computed */
	UM_COLUMN_END,	/* int64_t; `stored` has what it is above `other`, the column is computed */
	UM_COLUMN_BLOB,
};

struct um_column {
	const char *name;
	enum um_column_type type;
	size_t offset;	     /* of int64_t, double, const char *, or struct um_blob in the row */
	bool required;	     /* NULL in the file is damage */
	size_t other_offset; /* MASK, END: of another int64_t of the row */
	int64_t unless;	     /* MASK */
	const char *stored;  /* WORD, END: the column that is written */
	const struct um_word *words; /* WORD */
};

struct um_blob {
	const void *data;
	size_t bytes;
};

struct um_table {
	const char *name;
	unsigned since;	      /* the version of the schema that brought it */
	const char *order_by; /* of a plain read */
	size_t row_bytes;
	const struct um_column *columns; /* ends with a NULL name */
};

struct um_run_row {
	const char *role, *tool, *command, *source, *backend, *runtime, *host;
	int64_t pid, rank, ranks;
	const char *rank_source, *job;
	const char *executable, *environment, *started, *clock;
	int64_t start_ns, end_ns;
	const char *ended;
	int64_t exit_status, exit_signal;
	const char *host_watch;
	int64_t filter_pages;
	const char *machine, *machine_text, *driver, *driver_parameters, *xnack, *xnack_source;
	int64_t page_bytes, memory_bytes;
	const char *driver_version, *clocks;
	const char *policy;
};

struct um_device_row {
	int64_t device;
	const char *name, *arch;
	int64_t memory_bytes, compute_units, wave_lanes;
	const char *link;
	double link_to_device_bytes_per_s, link_to_host_bytes_per_s;
};

struct um_origin_row {
	const char *record, *origin, *clock, *detail;
};

struct um_site_row {
	int64_t site, parent;
};

struct um_frame_row {
	int64_t site, depth;
	const char *module, *build_id;
	int64_t offset_bytes;
	const char *function, *file;
	int64_t line, inlined;
};

struct um_allocation_row {
	int64_t allocation;
	const char *kind;
	int64_t bytes, flags, device, address, op, freed_op, site;
	const char *name;
};

struct um_op_row {
	int64_t op;
	const char *kind;
	int64_t flags, thread, stream, start_ns, end_ns, result, site;
	int64_t allocation, offset_bytes, bytes, source_allocation, source_offset_bytes, device;
	const char *advice;
	int64_t event, value;
};

struct um_kernel_row {
	int64_t op;
	const char *name, *symbol;
	int64_t grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes;
	int64_t reads, writes, atomics, bytes_read, bytes_written, recorded;
};

struct um_selection_row {
	const char *criterion, *value;
	int64_t matched;
};

struct um_page_access_row {
	int64_t op, allocation, first_page, pages, touch;
	int64_t lines_read, lines_written, requests, atomics;
};

struct um_host_access_row {
	int64_t op, allocation, first_page;
	const char *access;
	int64_t pages, site, touch;
};

struct um_access_chunk_row {
	int64_t op, chunk, first_group, last_group, touches, payload_bytes;
	struct um_blob data;
};

struct um_fault_row {
	int64_t op, device, allocation, first_page, pages, address, faults;
	const char *access;
	int64_t batch, site, start_ns, end_ns;
};

struct um_migration_row {
	int64_t op, allocation, first_page, pages, address, bytes, source, destination;
	const char *cause;
	int64_t transfers, batch, start_ns, end_ns;
};

struct um_mapping_row {
	int64_t op, device, allocation, first_page, pages, address;
	const char *change, *cause;
	int64_t batch, at_ns;
	int is_record; /* no column: one of the driver's own records, which stays a row of its own */
};

struct um_remote_access_row {
	int64_t op, device, allocation, first_page, pages;
	int64_t lines_read, lines_written, requests, bytes_to_device, bytes_to_host;
};

struct um_driver_event_row {
	int64_t op, device;
	const char *kind;
	int64_t address;
	const char *reason;
	int64_t allocation, first_page, pages, count, start_ns, end_ns, waited_ns;
};

struct um_bound_row {
	const char *quantity;
	int64_t page_bytes, value;
};

struct um_copy_traffic_row {
	int64_t op, allocation, bytes_to_device, bytes_to_host, start_ns, end_ns;
};

struct um_peer_traffic_row {
	int64_t op, allocation, source, destination, bytes;
	const char *cause; /* of um_traffic_words */
};

struct um_user_range_row {
	int64_t op, last_op;
	const char *name;
};

struct um_part_row {
	int64_t part, allocation, offset_bytes, bytes;
	const char *name;
	int64_t site, op, end_op;
};

struct um_loss_row {
	int64_t op, device;
	const char *record, *kind;
	int64_t count, start_ns, end_ns;
	const char *detail;
};

extern const struct um_table um_table_run, um_table_device, um_table_origin, um_table_site,
	um_table_frame, um_table_allocation, um_table_op, um_table_kernel, um_table_page_access,
	um_table_access_chunk, um_table_fault, um_table_migration, um_table_mapping,
	um_table_remote_access, um_table_driver_event, um_table_bound, um_table_copy_traffic,
	um_table_peer_traffic, um_table_user_range, um_table_part, um_table_selection,
	um_table_host_access, um_table_loss;

extern const struct um_table *const um_tables[]; /* all of them, ends with NULL */

#endif
