/*
 * Makes a trace of what a reader tells. Rows find their op and their allocation by the rules of schema.sql
 * (table fault), and what the format has no word of is inferred where a replay needs it, by
 * import_infer.h; table origin says of each kind of record which it is.
 */
#ifndef UM_IMPORT_WRITER_H
#define UM_IMPORT_WRITER_H

#include "import_format.h"
#include "trace/db/trace_db.h"

struct um_import_writer;

/* What was imported: rows of the file, less what was inferred. */
struct um_import_totals {
	uint64_t launches, calls, allocations;
	uint64_t fault_rows, device_faults, host_faults;
	uint64_t migrations, bytes_to_device, bytes_to_host, bytes_between;
	uint64_t prefetched_bytes, mappings, events, lost;
};

/* The database is the caller's, new and empty. `path`: the foreign file's name. UM_ENOMEM, UM_EIO. */
int um_import_writer_create(struct um_import_writer **out, struct um_db *,
			    const struct um_import_format *, const char *path);
void um_import_writer_destroy(struct um_import_writer *); /* NULL is legal */
/* What the reader is given, less progress. */
struct um_import_events um_import_writer_events(struct um_import_writer *);
/* All was told: infers, and completes the trace. As um_db_insert(), and UM_ENOMEM. */
int um_import_writer_finish(struct um_import_writer *);
const struct um_import_totals *um_import_writer_totals(const struct um_import_writer *);

#endif
