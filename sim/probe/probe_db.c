/*
 * Rows into a database. A row that goes on where the one before of its kind ended (next page, same
 * op, device and cause) is merged into it, so that a sweep is one row however many faults it took.
 * Migrations keep one open row for each cause and direction, since evictions and faults alternate.
 */
#include "probe.h"
#include "probe_cause.h"

#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PER_TRANSACTION 20000
#define OPEN_ROWS	     17			  /* host and 16 devices */
#define OPEN_MIGRATIONS	     (UM_CAUSE_COUNT * 4) /* cause, to the host or not, with bytes or not */

struct writer {
	struct um_db *db;
	bool ops;
	bool began;
	int error;
	char *message; /* of the error, since others may fail before it is asked for */
	unsigned uncommitted;
	struct um_fault_row faults[OPEN_ROWS]; /* by device; pages 0: none */
	struct um_migration_row migrations[OPEN_MIGRATIONS];
	struct um_mapping_row mappings[OPEN_ROWS];
	struct um_remote_access_row remote;
};

static void keep_error(struct writer *writer, int error)
{
	if (!error || writer->error)
		return;
	writer->error = error;
	writer->message = strdup(um_error_message());
}

static void insert(struct writer *writer, const struct um_table *table, const void *row)
{
	if (writer->error)
		return;
	if (!writer->began) {
		keep_error(writer, um_db_begin(writer->db));
		writer->began = true;
	}
	keep_error(writer, um_db_insert(writer->db, table, row));
	if (++writer->uncommitted < ROWS_PER_TRANSACTION)
		return;
	keep_error(writer, um_db_commit(writer->db));
	writer->began = false;
	writer->uncommitted = 0;
}

static int64_t same_or_null(int64_t a, int64_t b)
{
	return a == b ? a : UM_NULL;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void put_op(void *context, const struct um_op_row *row)
{
	struct writer *writer = context;

	if (writer->ops)
		insert(writer, &um_table_op, row);
}

/* --- faults --- */

static bool fault_goes_on(const struct um_fault_row *open, const struct um_fault_row *row)
{
	return open->pages && open->op == row->op && open->device == row->device &&
	       open->allocation == row->allocation &&
	       open->first_page + open->pages == row->first_page && open->access == row->access;
}

static void flush_fault(struct writer *writer, struct um_fault_row *open)
{
	if (open->pages)
		insert(writer, &um_table_fault, open);
	open->pages = 0;
}

static void put_fault(void *context, const struct um_fault_row *row)
{
	struct writer *writer = context;
	struct um_fault_row *open = &writer->faults[(row->device + 1) % OPEN_ROWS];

	if (!fault_goes_on(open, row)) {
		flush_fault(writer, open);
		*open = *row;
		return;
	}
	open->pages += row->pages;
	open->faults += row->faults;
	open->batch = same_or_null(open->batch, row->batch);
	open->start_ns = earlier(open->start_ns, row->start_ns);
	open->end_ns = later(open->end_ns, row->end_ns);
}

/* --- migrations --- */

static bool migration_goes_on(const struct um_migration_row *open,
			      const struct um_migration_row *row)
{
	return open->pages && open->op == row->op && open->allocation == row->allocation &&
	       open->first_page + open->pages == row->first_page && open->source == row->source &&
	       open->destination == row->destination && open->cause == row->cause &&
	       (open->bytes > 0) == (row->bytes > 0);
}

static struct um_migration_row *open_migration(struct writer *writer,
					       const struct um_migration_row *row)
{
	return &writer->migrations[um_cause_index(row->cause) * 4 + (row->destination < 0) * 2 +
				   (row->bytes > 0)];
}

static void flush_migration(struct writer *writer, struct um_migration_row *open)
{
	if (open->pages)
		insert(writer, &um_table_migration, open);
	open->pages = 0;
}

static void put_migration(void *context, const struct um_migration_row *row)
{
	struct writer *writer = context;
	struct um_migration_row *open = open_migration(writer, row);

	if (!migration_goes_on(open, row)) {
		flush_migration(writer, open);
		*open = *row;
		return;
	}
	open->pages += row->pages;
	open->bytes += row->bytes;
	open->transfers += row->transfers;
	open->batch = same_or_null(open->batch, row->batch);
	open->start_ns = earlier(open->start_ns, row->start_ns);
	open->end_ns = later(open->end_ns, row->end_ns);
}

/* --- mappings --- */

static bool mapping_goes_on(const struct um_mapping_row *open, const struct um_mapping_row *row)
{
	return open->pages && open->op == row->op && open->device == row->device &&
	       open->allocation == row->allocation &&
	       open->first_page + open->pages == row->first_page && open->change == row->change;
}

static void flush_mapping(struct writer *writer, struct um_mapping_row *open)
{
	if (open->pages)
		insert(writer, &um_table_mapping, open);
	open->pages = 0;
}

static void put_mapping(void *context, const struct um_mapping_row *row)
{
	struct writer *writer = context;
	size_t slot = (unsigned char)row->change[0] + (size_t)(row->device + 1);
	struct um_mapping_row *open = &writer->mappings[slot % OPEN_ROWS];

	if (mapping_goes_on(open, row)) {
		open->pages += row->pages; /* at_ns stays that of the first */
		return;
	}
	flush_mapping(writer, open);
	*open = *row;
}

/* --- remote accesses --- */

static void flush_remote(struct writer *writer)
{
	if (writer->remote.pages)
		insert(writer, &um_table_remote_access, &writer->remote);
	writer->remote.pages = 0;
}

static void put_remote(void *context, const struct um_remote_access_row *row)
{
	struct writer *writer = context;
	struct um_remote_access_row *open = &writer->remote;

	if (!open->pages || open->op != row->op || open->device != row->device ||
	    open->allocation != row->allocation ||
	    open->first_page + open->pages != row->first_page) {
		flush_remote(writer);
		*open = *row;
		return;
	}
	open->pages += row->pages;
	open->lines_read += row->lines_read;
	open->lines_written += row->lines_written;
	open->requests += row->requests;
	open->bytes_to_device += row->bytes_to_device;
	open->bytes_to_host += row->bytes_to_host;
}

static void put_copy(void *context, const struct um_copy_traffic_row *row)
{
	insert(context, &um_table_copy_traffic, row);
}

static int finish(void *context)
{
	struct writer *writer = context;
	int error;

	for (size_t i = 0; i < OPEN_ROWS; i++) {
		flush_fault(writer, &writer->faults[i]);
		flush_mapping(writer, &writer->mappings[i]);
	}
	for (size_t i = 0; i < OPEN_MIGRATIONS; i++)
		flush_migration(writer, &writer->migrations[i]);
	flush_remote(writer);
	if (writer->began)
		keep_error(writer, um_db_commit(writer->db));
	error = writer->error;
	if (error)
		um_fail(error, "%s", writer->message ? writer->message : "no memory");
	free(writer->message);
	free(writer);
	return error;
}

int um_probe_db(struct um_observer *out, struct um_db *db, int ops)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return um_fail(UM_ENOMEM, "no memory for the database's probe");
	writer->db = db;
	writer->ops = ops;
	*out = (struct um_observer){
		.context = writer,
		.op = put_op,
		.fault = put_fault,
		.migration = put_migration,
		.mapping = put_mapping,
		.remote_access = put_remote,
		.copy_traffic = put_copy,
		.finish = finish,
	};
	return 0;
}
