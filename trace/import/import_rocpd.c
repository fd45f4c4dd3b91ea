/*
 * rocpd databases of rocprofv3 and rocprof-sys, schema 3 and later (rocprofiler-sdk,
 * share/rocprofiler-sdk-rocpd/rocpd_tables.sql; lib/output/generateRocpd.cpp). Each table's name may end in a
 * suffix, "_" and the process's GUID; what is there without one may be a view:
 *
 *   rocpd_kernel_dispatch   launches on the device        rocpd_memory_copy      explicit copies
 *   rocpd_region            calls, and KFD's events       rocpd_memory_allocate  allocations
 *   rocpd_event             category and extdata of each  rocpd_arg              arguments of calls
 *
 * KFD's events are regions whose event has a category of KFD_PAGE_MIGRATE, KFD_PAGE_FAULT, KFD_QUEUE (begin and end
 * together) or KFD_EVENT_*: the same once more, each half apart, which are left out where the first are there.
 * What they are about is JSON in rocpd_event.extdata, texts under "kfd" (in some revisions under "kfd" twice).
 * Agents there are nodes of the topology (rocpd_info_agent.absolute_index), -1 none. Grids count lanes. Times are ns
 * of CLOCK_BOOTTIME.
 */
#include "import_api.h"
#include "import_sqlite.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define AGENTS	     128
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct agent {
	int64_t id, node, device; /* device: -1 a CPU */
};

struct reading {
	const struct um_import_file *file;
	const struct um_import_events *events;
	char suffix[128];
	struct agent agents[AGENTS];
	size_t agent_count;
	bool has_pairs;		 /* events with begin and end together */
	bool has_allocations;	 /* told with their addresses, which calls do not have */
	sqlite3_stmt *arguments; /* of a call */
};

static int wrong(const struct reading *reading, const char *table, const char *what)
{
	return um_fail(UM_EFORMAT, "%s: recognised as a %s, but damaged: %s: %s",
		       reading->file->path, um_import_rocpd.what, table, what);
}

static bool is_span(int64_t start_ns, int64_t end_ns)
{
	return start_ns >= 0 && end_ns >= start_ns;
}

/* --- agents --- */

/* UM_NULL: there is no such agent. */
static int64_t device_of_agent(const struct reading *reading, int64_t id)
{
	for (size_t i = 0; i < reading->agent_count; i++)
		if (reading->agents[i].id == id)
			return reading->agents[i].device;
	return UM_NULL;
}

static int64_t device_of_node(const struct reading *reading, int64_t node)
{
	for (size_t i = 0; i < reading->agent_count; i++)
		if (reading->agents[i].node == node)
			return reading->agents[i].device;
	return UM_NULL;
}

static int put_agent(struct reading *reading, sqlite3_stmt *row, int64_t *devices)
{
	const char *type = um_import_text(row, 2), *arch = um_import_text(row, 3);
	const char *product = um_import_text(row, 4);
	bool is_gpu = type && strcmp(type, "GPU") == 0;

	if (reading->agent_count == AGENTS)
		return wrong(reading, "rocpd_info_agent", "more agents than there can be");
	reading->agents[reading->agent_count++] = (struct agent){
		um_import_column(row, 0), um_import_column(row, 1), is_gpu ? (*devices)++ : -1};
	if (!is_gpu)
		return 0;
	struct um_device_row device = um_import_device(*devices - 1, product && *product ? product
								     : arch		 ? arch
											 : "GPU");
	device.arch = arch && strncmp(arch, "gfx", 3) == 0 ? arch : NULL;
	return reading->events->device(reading->events->context, &device);
}

static int read_agents(struct reading *reading)
{
	sqlite3_stmt *row;
	int64_t devices = 0;
	int more, error = um_import_prepare(
			  reading->file, &row,
			  "SELECT id, absolute_index, type, name, product_name FROM "
			  "\"rocpd_info_agent%s\" ORDER BY absolute_index, id",
			  reading->suffix);

	while (!error && (more = um_import_step(reading->file, row)) != 0)
		error = more < 0 ? more : put_agent(reading, row, &devices);
	sqlite3_finalize(row);
	return error;
}

/* --- launches and copies --- */

enum {
	K_START,
	K_END,
	K_AGENT,
	K_STREAM,
	K_THREAD,
	K_LDS,
	K_BLOCK,
	K_GRID = K_BLOCK + 3,
	K_NAME = K_GRID + 3,
	K_SYMBOL
};
static const char *const kernel_columns[] = {"start",
					     "end",
					     "agent_id",
					     "stream_id",
					     "tid",
					     "group_segment_size",
					     "workgroup_size_x",
					     "workgroup_size_y",
					     "workgroup_size_z",
					     "grid_size_x",
					     "grid_size_y",
					     "grid_size_z",
					     "k.display_name",
					     "k.kernel_name",
					     NULL};

static int put_kernel(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_import_op op = um_import_op(UM_OP_LAUNCH);
	struct um_kernel_row kernel = um_import_kernel();
	int64_t *const block[] = {&kernel.block_x, &kernel.block_y, &kernel.block_z};
	int64_t *const grid[] = {&kernel.grid_x, &kernel.grid_y, &kernel.grid_z};

	op.kernel = &kernel;
	op.flags = UM_OP_ASYNC;
	op.start_ns = um_import_column(row, K_START);
	op.end_ns = um_import_column(row, K_END);
	op.device = device_of_agent(reading, um_import_column(row, K_AGENT));
	op.stream = um_import_column(row, K_STREAM);
	op.on_device = true;
	if (!is_span(op.start_ns, op.end_ns) || op.device == UM_NULL || op.device < 0)
		return wrong(reading, "rocpd_kernel_dispatch", "a launch that there cannot be");
	for (int i = 0; i < 3; i++) {
		int64_t lanes = um_import_column(row, K_GRID + i);
		int64_t width = um_import_column(row, K_BLOCK + i);

		*block[i] = width > 0 ? width : 1;
		*grid[i] = lanes > 0 ? (lanes - 1) / *block[i] + 1 : 1;
	}
	kernel.lds_bytes = um_import_column(row, K_LDS);
	kernel.symbol = um_import_text(row, K_SYMBOL);
	kernel.name = um_import_text(row, K_NAME);
	if (!kernel.name)
		kernel.name = kernel.symbol;
	return reading->events->op(reading->events->context, &op);
}

enum { C_START, C_END, C_TO, C_FROM, C_TO_ADDRESS, C_FROM_ADDRESS, C_BYTES, C_STREAM };
static const char *const copy_columns[] = {"start",	   "end",	  "dst_agent_id",
					   "src_agent_id", "dst_address", "src_address",
					   "size",	   "stream_id",	  NULL};

static uint64_t address_of(int64_t told)
{
	return told > 0 ? (uint64_t)told : 0;
}

static int put_copy(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_import_op op = um_import_op(UM_OP_COPY);
	int64_t to = device_of_agent(reading, um_import_column(row, C_TO));
	int64_t from = device_of_agent(reading, um_import_column(row, C_FROM));

	op.start_ns = um_import_column(row, C_START);
	op.end_ns = um_import_column(row, C_END);
	op.bytes = um_import_column(row, C_BYTES);
	op.address = address_of(um_import_column(row, C_TO_ADDRESS));
	op.source_address = address_of(um_import_column(row, C_FROM_ADDRESS));
	op.stream = um_import_column(row, C_STREAM);
	op.device = to != UM_NULL && to >= 0 ? to : from != UM_NULL && from >= 0 ? from : UM_NULL;
	op.on_device = op.device != UM_NULL;
	/* hipMemcpyKind */
	if (to != UM_NULL && from != UM_NULL)
		op.value = (to >= 0 ? 1 : 0) + (from >= 0 ? 2 : 0);
	if (!is_span(op.start_ns, op.end_ns) || op.bytes == UM_NULL || op.bytes < 0)
		return wrong(reading, "rocpd_memory_copy", "a copy that there cannot be");
	return reading->events->op(reading->events->context, &op);
}

/* --- allocations --- */

enum { M_START, M_END, M_TYPE, M_LEVEL, M_ADDRESS, M_BYTES, M_AGENT };
static const char *const memory_columns[] = {"start",	"end",	"type",	    "level",
					     "address", "size", "agent_id", NULL};

/* Scratch and reservations of addresses are none; memory of a CPU's agent is pinned. */
static int put_memory(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	const char *type = um_import_text(row, M_TYPE), *level = um_import_text(row, M_LEVEL);
	int64_t device = device_of_agent(reading, um_import_column(row, M_AGENT));
	bool frees = type && strcmp(type, "FREE") == 0;
	struct um_import_op op = um_import_op(frees ? UM_OP_FREE : UM_OP_ALLOC);

	if (!type || !level || strcmp(level, "REAL") != 0 || (!frees && strcmp(type, "ALLOC") != 0))
		return 0;
	op.start_ns = um_import_column(row, M_START);
	op.end_ns = um_import_column(row, M_END);
	op.address = address_of(um_import_column(row, M_ADDRESS));
	op.bytes = um_import_column(row, M_BYTES);
	op.device = device != UM_NULL && device >= 0 ? device : UM_NULL;
	if (!frees && device != UM_NULL)
		op.allocation_kind = device < 0 ? UM_ALLOCATION_PINNED : UM_ALLOCATION_DEVICE;
	if (!is_span(op.start_ns, op.end_ns) || op.bytes == UM_NULL || op.bytes < 0)
		return wrong(reading, "rocpd_memory_allocate", "memory that there cannot be");
	return reading->events->op(reading->events->context, &op);
}

/* --- KFD's events --- */

/* A number that stands there as a text, or as one; UM_NULL: neither. */
static int64_t number(const json_t *kfd, const char *key)
{
	const json_t *value = json_object_get(kfd, key);
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value))
		return json_integer_value(value);
	if (!text || !*text)
		return UM_NULL;
	unsigned long long magnitude = strtoull(*text == '-' ? text + 1 : text, &end, 0);
	if (*end || magnitude > INT64_MAX)
		return UM_NULL;
	return *text == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
}

static const json_t *kfd_of(const json_t *extdata)
{
	const json_t *kfd = json_object_get(extdata, "kfd");
	const json_t *inner = json_object_get(kfd, "kfd");

	return inner ? inner : kfd;
}

struct event {
	const char *category, *operation;
	int64_t start_ns, end_ns;
	const json_t *kfd;
};

static bool is_instant(const struct event *event)
{
	return strncmp(event->category, "KFD_EVENT_", 10) == 0;
}

/* Of halves apart the beginning stands for both; it has no end. */
static bool is_end(const struct event *event)
{
	return is_instant(event) &&
	       (strstr(event->operation, "END") || strstr(event->operation, "RESTORE"));
}

static int64_t end_of(const struct event *event)
{
	return is_instant(event) ? UM_NULL : event->end_ns;
}

static const struct {
	const char *word;
	enum um_cause cause;
} causes[] = {
	{"PREFETCH", UM_CAUSE_PREFETCH},
	{"PAGEFAULT_GPU", UM_CAUSE_DEVICE_FAULT},
	{"PAGEFAULT_CPU", UM_CAUSE_HOST_FAULT},
	{"TTM_EVICTION", UM_CAUSE_EVICTION},
};

/* Ends are exclusive. */
static bool range(const struct event *event, int64_t *address, int64_t *pages)
{
	int64_t start = number(event->kfd, "start_address"),
		end = number(event->kfd, "end_address");

	if (start < 0 || end <= start)
		return false;
	*address = start;
	*pages = um_import_pages((uint64_t)start, (uint64_t)(end - start));
	return true;
}

static int put_migration(const struct reading *reading, const struct event *event)
{
	struct um_migration_row moved = um_import_migration();
	int64_t failed = number(event->kfd, "error_code");

	moved.source = device_of_node(reading, number(event->kfd, "src_agent_id"));
	moved.destination = device_of_node(reading, number(event->kfd, "dst_agent_id"));
	if (!range(event, &moved.address, &moved.pages) || moved.source == UM_NULL ||
	    moved.destination == UM_NULL)
		return wrong(reading, "rocpd_event",
			     "a KFD_PAGE_MIGRATE without its range and agents");
	moved.bytes = failed != UM_NULL && failed != 0 ? 0 : moved.pages * UM_PAGE_BYTES;
	moved.transfers = 1;
	for (size_t i = 0; i < COUNT(causes); i++)
		if (strstr(event->operation, causes[i].word))
			moved.cause = um_word(um_cause_words, (int)causes[i].cause);
	moved.start_ns = event->start_ns;
	moved.end_ns = end_of(event);
	return reading->events->migration(reading->events->context, &moved);
}

static int put_fault(const struct reading *reading, const struct event *event)
{
	struct um_fault_row fault = um_import_fault();
	bool writes = strstr(event->operation, "WRITE"), reads = strstr(event->operation, "READ");

	fault.device = device_of_node(reading, number(event->kfd, "agent_id"));
	fault.address = number(event->kfd, "address");
	if (fault.address <= 0 || fault.device == UM_NULL)
		return wrong(reading, "rocpd_event",
			     "a KFD_PAGE_FAULT without its address and agent");
	fault.address &= ~(int64_t)(UM_PAGE_BYTES - 1);
	/* rocprofv3 has one fault an event; umanalyze export says how many the driver counted as one. */
	int64_t count = number(event->kfd, "count");
	fault.faults = count > 0 ? count : 1;
	if (writes || reads)
		fault.access = um_word(um_access_words, writes ? UM_FAULT_WRITE : UM_FAULT_READ);
	fault.start_ns = event->start_ns;
	fault.end_ns = end_of(event);
	return reading->events->fault(reading->events->context, &fault);
}

static int put_queue(const struct reading *reading, const struct event *event)
{
	static const struct {
		const char *word, *reason;
	} reasons[] = {
		{"USERPTR", "userptr"},		  {"TTM", "ttm"},
		{"SUSPEND", "suspend"},		  {"CRIU_CHECKPOINT", "criu_checkpoint"},
		{"CRIU_RESTORE", "criu_restore"}, {"SVM", "svm"},
	};
	struct um_driver_event_row stop = um_import_event();

	stop.kind = UM_EVENT_QUEUE_EVICTION;
	stop.device = device_of_node(reading, number(event->kfd, "agent_id"));
	for (size_t i = 0; i < COUNT(reasons) && !stop.reason; i++)
		if (strstr(event->operation, reasons[i].word))
			stop.reason = reasons[i].reason;
	stop.start_ns = event->start_ns;
	stop.end_ns = end_of(event);
	return reading->events->event(reading->events->context, &stop);
}

static int put_unmapping(const struct reading *reading, const struct event *event)
{
	struct um_mapping_row mapping = um_import_mapping();

	mapping.device = device_of_node(reading, number(event->kfd, "agent_id"));
	if (!range(event, &mapping.address, &mapping.pages) || mapping.device == UM_NULL)
		return wrong(reading, "rocpd_event",
			     "a KFD_EVENT_UNMAP_FROM_GPU without its range");
	mapping.change = um_word(um_change_words, UM_CHANGE_UNMAPPED);
	mapping.at_ns = event->start_ns;
	return reading->events->mapping(reading->events->context, &mapping);
}

static int put_dropped(const struct reading *reading, const struct event *event)
{
	int64_t count = number(event->kfd, "count");
	const struct um_loss_row loss = {
		.op = UM_NULL,
		.device = UM_NULL,
		.kind = "dropped",
		.count = count > 0 ? count : 1,
		.start_ns = UM_NULL,
		.end_ns = event->start_ns,
		.detail = "events that amdkfd dropped",
	};

	return reading->events->loss(reading->events->context, &loss);
}

static const struct {
	const char *category; /* behind KFD_ or KFD_EVENT_ */
	int (*put)(const struct reading *, const struct event *);
	bool has_pair; /* is left out where events with both halves are there */
} kinds[] = {
	{"PAGE_MIGRATE", put_migration, true},
	{"PAGE_FAULT", put_fault, true},
	{"QUEUE", put_queue, true},
	{"UNMAP_FROM_GPU", put_unmapping, false},
	{"DROPPED_EVENTS", put_dropped, false},
};

static int put_kfd(const struct reading *reading, const struct event *event)
{
	const char *category = event->category + (is_instant(event) ? 10 : 4);

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strcmp(category, kinds[i].category) != 0)
			continue;
		bool left_out = kinds[i].has_pair && is_instant(event) && reading->has_pairs;

		return left_out || is_end(event) ? 0 : kinds[i].put(reading, event);
	}
	return 0;
}

/* --- calls --- */

static int take_argument(struct um_import_op *op, const char *name, const char *value)
{
	char *end;
	unsigned long long told = strtoull(value, &end, 0);

	if (end == value)
		return 0;
	if (strcmp(name, "dev_ptr") == 0 || strcmp(name, "ptr") == 0)
		op->address = told;
	else if (strcmp(name, "count") == 0 || strcmp(name, "size") == 0)
		op->bytes = told <= INT64_MAX ? (int64_t)told : UM_NULL;
	else if (strcmp(name, "device") == 0)
		op->device = strtol(value, NULL, 0);
	return 0;
}

/* Of prefetches and advice; of an allocation it is where its address is to be put. */
static int read_arguments(struct reading *reading, struct um_import_op *op, int64_t event)
{
	int error = 0, more;

	if (!reading->arguments || event == UM_NULL)
		return 0;
	sqlite3_reset(reading->arguments);
	sqlite3_bind_int64(reading->arguments, 1, event);
	while (!error && (more = um_import_step(reading->file, reading->arguments)) != 0) {
		const char *name = um_import_text(reading->arguments, 0);
		const char *value = um_import_text(reading->arguments, 1);

		error = more < 0 ? more : name && value ? take_argument(op, name, value) : 0;
	}
	/* hipCpuDeviceId */
	op->device = op->device == -1 || op->device >= 0 ? op->device : UM_NULL;
	if (op->kind == UM_OP_ALLOC)
		op->address = 0;
	return error;
}

static int put_call(struct reading *reading, sqlite3_stmt *row, const char *name)
{
	int allocation;
	int kind = um_import_api(name, &allocation);

	bool is_told =
		(kind == UM_OP_ALLOC && allocation != UM_ALLOCATION_MANAGED) || kind == UM_OP_FREE;
	if (!kind || (is_told && reading->has_allocations))
		return 0;
	struct um_import_op op = um_import_op((enum um_op_kind)kind);
	op.start_ns = um_import_column(row, 0);
	op.end_ns = um_import_column(row, 1);
	op.thread = um_import_column(row, 2);
	if (!is_span(op.start_ns, op.end_ns))
		return wrong(reading, "rocpd_region", "a call that ends before it begins");
	bool asks = kind == UM_OP_PREFETCH || kind == UM_OP_ADVISE;
	int error = asks ? read_arguments(reading, &op, um_import_column(row, 6)) : 0;
	return error ? error : reading->events->op(reading->events->context, &op);
}

static const char *const region_columns[] = {"start",	 "end",	      "tid",	  "n.string",
					     "c.string", "e.extdata", "event_id", NULL};

static int put_region(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	struct event event = {
		.start_ns = um_import_column(row, 0),
		.end_ns = um_import_column(row, 1),
		.operation = um_import_text(row, 3),
		.category = um_import_text(row, 4),
	};
	const char *text = um_import_text(row, 5);

	if (!event.operation)
		return wrong(reading, "rocpd_region", "a region without a name");
	if (!event.category || strncmp(event.category, "KFD_", 4) != 0)
		return put_call(reading, row, event.operation);
	if (!is_span(event.start_ns, event.end_ns))
		return wrong(reading, "rocpd_region", "an event that ends before it begins");
	json_t *extdata = text ? json_loads(text, 0, NULL) : NULL;
	event.kfd = kfd_of(extdata);
	int error =
		event.kfd ? put_kfd(reading, &event)
			  : wrong(reading, "rocpd_event", "an event of KFD without extdata of it");
	json_decref(extdata);
	return error;
}

/* --- the file --- */

/* Processes have a suffix each. */
static int find_suffix(struct reading *reading)
{
	static const char base[] = "rocpd_info_process";
	sqlite3_stmt *row;
	int64_t found = 0;
	int more,
		error = um_import_prepare(reading->file, &row,
					  "SELECT name FROM sqlite_master WHERE type = 'table' AND "
					  "name GLOB '%s*' ORDER BY name",
					  base);

	while (!error && (more = um_import_step(reading->file, row)) != 0) {
		const char *name = more < 0 ? NULL : um_import_text(row, 0);

		if (!name || strchr(name, '"') ||
		    strlen(name) - strlen(base) >= sizeof(reading->suffix))
			error = more < 0 ? more
					 : wrong(reading, base, "a name of a table that is none");
		else if (!found++)
			strcpy(reading->suffix, name + strlen(base));
	}
	sqlite3_finalize(row);
	if (!error && found == 0)
		error = wrong(reading, base, "there is no such table");
	int64_t processes = found;
	if (!error && found == 1)
		error = um_import_integer(reading->file, &processes,
					  "SELECT COUNT(*) FROM \"%s%s\"", base, reading->suffix);
	if (!error && processes > 1)
		error = um_fail(UM_ENOTSUP,
				"%s: has %lld processes, whose addresses are not to be told apart: "
				"import the database of each",
				reading->file->path, (long long)processes);
	return error;
}

static int put_process(const struct reading *reading)
{
	struct um_import_run run = {.pid = UM_NULL};
	sqlite3_stmt *row;
	int error = um_import_prepare(
		reading->file, &row,
		"SELECT p.pid, p.command, n.hostname FROM "
		"\"rocpd_info_process%s\" AS p LEFT JOIN \"rocpd_info_node%s\" AS n "
		"ON n.id = p.nid",
		reading->suffix, reading->suffix);
	int more = error ? error : um_import_step(reading->file, row);

	if (more == 1) {
		run.pid = um_import_column(row, 0);
		run.command = um_import_text(row, 1);
		run.host = um_import_text(row, 2);
		if (run.command && !*run.command)
			run.command = NULL;
	}
	if (more >= 0)
		error = reading->events->run(reading->events->context, &run);
	sqlite3_finalize(row);
	return more < 0 ? more : error;
}

static int find_pairs(struct reading *reading)
{
	int64_t found = 0;
	int error = um_import_integer(
		reading->file, &found,
		"SELECT EXISTS (SELECT 1 FROM \"rocpd_string%s\" AS s JOIN "
		"\"rocpd_event%s\" AS e ON e.category_id = s.id WHERE s.string IN "
		"('KFD_PAGE_MIGRATE', 'KFD_PAGE_FAULT', 'KFD_QUEUE'))",
		reading->suffix, reading->suffix);

	reading->has_pairs = found;
	return error;
}

static int find_allocations(struct reading *reading)
{
	char table[192];
	int64_t found = 0;
	int error = 0;

	snprintf(table, sizeof(table), "rocpd_memory_allocate%s", reading->suffix);
	if (um_import_has_table(reading->file, table))
		error = um_import_integer(reading->file, &found,
					  "SELECT EXISTS (SELECT 1 FROM \"%s\")", table);
	reading->has_allocations = found;
	return error;
}

/* Reading arguments of each call takes an index, which rocpd has of its own (rocpd_indexes.sql). */
static int prepare_arguments(struct reading *reading)
{
	char table[192];

	snprintf(table, sizeof(table), "rocpd_arg%s", reading->suffix);
	if (!um_import_has_table(reading->file, table))
		return 0;
	return um_import_prepare(reading->file, &reading->arguments,
				 "SELECT name, value FROM \"%s\" WHERE event_id = ?", table);
}

static int read_rows(struct reading *reading)
{
	struct um_import_source sources[] = {
		{"rocpd_memory_allocate", "start", NULL, memory_columns, NULL, put_memory},
		{"rocpd_region", "start", NULL, region_columns, NULL, put_region},
		{"rocpd_kernel_dispatch", "start", NULL, kernel_columns, NULL, put_kernel},
		{"rocpd_memory_copy", "start", NULL, copy_columns, NULL, put_copy},
	};
	char regions[1024], kernels[512];
	const char *suffix = reading->suffix;

	snprintf(
		regions, sizeof(regions),
		"JOIN \"rocpd_string%s\" AS n ON n.id = t.name_id LEFT JOIN \"rocpd_event%s\" AS e "
		"ON e.id = t.event_id LEFT JOIN \"rocpd_string%s\" AS c ON c.id = e.category_id",
		suffix, suffix, suffix);
	snprintf(kernels, sizeof(kernels),
		 "LEFT JOIN \"rocpd_info_kernel_symbol%s\" AS k ON k.id = t.kernel_id", suffix);
	sources[1].joins = regions;
	sources[2].joins = kernels;
	return um_import_merge(reading->file, reading->events, sources, COUNT(sources), suffix,
			       reading);
}

static int recognise(const struct um_import_file *file, const char *head)
{
	int64_t found = 0;
	int error = um_import_integer(
		file, &found,
		"SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND "
		"name GLOB 'rocpd_metadata*') AND EXISTS (SELECT 1 FROM sqlite_master "
		"WHERE type = 'table' AND name GLOB 'rocpd_string*')");

	(void)head;
	return error ? error : found != 0;
}

static int read_file(const struct um_import_file *file, const struct um_import_events *events)
{
	struct reading reading = {.file = file, .events = events};
	int error = find_suffix(&reading);

	if (!error)
		error = put_process(&reading);
	if (!error)
		error = read_agents(&reading);
	if (!error)
		error = find_pairs(&reading);
	if (!error)
		error = find_allocations(&reading);
	if (!error)
		error = prepare_arguments(&reading);
	if (!error)
		error = read_rows(&reading);
	sqlite3_finalize(reading.arguments);
	return error;
}

static const struct um_import_told told[] = {
	{"op.time", "kernels and copies: of the GPU; all else: of the call"},
	{"fault",
	 "of the GPU, as amdkfd tells them: none of one within 2 ms of the last at its place; "
	 "none without --kfd-trace"},
	{"migration", "bytes as amdkfd was asked to move: it tells no other"},
	{"mapping", "unmapped from the GPU"},
	{"driver_event", "queues that stood still"},
	{"copy_traffic", "explicit copies whose memory is known"},
	{NULL, NULL},
};

const struct um_import_format um_import_rocpd = {
	.name = "rocpd",
	.what = "rocpd database",
	.medium = UM_IMPORT_SQLITE,
	.clock = "CLOCK_BOOTTIME",
	.launches_told = true,
	.told = told,
	.recognise = recognise,
	.read = read_file,
};
