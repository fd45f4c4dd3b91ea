/*
 * A timeline: of each device its streams, each direction of its link, its page faults and what its driver
 * did beside; of the host its threads' calls, its page faults and the ranges that the program named.
 * Records whose times are of another clock than the calls' would stand in the wrong place and are left out.
 */
#include "export.h"
#include "export_resident.h"
#include "trace_event.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum process { HOST = 1, DEVICES = 2 };

/* Tracks of a device: 0 and up its streams. Of the host: threads, each with its ranges above its calls. */
enum {
	STREAMS = 500,
	TO_DEVICE,
	TO_HOST,
	ACROSS,
	FAULTS,
	EVENTS,
	HOST_ACCESS = 600,
	HOST_FAULTS,
	THREADS = 200
};

struct writing {
	struct um_trace_events *events;
	struct um_db *db;
	const struct um_export_choice *choice;
	bool is_simulation;
};

static void clip(int64_t *value, int64_t least, int64_t most)
{
	*value = *value < least ? least : *value > most ? most : *value;
}

/* JSON members of what is known of a row: names and columns; malloc'ed. */
struct member {
	const char *name; /* NULL ends the list */
	int column;
};

static char *members_of(struct sqlite3_stmt *row, const struct member *members)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const char *comma = "";

	for (; out && members->name; members++) {
		if (sqlite3_column_type(row, members->column) == SQLITE_NULL)
			continue;
		fprintf(out, "%s\"%s\": ", comma, members->name);
		if (sqlite3_column_type(row, members->column) == SQLITE_INTEGER)
			fprintf(out, "%" PRId64, um_query_integer(row, members->column));
		else
			um_export_string(out, um_query_text(row, members->column));
		comma = ", ";
	}
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int put(struct writing *writing, struct um_trace_slice *slice, struct sqlite3_stmt *row,
	       const struct member *members)
{
	char *arguments = members_of(row, members);
	int error;

	if (!arguments)
		return um_fail(UM_ENOMEM, "out of memory");
	slice->arguments = arguments;
	error = um_trace_events_slice(writing->events, slice);
	free(arguments);
	return error;
}

static int64_t device_process(int64_t device)
{
	clip(&device, 0, 9999);
	return DEVICES + device;
}

/* --- calls --- */

static const char calls_sql[] =
	"SELECT op.op, op.kind, op.thread, op.stream, op.start_ns, op.end_ns, op.device,"
	" op.allocation, op.bytes, op.result, kernel.name, user_range.name, op.advice,"
	" allocation.name"
	" FROM op LEFT JOIN kernel ON kernel.op = op.op"
	" LEFT JOIN user_range ON user_range.op = op.op"
	" LEFT JOIN allocation ON allocation.allocation = op.allocation"
	" WHERE op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL"
	" ORDER BY op.start_ns, op.end_ns DESC, op.op";

static const struct member call_members[] = {{"op", 0},	     {"allocation", 7}, {"name", 13},
					     {"bytes", 8},   {"result", 9},	{"advice", 12},
					     {"kernel", 10}, {NULL, 0}};

static bool is_on_stream(const struct writing *writing, const char *kind)
{
	static const char *const kinds[] = {"launch", "copy", "memset"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return writing->is_simulation && strcmp(kind, "prefetch") == 0;
}

static void place_on_stream(struct um_trace_slice *slice, struct sqlite3_stmt *row, char *track)
{
	int64_t stream = um_query_integer(row, 3);

	snprintf(track, 64, "stream %lld", (long long)(stream == UM_NULL ? 0 : stream));
	slice->process = device_process(um_query_integer(row, 6));
	slice->track = stream;
	clip(&slice->track, 0, STREAMS - 1);
}

static void place_on_host(struct um_trace_slice *slice, struct sqlite3_stmt *row, char *track)
{
	int64_t thread = um_query_integer(row, 2);
	bool is_range = um_query_text(row, 11) != NULL;

	slice->process = HOST;
	slice->nests = true;
	if (strcmp(slice->name, "host") == 0) {
		slice->track = HOST_ACCESS;
		slice->name = "host accesses";
		strcpy(track, "between calls");
		return;
	}
	clip(&thread, 1, THREADS);
	snprintf(track, 64, "thread %lld%s", (long long)thread, is_range ? ": ranges" : "");
	slice->track = 2 * thread - is_range;
}

static int put_call(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	const char *kind = um_query_text(row, 1), *kernel = um_query_text(row, 10);
	const char *range = um_query_text(row, 11);
	char track[64], *name = NULL;
	struct um_trace_slice slice = {
		.track_name = track,
		.name = range ? range : kind,
		.category = range    ? "range"
			    : kernel ? "kernel"
				     : "call",
		.start_ns = um_query_integer(row, 4),
		.end_ns = um_query_integer(row, 5),
	};
	int error;

	if (!kind)
		return um_fail(UM_EFORMAT, "%s: damaged: a call without its kind",
			       um_db_path(writing->db));
	if (kernel) {
		struct um_kernel_name parts = um_kernel_name(kernel);

		name = strndup(parts.start, parts.length);
		slice.name = name ? name : kernel;
	}
	if (is_on_stream(writing, kind))
		place_on_stream(&slice, row, track);
	else
		place_on_host(&slice, row, track);
	error = put(writing, &slice, row, call_members);
	free(name);
	return error;
}

/* --- transfers --- */

static const char transfers_sql[] =
	"SELECT migration.op, migration.allocation, allocation.name, migration.first_page,"
	" migration.pages, migration.bytes, migration.source, migration.destination,"
	" migration.cause, migration.transfers, migration.start_ns, migration.end_ns"
	" FROM migration LEFT JOIN allocation ON allocation.allocation = migration.allocation"
	" WHERE migration.bytes IS NOT 0 ORDER BY migration.start_ns, migration.rowid";

static const struct member transfer_members[] = {
	{"op", 0},    {"allocation", 1}, {"name", 2},	     {"first_page", 3}, {"pages", 4},
	{"bytes", 5}, {"source", 6},	 {"destination", 7}, {"transfers", 9},	{NULL, 0}};

static int put_transfer(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	int64_t source = um_query_integer(row, 6), destination = um_query_integer(row, 7);
	const char *cause = um_query_text(row, 8);
	struct um_trace_slice slice = {
		.process = device_process(destination >= 0 ? destination : source),
		.track = destination < 0 ? TO_HOST
			 : source < 0	 ? TO_DEVICE
					 : ACROSS,
		.track_name = destination < 0 ? "link to the host"
			      : source < 0    ? "link from the host"
					      : "from other devices",
		.name = cause ? cause : "unknown",
		.category = "transfer",
		.start_ns = um_query_integer(row, 10),
		.end_ns = um_query_integer(row, 11),
	};

	return put(writing, &slice, row, transfer_members);
}

/* --- faults --- */

static const char faults_sql[] =
	"SELECT fault.op, fault.allocation, allocation.name, fault.first_page, fault.pages,"
	" fault.faults, fault.batch, fault.device, fault.access, fault.start_ns, fault.end_ns,"
	" fault.end_ns - fault.start_ns"
	" FROM fault LEFT JOIN allocation ON allocation.allocation = fault.allocation"
	" ORDER BY fault.start_ns, fault.rowid";

static const struct member fault_members[] = {{"op", 0},	 {"allocation", 1},   {"name", 2},
					      {"first_page", 3}, {"pages", 4},	      {"faults", 5},
					      {"batch", 6},	 {"duration_ns", 11}, {NULL, 0}};

static int put_fault(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	int64_t device = um_query_integer(row, 7);
	const char *access = um_query_text(row, 8);
	struct um_trace_slice slice = {
		.process = device < 0 ? HOST : device_process(device),
		.track = device < 0 ? HOST_FAULTS : FAULTS,
		.track_name = "page faults",
		.name = access ? access : "fault",
		.category = "fault",
		.is_instant = true,
		.start_ns = um_query_integer(row, 9),
		.end_ns = um_query_integer(row, 10),
	};

	return put(writing, &slice, row, fault_members);
}

/* --- what a driver did beside --- */

static const char events_sql[] =
	"SELECT driver_event.op, driver_event.allocation, allocation.name, driver_event.first_page,"
	" driver_event.pages, driver_event.count, driver_event.reason, driver_event.device,"
	" driver_event.kind, driver_event.start_ns, driver_event.end_ns"
	" FROM driver_event LEFT JOIN allocation"
	"  ON allocation.allocation = driver_event.allocation"
	" ORDER BY driver_event.start_ns, driver_event.rowid";

static const struct member event_members[] = {{"op", 0},	 {"allocation", 1}, {"name", 2},
					      {"first_page", 3}, {"pages", 4},	    {"count", 5},
					      {"reason", 6},	 {NULL, 0}};

static int put_event(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	const char *kind = um_query_text(row, 8);
	struct um_trace_slice slice = {
		.process = device_process(um_query_integer(row, 7)),
		.track = EVENTS,
		.track_name = "driver",
		.name = kind ? kind : "event",
		.category = "driver",
		.start_ns = um_query_integer(row, 9),
		.end_ns = um_query_integer(row, 10),
	};

	return put(writing, &slice, row, event_members);
}

/* --- all of it --- */

static int put_process(struct sqlite3_stmt *row, void *context)
{
	struct writing *writing = context;
	const char *device = um_query_text(row, 1), *link = um_query_text(row, 2);
	char *name = NULL;
	int error;

	if (asprintf(&name, "device %lld: %s%s%s", (long long)um_query_integer(row, 0),
		     device ? device : "?", link ? ", " : "", link ? link : "") < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	error = um_trace_events_process(writing->events, device_process(um_query_integer(row, 0)),
					name);
	free(name);
	return error;
}

static void tell(const struct writing *writing, const char *text)
{
	if (writing->choice->note)
		writing->choice->note(writing->choice->note_context, text);
}

/* Whether times of a kind of record are of the calls' clock. */
static int is_of_clock(struct um_db *db, const char *record, bool *is_it)
{
	char sql[256];
	int64_t other;
	int error;

	snprintf(sql, sizeof(sql),
		 "SELECT COUNT(*) FROM origin WHERE record = '%s' AND clock <>"
		 " (SELECT clock FROM origin WHERE record = 'op.time')",
		 record);
	error = um_db_integer(db, sql, 0, &other);
	*is_it = !error && other == 0;
	return error;
}

static int put_parts(struct writing *writing)
{
	static const struct {
		const char *record, *sql;
		int (*put)(struct sqlite3_stmt *, void *);
	} parts[] = {{"op.time", calls_sql, put_call},
		     {"migration", transfers_sql, put_transfer},
		     {"fault", faults_sql, put_fault},
		     {"driver_event", events_sql, put_event}};
	bool is_left_out = false;
	int error = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !error; i++) {
		bool is_of;

		error = is_of_clock(writing->db, parts[i].record, &is_of);
		is_left_out = is_left_out || !is_of;
		if (!error && is_of)
			error = um_query_each(writing->db, parts[i].sql, parts[i].put, writing);
	}
	if (!error && !is_left_out)
		error = um_export_resident(writing->events, writing->db, DEVICES);
	if (is_left_out)
		tell(writing,
		     "the model's transfers and faults have a clock of their own and are left "
		     "out; umsim replay makes a file that has all in one");
	return error;
}

/* JSON members: where the figures come from; malloc'ed. */
static int take_origin(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	FILE *out = context;
	int error;

	fputs(ftell(out) ? ", " : "", out);
	error = um_export_string(out, origin->record);
	fputs(": ", out);
	return error ? error : um_export_string(out, origin->origin);
}

static char *origins_of(struct um_db *db, int *error)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		*error = um_fail(UM_ENOMEM, "out of memory");
		return NULL;
	}
	*error = um_db_each(db, &um_table_origin, NULL, 0, take_origin, out);
	if (fclose(out) && !*error)
		*error = um_fail(UM_ENOMEM, "out of memory");
	return text;
}

struct beginning {
	int64_t start_ns;
	bool is_simulation;
	char command[256];
};

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct beginning *beginning = context;

	beginning->start_ns = run->start_ns;
	beginning->is_simulation = strcmp(run->role, "simulation") == 0;
	snprintf(beginning->command, sizeof(beginning->command), "host: %s", run->command);
	return 0;
}

int um_export_perfetto(FILE *out, struct um_db *db, const struct um_export_choice *choice)
{
	struct writing writing = {.db = db, .choice = choice};
	struct beginning beginning = {0};
	int error = um_db_run(db, take_run, &beginning);
	char *origins = error ? NULL : origins_of(db, &error);

	if (!error)
		error = um_trace_events_begin(&writing.events, out, beginning.start_ns);
	if (error) {
		free(origins);
		return error;
	}
	writing.is_simulation = beginning.is_simulation;
	error = um_trace_events_process(writing.events, HOST, beginning.command);
	if (!error)
		error = um_query_each(db, "SELECT device, name, link FROM device ORDER BY device",
				      put_process, &writing);
	if (!error)
		error = put_parts(&writing);
	error = um_trace_events_end(writing.events, origins ? origins : "", error);
	free(origins);
	return error;
}
