/* Every row that leaves a simulation, kept for a test to look at; and what they add up to. */
#ifndef UM_ROW_LOG_H
#define UM_ROW_LOG_H

#include "sim/probe/probe.h"

#include <stddef.h>

#define ROW_LOG_OPS  128
#define ROW_LOG_ROWS (1 << 16)
#define ROW_LOG_ANY  (-2) /* device, or place */

/* A test fails when there are more rows than that. */
struct row_log {
	struct um_op_row ops[ROW_LOG_OPS]; /* by id */
	struct um_fault_row faults[ROW_LOG_ROWS];
	struct um_migration_row migrations[ROW_LOG_ROWS];
	struct um_mapping_row mappings[ROW_LOG_ROWS];
	struct um_remote_access_row remotes[ROW_LOG_ROWS];
	struct um_driver_event_row events[ROW_LOG_ROWS];
	size_t fault_count, migration_count, mapping_count, remote_count, event_count;
};

void row_log_clear(struct row_log *);
struct um_observer row_log_observer(struct row_log *);

/* Faults of a device (UM_HOST too) that an op met; op 0: of all ops. */
int64_t row_log_faults(const struct row_log *, int64_t op, int64_t device);
/* Bytes that went from one place to another during op (0: all), for `cause` (NULL: any). */
int64_t row_log_moved(const struct row_log *, int64_t op, int64_t source, int64_t destination,
		      const char *cause);
/* Bytes of remote accesses of an op by a device; 0: all ops. */
int64_t row_log_remote_reads(const struct row_log *, int64_t op, int64_t device);
int64_t row_log_remote_writes(const struct row_log *, int64_t op, int64_t device);
/* The n-th event of a kind, from 0; NULL: there are fewer. */
const struct um_driver_event_row *row_log_event(const struct row_log *, const char *kind, size_t n);
size_t row_log_events(const struct row_log *, const char *kind);
/* The n-th migration with bytes, from 0, in order; NULL: there are fewer. */
const struct um_migration_row *row_log_transfer(const struct row_log *, size_t n);

#endif
