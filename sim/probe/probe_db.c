/*
 * Rows into a database. A row that goes on where the one before of its kind ended is merged into
 * it, so that a sweep is one row however many faults it took; or, where that is asked for, rows are
 * merged wherever their pages meet within an op (row_merger.h). Records of a driver are kept as they
 * come.
 */
#include "probe.h"
#include "row_merger.h"

#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PER_TRANSACTION 20000

struct writer {
	struct um_db *db;
	unsigned flags;
	bool began;
	int error;
	char *message; /* of the error, since others may fail before it is asked for */
	unsigned uncommitted;
	union um_page_row open[UM_ROW_KINDS][UM_ROW_SLOTS]; /* 0 pages: none */
	struct um_row_merger mergers[UM_ROW_KINDS];
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

/* --- rows that cover pages --- */

struct flush {
	struct writer *writer;
	const struct um_table *table;
};

static void insert_merged(void *context, const void *row)
{
	const struct flush *flush = context;

	insert(flush->writer, flush->table, row);
}

static void flush_merger(struct writer *writer, enum um_row_kind_name name)
{
	struct flush flush = {writer, um_row_kinds[name].table};

	um_row_merger_flush(&writer->mergers[name], insert_merged, &flush);
}

static void merge(struct writer *writer, enum um_row_kind_name name, const void *row)
{
	if (um_row_merger_add(&writer->mergers[name], row))
		return;
	flush_merger(writer, name);
	if (!um_row_merger_add(&writer->mergers[name], row))
		insert(writer, um_row_kinds[name].table, row);
}

static void put(struct writer *writer, enum um_row_kind_name name, const void *row)
{
	const struct um_row_kind *kind = &um_row_kinds[name];
	void *open = &writer->open[name][kind->slot(row)];
	int64_t open_pages = um_row_pages(kind, open);

	if (kind->is_record && kind->is_record(row)) {
		insert(writer, kind->table, row);
		return;
	}
	if (writer->flags & UM_PROBE_MERGE) {
		merge(writer, name, row);
		return;
	}
	if (open_pages && um_row_first(kind, open) + open_pages == um_row_first(kind, row) &&
	    kind->is_alike(open, row)) {
		kind->add(open, row);
		return;
	}
	if (open_pages)
		insert(writer, kind->table, open);
	memcpy(open, row, kind->row_bytes);
}

static void put_fault(void *context, const struct um_fault_row *row)
{
	put(context, UM_ROW_FAULT, row);
}

static void put_migration(void *context, const struct um_migration_row *row)
{
	put(context, UM_ROW_MIGRATION, row);
}

static void put_mapping(void *context, const struct um_mapping_row *row)
{
	put(context, UM_ROW_MAPPING, row);
}

static void put_remote(void *context, const struct um_remote_access_row *row)
{
	put(context, UM_ROW_REMOTE, row);
}

/* --- others --- */

static void put_op(void *context, const struct um_op_row *row)
{
	struct writer *writer = context;

	if (writer->flags & UM_PROBE_OPS)
		insert(writer, &um_table_op, row);
}

static void put_event(void *context, const struct um_driver_event_row *row)
{
	insert(context, &um_table_driver_event, row);
}

static void put_copy(void *context, const struct um_copy_traffic_row *row)
{
	insert(context, &um_table_copy_traffic, row);
}

static void put_peer(void *context, const struct um_peer_traffic_row *row)
{
	insert(context, &um_table_peer_traffic, row);
}

static void flush_all(struct writer *writer)
{
	for (int name = 0; name < UM_ROW_KINDS; name++) {
		const struct um_row_kind *kind = &um_row_kinds[name];

		for (size_t slot = 0; slot < UM_ROW_SLOTS; slot++)
			if (um_row_pages(kind, &writer->open[name][slot]))
				insert(writer, kind->table, &writer->open[name][slot]);
		flush_merger(writer, (enum um_row_kind_name)name);
		um_row_merger_fini(&writer->mergers[name]);
	}
}

static int finish(void *context)
{
	struct writer *writer = context;
	int error;

	flush_all(writer);
	if (writer->began)
		keep_error(writer, um_db_commit(writer->db));
	error = writer->error;
	if (error)
		um_fail(error, "%s", writer->message ? writer->message : "no memory");
	free(writer->message);
	free(writer);
	return error;
}

int um_probe_db(struct um_observer *out, struct um_db *db, unsigned flags)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return um_fail(UM_ENOMEM, "no memory for the database's probe");
	writer->db = db;
	writer->flags = flags;
	for (int name = 0; name < UM_ROW_KINDS; name++)
		writer->mergers[name].kind = &um_row_kinds[name];
	*out = (struct um_observer){
		.context = writer,
		.op = put_op,
		.fault = put_fault,
		.migration = put_migration,
		.mapping = put_mapping,
		.remote_access = put_remote,
		.driver_event = put_event,
		.copy_traffic = put_copy,
		.peer_traffic = put_peer,
		.finish = finish,
	};
	return 0;
}
