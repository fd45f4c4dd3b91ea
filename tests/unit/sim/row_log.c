#include "row_log.h"

#include "sim/machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void row_log_clear(struct row_log *log)
{
	memset(log->ops, 0, sizeof(log->ops));
	log->fault_count = log->migration_count = log->mapping_count = 0;
	log->remote_count = log->event_count = 0;
}

static void see_op(void *context, const struct um_op_row *row)
{
	struct row_log *log = context;

	assert_true(row->op < ROW_LOG_OPS);
	log->ops[row->op] = *row;
}

static void see_fault(void *context, const struct um_fault_row *row)
{
	struct row_log *log = context;

	assert_true(log->fault_count < ROW_LOG_ROWS);
	log->faults[log->fault_count++] = *row;
}

static void see_migration(void *context, const struct um_migration_row *row)
{
	struct row_log *log = context;

	assert_true(log->migration_count < ROW_LOG_ROWS);
	log->migrations[log->migration_count++] = *row;
}

static void see_mapping(void *context, const struct um_mapping_row *row)
{
	struct row_log *log = context;

	assert_true(log->mapping_count < ROW_LOG_ROWS);
	log->mappings[log->mapping_count++] = *row;
}

static void see_remote(void *context, const struct um_remote_access_row *row)
{
	struct row_log *log = context;

	assert_true(log->remote_count < ROW_LOG_ROWS);
	log->remotes[log->remote_count++] = *row;
}

static void see_event(void *context, const struct um_driver_event_row *row)
{
	struct row_log *log = context;

	assert_true(log->event_count < ROW_LOG_ROWS);
	log->events[log->event_count++] = *row;
}

struct um_observer row_log_observer(struct row_log *log)
{
	return (struct um_observer){.context = log,
				    .op = see_op,
				    .fault = see_fault,
				    .migration = see_migration,
				    .mapping = see_mapping,
				    .remote_access = see_remote,
				    .driver_event = see_event};
}

static bool is_of(int64_t wanted, int64_t op)
{
	return !wanted || wanted == op;
}

int64_t row_log_faults(const struct row_log *log, int64_t op, int64_t device)
{
	int64_t faults = 0;

	for (size_t i = 0; i < log->fault_count; i++)
		if (is_of(op, log->faults[i].op) && log->faults[i].device == device)
			faults += log->faults[i].faults;
	return faults;
}

static bool is_at(int64_t wanted, int64_t place)
{
	return wanted == ROW_LOG_ANY || wanted == place;
}

int64_t row_log_moved(const struct row_log *log, int64_t op, int64_t source, int64_t destination,
		      const char *cause)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < log->migration_count; i++) {
		const struct um_migration_row *row = &log->migrations[i];

		if (is_of(op, row->op) && is_at(source, row->source) &&
		    is_at(destination, row->destination) && (!cause || !strcmp(cause, row->cause)))
			bytes += row->bytes;
	}
	return bytes;
}

int64_t row_log_remote_reads(const struct row_log *log, int64_t op, int64_t device)
{
	int64_t lines = 0;

	for (size_t i = 0; i < log->remote_count; i++)
		if (is_of(op, log->remotes[i].op) && log->remotes[i].device == device)
			lines += log->remotes[i].lines_read;
	return lines * 64;
}

int64_t row_log_remote_writes(const struct row_log *log, int64_t op, int64_t device)
{
	int64_t lines = 0;

	for (size_t i = 0; i < log->remote_count; i++)
		if (is_of(op, log->remotes[i].op) && log->remotes[i].device == device)
			lines += log->remotes[i].lines_written;
	return lines * 64;
}

const struct um_driver_event_row *row_log_event(const struct row_log *log, const char *kind,
						size_t n)
{
	for (size_t i = 0; i < log->event_count; i++)
		if (!strcmp(log->events[i].kind, kind) && !n--)
			return &log->events[i];
	return NULL;
}

size_t row_log_events(const struct row_log *log, const char *kind)
{
	size_t count = 0;

	while (row_log_event(log, kind, count))
		count++;
	return count;
}

const struct um_migration_row *row_log_transfer(const struct row_log *log, size_t n)
{
	for (size_t i = 0; i < log->migration_count; i++)
		if (log->migrations[i].bytes > 0 && !n--)
			return &log->migrations[i];
	return NULL;
}
